"""What the capture model may look at: least privilege, bounded, and blind for secrets."""

import os
from pathlib import Path

import pytest

from memdir.capture.agent_tools import MAX_FILE_BYTES, MAX_MATCHES, Denied, ProjectReader
from tests.helpers.tables import toml_cases as cases

# `S/` at the start of a path stands for the store, `P` for the project.
LINKS = {
    "P/etc": "/etc",
    "P/passwd": "/etc/passwd",
    "P/inner": "P/src",
    "P/up": "P/..",
    "P/notes": "P/.env",
    "S/out.md": "/etc/hosts",
}
FILES = ["P/README.md", "P/.env.example", "P/a b.txt", "S/tests.md", "P-evil/x"]
DENIED = [
    *("/etc/passwd", "../other/x", "src/../../other", "P-evil/x", "P/../P-evil/x", "passwd"),
    *("etc/hosts", "up/x", "S/out.md", "~/.bashrc", "~root/x", "/proc/self/environ", "/dev/stdin"),
    *("/", "..", "README.md\x00.txt", "READ\x1bME.md", "READ\u202eME.md", "READ\nME.md", ""),
    "x" * 5000,
    # secrets
    *(".env", "notes", "sub/.env.production", "prod.env", ".ssh/id_rsa", "id_ed25519", "ID_RSA"),
    *("certs/server.key", "certs/server.PEM", ".aws/credentials", "config/credentials.json"),
    *(".netrc", ".npmrc", ".git/config", "terraform.tfstate", ".ENV", ".SSH/id", "secrets/db.txt"),
    *("Credentials/a.txt", "src/../.env", "./.env"),
]


@pytest.fixture
def reader(tmp_path: Path) -> ProjectReader:
    root = Path(os.path.realpath(tmp_path))
    for file in (*FILES, "P/src/app.py", "P/.env"):
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text\n")
    (root / "P/src/app.py").write_text("def main():\n    return 1\n")
    (root / "P/.env").write_text("KEY = main\n")
    for link, target in LINKS.items():
        os.symlink(root / target, root / link)
    return ProjectReader(str(root / "P"), str(root / "S"))


def whole(path: str, reader: ProjectReader) -> str:
    return str(Path(reader.project).parent / path) if path[:2] in ("P/", "S/", "P-") else path


@cases("capture")
def test_files_of_the_project_and_the_store_may_be_looked_at(reader, path):
    for tool in ("read", "grep", "list"):
        assert isinstance(reader.call(tool, whole(path, reader), pattern="x"), str)


@pytest.mark.parametrize("path", DENIED, ids=repr)
def test_no_tool_leads_out_or_to_secrets(reader, path):
    for tool in ("read", "grep", "list"):
        with pytest.raises(Denied, match=r"\w"):
            reader.call(tool, whole(path, reader), pattern="x")


@pytest.mark.parametrize("tool", ["Read", "READ", "read ", "write", "bash", "exec", "WebFetch", ""])
def test_there_are_no_other_tools(reader, tool):
    with pytest.raises(Denied):
        reader.call(tool, "README.md")


@pytest.mark.parametrize("pattern", ["", "|", "a\nb", "x" * 2000])
def test_a_search_needs_a_plain_pattern(reader, pattern):
    with pytest.raises(Denied):
        reader.call("grep", "src", pattern=pattern)


@pytest.mark.parametrize("project", ["", "/"])
def test_without_a_project_only_the_store_is_seen(reader, project):
    alone = ProjectReader(project, reader.store)
    with pytest.raises(Denied):
        alone.call("read", f"{reader.project}/README.md")
    assert alone.call("read", "tests.md") == "text\n"


def test_a_file_is_read_from_a_line_on(reader):
    assert reader.call("read", "src/app.py") == "def main():\n    return 1\n"
    part = reader.call("read", "src/app.py", start=2, lines=1)
    assert part == "    return 1\n(1 more lines)"


def test_a_search_finds_lines_in_any_case_but_none_of_secrets(reader):
    for name in (".ENV", "Credentials.json", "prod.PEM", ".SSH/id", "secrets/db", "CREDENTIALS/a"):
        path = Path(reader.project, name)
        path.parent.mkdir(exist_ok=True)
        path.write_text("main value\n")
    assert reader.call("grep", ".", pattern="MAIN") == "src/app.py:1:def main():"
    assert reader.call("grep", "src/app.py", pattern="nothing|return") == (
        "src/app.py:2:    return 1"
    )
    assert reader.call("grep", ".", pattern="ma.n") == "(no line fits)"


def test_a_folder_is_listed_without_its_secrets(reader):
    names = reader.call("list", ".").split("\n")
    assert "src/" in names and "README.md" in names
    assert ".env" not in names


def test_a_key_is_not_shown_by_leaving_its_first_line_out(reader):
    body = [f"q{at}W3rTyUiOpAsDfGhJkLzXcVbNm{at}+/q1w2e3r4t5ENDy6" for at in range(10, 18)]
    lines = ["-----BEGIN OPENSSH PRIVATE KEY-----", *body, "-----END OPENSSH PRIVATE KEY-----"]
    Path(reader.project, "deploy.txt").write_text("\n".join(["first", *lines, "last"]))
    part = reader.call("read", "deploy.txt", start=3, lines=20)
    matches = reader.call("grep", ".", pattern="W3rT")
    assert not [line for line in body if line in part + matches]
    assert "[left out" in part and "[left out" in matches and part.endswith("last")


def test_large_files_and_many_matches_are_cut(reader):
    Path(reader.project, "big").write_bytes(b"x" * (MAX_FILE_BYTES * 5))
    Path(reader.project, "many").write_text("found\n" * 5_000)
    Path(reader.project, "binary").write_bytes(b"found\0")
    assert len(reader.call("read", "big")) < MAX_FILE_BYTES + 100
    assert len(reader.call("grep", ".", pattern="found").split("\n")) <= MAX_MATCHES + 1


def test_a_pipe_holds_nobody_up(reader):
    os.mkfifo(Path(reader.project, "pipe"))
    assert reader.call("read", "pipe").startswith("(cannot be read")
    assert reader.call("grep", "pipe", pattern="x") == "(no line fits)"
    assert reader.call("grep", ".", pattern="main") == "src/app.py:1:def main():"


def test_links_are_not_followed_by_a_search(reader, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/x.py").write_text("def main(): planted\n")
    Path(reader.project, "link").symlink_to(tmp_path / "outside")
    Path(reader.project, "file.py").symlink_to(tmp_path / "outside/x.py")
    assert "planted" not in reader.call("grep", ".", pattern="main")

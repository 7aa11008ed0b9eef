"""Import trusts nothing and is all or nothing; export is private, whole and always the same."""

import os
import stat
import zipfile
from pathlib import Path

import pytest

from memdir.clients import archive
from memdir.errors import MemdirError
from tests.helpers.hostile import inputs
from tests.helpers.tables import table
from tests.helpers.terminal import memdir, tree

pytestmark = pytest.mark.usefixtures("project")

MEMORY = b"---\nname: one\ndescription: the first\n---\n\nwords\n"


def packed(path: Path, *entries: tuple[str, bytes], compression: int = zipfile.ZIP_STORED) -> str:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in entries:
            archive.writestr(zipfile.ZipInfo(name) if data == b"" else name, data)
    return str(path)


def refused(source: str, store: Path) -> str:
    """The message; the store is as it was before."""
    before = tree(store)
    answer = memdir("import", source, "--json")
    assert (answer.code, answer.error["code"]) == (1, "bad_input"), answer.text
    assert "nothing was imported" in answer.error["message"] and answer.error["next"]
    assert tree(store) == before
    return answer.error["message"]


@pytest.fixture
def sources(tmp_path):
    entries = [("one.md", MEMORY), ("deep/two.md", b"no header")]
    entries += [("MEMORY.md", b"- [One](one.md)\n"), ("picture.png", b"\x89PNG")]
    wrapped = [(f"export/memory/{name}", data) for name, data in entries]
    for name, data in entries:
        path = tmp_path / "folder" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return {
        "directory": str(tmp_path / "folder"),
        "zip": packed(tmp_path / "a.zip", *entries),
        "wrapped zip": packed(tmp_path / "b.zip", *wrapped, ("export/about.md", b"x")),
    }


@pytest.mark.parametrize("kind", ["directory", "zip", "wrapped zip"])
def test_every_kind_of_source_gives_the_same_memories(kind, sources, store):
    answer = memdir("import", sources[kind], "--json")
    assert answer.code == 0, answer.text
    assert [(f["path"], f["change"]) for f in answer.json["files"]] == [
        ("deep/two.md", "created"),
        ("one.md", "created"),
    ]
    assert "+words" in answer.json["files"][1]["diff"]
    assert (store / "one.md").read_bytes() == MEMORY
    skipped = {finding["path"] for finding in answer.json["skipped"]}
    assert {"MEMORY.md", "picture.png"} <= {path.rpartition("/")[2] for path in skipped}
    assert "one.md" in (store / "MEMORY.md").read_text()
    memdir("undo")
    assert memdir("list", "--json").json["memories"] == []


def test_nothing_is_overwritten(sources, store):
    memdir("import", sources["zip"])
    again = memdir("import", sources["zip"], "--json")
    assert again.code == 0
    assert {f["change"] for f in again.json["files"]} == {"skipped"}
    (store / "one.md").write_bytes(b"mine")
    other = memdir("import", sources["zip"], "--json")
    assert other.code == 1
    assert "another memory" in other.json["files"][1]["reason"]
    assert (store / "one.md").read_bytes() == b"mine"


@pytest.mark.parametrize("place", archive.RECOGNISED)
def test_a_project_stands_for_the_memory_directory_in_it(place, tmp_path, store):
    project = tmp_path / "other"
    (project / place).mkdir(parents=True)
    (project / ".git").mkdir()
    (project / "README.md").write_text("not a memory")
    (project / place / "one.md").write_bytes(MEMORY)
    for source in (project, project / place):
        files = memdir("import", str(source), "--json").json["files"]
        assert [file["path"] for file in files] == ["one.md"]


BAD = table("clients", "bad")


@pytest.mark.parametrize(
    "name",
    [row.values[0].value for row in inputs("path traversal", "import.zip_entry") if row.values[0]]
    + BAD,
)
def test_an_entry_that_leads_out_refuses_the_whole(name, tmp_path, store):
    plain = tmp_path / "a.zip"
    packed(plain, ("fine.md", MEMORY), (name.replace("\0", "~"), b"x"))
    plain.write_bytes(plain.read_bytes().replace(b"x~.md", b"x\0.md"))
    refused(str(plain), store)
    assert not (tmp_path / "x.md").exists()


def test_a_link_in_a_zip_refuses_the_whole(tmp_path, store):
    entry = zipfile.ZipInfo("link.md")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("fine.md", MEMORY)
        archive.writestr(entry, "/etc/passwd")
    assert "a link or a special file" in refused(str(tmp_path / "a.zip"), store)


def test_links_in_a_directory_are_passed_over(tmp_path, store, sources):
    outside = tmp_path / "outside.md"
    outside.write_bytes(b"private")
    Path(sources["directory"], "link.md").symlink_to(outside)
    Path(sources["directory"], "more").symlink_to(tmp_path)
    os.mkfifo(Path(sources["directory"], "pipe.md"))
    answer = memdir("import", sources["directory"], "--json")
    assert answer.code == 0 and len(answer.json["files"]) == 2
    assert {"link.md", "pipe.md"} <= {finding["path"] for finding in answer.json["skipped"]}


def test_bombs_are_refused_by_what_they_really_hold(tmp_path, store, monkeypatch):
    big = b"\0" * (archive.MAX_FILE_BYTES + 1)
    bomb = packed(tmp_path / "a.zip", ("a.md", big), compression=zipfile.ZIP_DEFLATED)
    assert "4,194,304" in refused(bomb, store)
    sizes = len(big).to_bytes(4, "little"), (10).to_bytes(4, "little")
    (tmp_path / "lying.zip").write_bytes(Path(bomb).read_bytes().replace(*sizes))
    refused(str(tmp_path / "lying.zip"), store)
    monkeypatch.setattr(archive, "MAX_TOTAL_BYTES", 1_000_000)
    many = [(f"{n}.md", b"x" * 300_000) for n in range(4)]
    total = packed(tmp_path / "b.zip", *many, compression=zipfile.ZIP_DEFLATED)
    assert "1,000,000" in refused(total, store)
    monkeypatch.setattr(archive, "MAX_ENTRIES", 100)
    crowd = packed(tmp_path / "c.zip", *[(f"{n}.txt", b"x") for n in range(101)])
    assert "more than 100 entries" in refused(crowd, store)


@pytest.mark.parametrize("data", [b"", b"PK", b"PK\x05\x06", b"\x1f\x8b", b"rubbish" * 500])
def test_what_is_no_archive_is_refused(data, tmp_path, store):
    (tmp_path / "odd.zip").write_bytes(data)
    refused(str(tmp_path / "odd.zip"), store)


def test_a_damaged_archive_is_refused(tmp_path, store):
    whole = Path(packed(tmp_path / "a.zip", ("one.md", MEMORY), ("two.md", MEMORY * 9)))
    damaged = bytearray(whole.read_bytes())
    damaged[whole.read_bytes().index(b"words")] ^= 1
    whole.write_bytes(damaged)
    refused(str(whole), store)


@pytest.mark.parametrize("text", ["# Notes\n\nThe API is at x.test.\n", "- Use uv\n- Use tabs\n"])
def test_an_index_that_is_the_only_memory_is_taken_over(text, tmp_path, store):
    folder = tmp_path / "alone"
    folder.mkdir()
    (folder / "MEMORY.md").write_text(text)
    target = str(tmp_path / "alone.zip")
    assert memdir("export", "--dir", str(folder), "--output", target).code == 0
    for source in (str(folder), target):
        answer = memdir("import", source, "--json")
        assert (answer.code, answer.json["files"][0]["path"]) == (0, "notes.md")
    assert (store / "notes.md").read_text() == text
    assert "notes.md" in (store / "MEMORY.md").read_text()


@pytest.mark.parametrize("link", [".agents", ".agents/memory", "memory", "docs"])
def test_a_link_in_a_project_does_not_bring_files_from_elsewhere(link, tmp_path, store):
    target = tmp_path / "elsewhere"
    (target / "memory").mkdir(parents=True)
    (target / "one.md").write_bytes(MEMORY)
    (tmp_path / "other/.git").mkdir(parents=True)
    (tmp_path / "other" / link).parent.mkdir(exist_ok=True)
    (tmp_path / "other" / link).symlink_to(target)
    assert "behind a symbolic link" in refused(str(tmp_path / "other"), store)
    (tmp_path / "mine").symlink_to(tmp_path / "other")  # on the way there, the link is ours
    assert "behind a symbolic link" in refused(str(tmp_path / "mine"), store)


def test_a_name_that_differs_only_in_case_is_not_put_beside_the_other(tmp_path, store):
    memdir("remember", "Use uv, always.", "--name", "foo")
    source = packed(tmp_path / "a.zip", ("FOO.md", MEMORY), ("bar.md", MEMORY))
    answer = memdir("import", source, "--json")
    assert answer.code == 1
    changes = {file["path"]: file["change"] for file in answer.json["files"]}
    assert changes == {"FOO.md": "skipped", "bar.md": "created"}
    assert "take 'FOO.md' for 'foo.md'" in answer.json["reason"]
    assert not (store / "FOO.md").exists()


def test_a_secret_does_not_come_into_a_shared_scope(tmp_path, project):
    begin, end = b"-----BEGIN RSA PRIVATE " + b"KEY-----\n", b"\n-----END RSA PRIVATE KEY-----\n"
    key = begin + b"MIIEow" * 12 + end
    source = packed(tmp_path / "a.zip", ("one.md", MEMORY), ("key.md", key))
    answer = memdir("import", source, "--scope", "local", "--json")
    assert answer.code == 1 and "MIIEow" not in answer.text
    assert {f["path"]: f["change"] for f in answer.json["files"]} == {
        "key.md": "skipped",
        "one.md": "created",
    }


# -- export ----------------------------------------------------------------------------------


@pytest.fixture
def filled(sources, store):
    memdir("import", sources["zip"])
    return store


def test_an_export_is_private_complete_and_the_same_each_time(filled, tmp_path):
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    assert memdir("export", "--output", str(first)).code == 0
    os.utime(filled / "one.md", (0, 0))
    answer = memdir("export", "--output", str(second), "--json")
    assert [file["path"] for file in answer.json["files"]] == ["MEMORY.md", "deep/two.md", "one.md"]
    assert first.read_bytes() == second.read_bytes()
    assert oct(first.stat().st_mode)[-3:] == "600"
    with zipfile.ZipFile(first) as archive:
        assert archive.read("one.md") == MEMORY


def test_an_export_replaces_nothing_without_force(filled, project):
    path, target = project / "there.zip", "there.zip"
    path.write_text("precious")
    answer = memdir("export", "--output", target, "--json")
    assert (answer.code, answer.error["code"]) == (1, "bad_input")
    assert path.read_text() == "precious"
    assert memdir("export", "--output", target, "--force").code == 0
    assert path.read_bytes() != b"precious"
    assert not list(project.rglob(".memdir-*"))


def test_an_export_does_not_follow_a_link(filled, project, tmp_path):
    (tmp_path / "victim").write_text("precious")
    (project / "out.zip").symlink_to(tmp_path / "victim")
    assert memdir("export", "--output", "out.zip").code == 1
    assert memdir("export", "--output", "out.zip", "--force").code == 0
    assert (tmp_path / "victim").read_text() == "precious"


def test_an_export_into_the_store_is_refused(filled):
    for target in (filled / "out.zip", filled / "deep/out", filled):
        answer = memdir("export", "--output", str(target), "--json")
        assert (answer.code, answer.error["code"]) == (1, "bad_input")


def test_a_file_that_appears_during_an_export_is_not_replaced(tmp_path, monkeypatch):
    target = tmp_path / "exports/out.zip"
    target.parent.mkdir()
    monkeypatch.setattr(archive, "check_export_target", lambda *given: target.write_text("theirs"))
    with pytest.raises(MemdirError, match="export cannot be written"):
        archive.write_export(str(target), [("a.md", b"a")], force=False)
    assert target.read_text() == "theirs" and os.listdir(target.parent) == ["out.zip"]

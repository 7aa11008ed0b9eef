"""Least privilege: each call an agent might try is allowed or denied as the table says."""

import os
from pathlib import Path

import pytest

from memdir.capture.agent_tools import TOOLS, Allowed, Denied, Places, decide

# A project `P` with a store `S` beside it; links as below. A row is a tool and its input: one
# text is the input's only value.
LINKS = {
    "P/etc": "/etc",
    "P/passwd": "/etc/passwd",
    "P/inner": "P/src",
    "P/up": "P/..",
    "P/notes": "P/.env",
    "S/out.md": "/etc/hosts",
    "S/way": "P/src",
}
FILES = ["P/src/app.py", "P/README.md", "P/.env", "P/.env.example", "P/a b.txt", "S/tests.md"]
ONLY = {"Read": "file_path", "Grep": "pattern", "Glob": "pattern", "Bash": "command"}

ALLOWED = [
    ("Read", "P/src/app.py"),
    ("Read", "src/app.py"),
    ("Read", "src/../README.md"),
    ("Read", "./README.md"),
    ("Read", "inner/app.py"),
    ("Read", "S/tests.md"),
    ("Read", "P/not-there.py"),
    ("Read", ".env.example"),
    ("Read", "a b.txt"),
    ("Read", {"file_path": "README.md", "offset": 5, "limit": 10}),
    ("Read", {"path": "README.md"}),
    ("Grep", "def main"),
    ("Grep", {"pattern": "x", "path": "src"}),
    ("Grep", {"pattern": "; rm -rf /", "path": "S"}),
    ("Grep", {"pattern": "$(id) `id`"}),
    ("Grep", {"pattern": "-f/etc/passwd"}),
    ("Grep", {"pattern": "x", "glob": "**/*.py", "-i": True}),
    ("Glob", "**/*.py"),
    ("Glob", {"pattern": "*.md", "path": "S"}),
    ("Glob", "P/src/*.py"),
    ("Bash", "ls"),
    ("Bash", "ls -la src"),
    ("Bash", "ls 'a b.txt'"),
    ("Bash", "ls S"),
    ("Bash", "cat README.md"),
    ("Bash", "cat -n src/app.py README.md"),
    ("Bash", "cat -- README.md"),
    ("Bash", "head -n 5 README.md"),
    ("Bash", "head -20 README.md"),
    ("Bash", "tail -n +3 README.md"),
    ("Bash", "tail -5 README.md"),
    ("Bash", "wc -l src/app.py"),
    ("Bash", "stat -c '%s %n' README.md"),
    ("Bash", "grep -rn main src"),
    ("Bash", "grep -rn 'a;b|c$' src"),
    ("Bash", 'grep -e "main(" src/app.py'),
    ("Bash", "grep -rnA3 main src"),
    ("Bash", "grep --include='*.py' -r main"),
    ("Bash", "grep -- -f src/app.py"),
    ("Bash", "find . -name '*.py'"),
    ("Bash", "find src -type f -mtime -7"),
    ("Bash", "find -newermt 2026-01-01"),
    ("Bash", "find . -newer README.md -size +1k"),
    ("Bash", "find . -newerma src/app.py"),
    ("Bash", "find . '(' -name a -o -name b ')' -print"),
    ("Bash", {"command": "ls", "description": "look", "timeout": 5}),
    ("Write", {"file_path": "S/new.md", "content": "x"}),
    ("Write", {"file_path": "S/tests.md", "content": "; rm -rf /"}),
    ("Write", {"file_path": "S/sub/../new.md", "content": "x"}),
    ("Edit", {"file_path": "S/tests.md", "old_string": "a", "new_string": "b"}),
]

DENIED = [
    # other tools
    ("WebFetch", {"url": "http://127.0.0.1/"}),
    ("WebSearch", {"query": "x"}),
    ("Task", {"prompt": "do it for me"}),
    ("Agent", {"prompt": "x"}),
    ("NotebookEdit", {"file_path": "S/x.md"}),
    ("MultiEdit", {"file_path": "S/tests.md"}),
    ("KillShell", {}),
    ("mcp__shell__run", {"command": "ls"}),
    ("mcp__memdir__remember", {}),
    ("read", "README.md"),
    ("READ", "README.md"),
    ("Read ", "README.md"),
    ("", {}),
    ("exec", {"command": "ls"}),
    # paths
    ("Read", "/etc/passwd"),
    ("Read", "../other/x"),
    ("Read", "src/../../other"),
    ("Read", "P-evil/x"),
    ("Read", "P/../P-evil/x"),
    ("Read", "passwd"),
    ("Read", "etc/hosts"),
    ("Read", "up/secret"),
    ("Read", "S/out.md"),
    ("Read", "~/.bashrc"),
    ("Read", "~root/.bashrc"),
    ("Read", "/proc/self/environ"),
    ("Read", "/dev/stdin"),
    ("Read", "file:///etc/passwd/../../../../../../../../etc/passwd"),
    ("Read", "README.md\x00.txt"),
    ("Read", "READ\x1bME.md"),
    ("Read", "READ\u202eME.md"),
    ("Read", "READ\nME.md"),
    ("Read", ""),
    ("Read", {}),
    ("Read", {"file_path": 7}),
    ("Read", {"file_path": ["README.md"]}),
    ("Read", "x" * 5000),
    # secrets
    ("Read", ".env"),
    ("Read", "notes"),
    ("Read", "sub/.env.production"),
    ("Read", "prod.env"),
    ("Read", ".ssh/id_rsa"),
    ("Read", "id_ed25519"),
    ("Read", "ID_RSA"),
    ("Read", "certs/server.key"),
    ("Read", "certs/server.PEM"),
    ("Read", ".aws/credentials"),
    ("Read", "config/credentials.json"),
    ("Read", ".netrc"),
    ("Read", ".npmrc"),
    ("Read", ".git/config"),
    ("Read", "terraform.tfstate"),
    ("Read", ".ENV"),
    ("Read", ".SSH/id"),
    ("Read", "secrets/db.txt"),
    ("Read", "Credentials/a.txt"),
    ("Bash", "ls secrets"),
    ("Bash", "cat .env"),
    ("Bash", "cat ./.env"),
    ("Bash", "grep KEY .env"),
    ("Bash", "head .git/config"),
    ("Bash", "cat src/../.env"),
    ("Bash", "cat notes"),
    ("Grep", {"pattern": "KEY", "path": ".env"}),
    # searches that lead out
    ("Grep", {"pattern": "root", "path": "/etc"}),
    ("Grep", {"pattern": "root", "path": "etc"}),
    ("Grep", {"pattern": "root", "path": ".."}),
    ("Grep", {"pattern": ""}),
    ("Grep", {"path": "src"}),
    ("Grep", {"pattern": "a\nb"}),
    ("Grep", {"pattern": "x" * 501}),
    ("Grep", {"pattern": "x", "glob": "*.py\n--file=/etc/passwd"}),
    ("Glob", "/etc/*"),
    ("Glob", "../*"),
    ("Glob", "src/../../*"),
    ("Glob", "~/*"),
    ("Glob", {"pattern": "*", "path": "/"}),
    ("Glob", {"pattern": "*", "path": "up"}),
    # commands that are more than a look
    ("Bash", "rm README.md"),
    ("Bash", "touch x"),
    ("Bash", "bash -c ls"),
    ("Bash", "sh x.sh"),
    ("Bash", "python3 -c 1"),
    ("Bash", "git log"),
    ("Bash", "curl http://127.0.0.1"),
    ("Bash", "env"),
    ("Bash", "sed -n 1p README.md"),
    ("Bash", "awk 1 README.md"),
    ("Bash", "xargs cat"),
    ("Bash", "tee x"),
    ("Bash", "/bin/ls"),
    ("Bash", "./ls"),
    ("Bash", "FOO=1 ls"),
    ("Bash", "sudo ls"),
    ("Bash", "echo x"),
    ("Bash", "cd /etc"),
    # what a shell would make of it
    ("Bash", "ls; rm x"),
    ("Bash", "ls && rm x"),
    ("Bash", "ls || rm x"),
    ("Bash", "ls & rm x"),
    ("Bash", "cat README.md | sh"),
    ("Bash", "cat README.md > x"),
    ("Bash", "cat README.md >> x"),
    ("Bash", "cat < /etc/passwd"),
    ("Bash", "cat <<< x"),
    ("Bash", "cat <(id)"),
    ("Bash", "ls 2>&1"),
    ("Bash", "ls $(id)"),
    ("Bash", "ls `id`"),
    ("Bash", "ls ${HOME}"),
    ("Bash", "ls $HOME"),
    ("Bash", 'ls "$(id)"'),
    ("Bash", 'ls "`id`"'),
    ("Bash", 'cat "$HOME/.bashrc"'),
    ("Bash", "ls\nrm x"),
    ("Bash", "ls\r\nrm x"),
    ("Bash", "ls \\\n; rm x"),
    ("Bash", "cat README\\.md"),
    ("Bash", "ls ~"),
    ("Bash", "cat ~/.bashrc"),
    ("Bash", "cat *"),
    ("Bash", "cat /etc/*"),
    ("Bash", "cat ?EADME.md"),
    ("Bash", "cat {a,b}"),
    ("Bash", "(ls)"),
    ("Bash", "! ls"),
    ("Bash", "ls # rm"),
    ("Bash", "ls 'x"),
    ("Bash", 'ls "x'),
    ("Bash", "ls\x00rm"),
    ("Bash", "ls \u202e"),
    ("Bash", ""),
    ("Bash", "   "),
    ("Bash", {}),
    ("Bash", {"command": ["ls"]}),
    ("Bash", {"command": "ls", "run_in_background": True}),
    ("Bash", "ls " + "a" * 2000),
    # paths of commands
    ("Bash", "ls /"),
    ("Bash", "ls /etc"),
    ("Bash", "ls .."),
    ("Bash", "ls etc"),
    ("Bash", "ls up"),
    ("Bash", "cat passwd"),
    ("Bash", "cat /proc/self/environ"),
    ("Bash", "cat -"),
    ("Bash", "cat"),
    ("Bash", "stat /etc/shadow"),
    ("Bash", "wc -c /etc/shadow"),
    ("Bash", "head /etc/passwd"),
    ("Bash", "tail ../x"),
    ("Bash", "grep root /etc/passwd"),
    ("Bash", "grep -r root .."),
    ("Bash", "cat -- /etc/passwd"),
    # options that follow, wait, run, write, or read names from a file
    ("Bash", "tail -f README.md"),
    ("Bash", "tail -F README.md"),
    ("Bash", "tail --follow README.md"),
    ("Bash", "tail --pid=1 README.md"),
    ("Bash", "ls -L src"),
    ("Bash", "grep -R x src"),
    # pieces of a line, which no longer look like the secret that they are of
    ("Bash", "grep -o x README.md"),
    ("Bash", "grep -rno x src"),
    ("Bash", "grep --only-matching x README.md"),
    ("Bash", "head -c 20 README.md"),
    ("Bash", "tail --bytes=20 README.md"),
    ("Bash", "grep --dereference-recursive x src"),
    ("Bash", "grep -f /etc/passwd README.md"),
    ("Bash", "grep -f/etc/passwd README.md"),
    ("Bash", "grep -rf /etc/passwd README.md"),
    ("Bash", "grep --file=/etc/passwd README.md"),
    ("Bash", "grep --fil=/etc/passwd README.md"),
    ("Bash", "grep x README.md -f /etc/passwd"),
    ("Bash", "grep --exclude-from=/etc/passwd x src"),
    ("Bash", "grep"),
    ("Bash", "wc --files0-from=/etc/passwd"),
    ("Bash", "wc --files0-from /etc/passwd"),
    ("Bash", "find . -files0-from /etc/passwd"),
    ("Bash", "find . -exec rm x +"),
    ("Bash", "find . -execdir id +"),
    ("Bash", "find . -ok rm x"),
    ("Bash", "find . -okdir rm x"),
    ("Bash", "find . -delete"),
    ("Bash", "find . -fprint x"),
    ("Bash", "find . -fprint0 x"),
    ("Bash", "find . -fprintf x y"),
    ("Bash", "find . -fls x"),
    ("Bash", "find . -follow"),
    ("Bash", "find -L ."),
    ("Bash", "find -H ."),
    ("Bash", "find / -name x"),
    ("Bash", "find . /etc -name x"),
    ("Bash", "find etc -name x"),
    ("Bash", "find . -newer /etc/passwd"),
    ("Bash", "find . -samefile /etc/passwd"),
    ("Bash", "find . -neweram /etc/passwd"),
    ("Bash", "find . -name"),
    ("Bash", "find . -maxdepth x"),
    ("Bash", "head -n x README.md"),
    ("Bash", "stat --file-system README.md"),
    # writes that are no drafts of memories
    ("Write", {"file_path": "P/src/app.py", "content": "x"}),
    ("Write", {"file_path": "P/new.md", "content": "x"}),
    ("Write", {"file_path": "README.md", "content": "x"}),
    ("Write", {"file_path": "/tmp/x.md", "content": "x"}),
    ("Write", {"file_path": "S/../x.md", "content": "x"}),
    ("Write", {"file_path": "S/out.md", "content": "x"}),
    ("Write", {"file_path": "S/way/app.md", "content": "x"}),
    ("Write", {"file_path": "S/MEMORY.md", "content": "x"}),
    ("Write", {"file_path": "S/README.md", "content": "x"}),
    ("Write", {"file_path": "S/team/x.md", "content": "x"}),
    ("Write", {"file_path": "S/x.sh", "content": "x"}),
    ("Write", {"file_path": "S/.hidden.md", "content": "x"}),
    ("Write", {"file_path": "S/UPPER.md", "content": "x"}),
    ("Write", {"file_path": "S/a\x1bb.md", "content": "x"}),
    ("Write", {"file_path": "S", "content": "x"}),
    ("Write", {"file_path": "S/x.md"}),
    ("Write", {"file_path": "S/x.md", "content": 7}),
    ("Edit", {"file_path": "S/tests.md", "new_string": "x"}),
    ("Edit", {"file_path": "P/CLAUDE.md", "old_string": "a", "new_string": "b"}),
]


def at(text: str, root: Path) -> str:
    """`P` and `S` at the start of a word stand for the two directories."""
    for letter, name in (("P", "project"), ("S", "store")):
        place = str(root / name)
        for end in ("/", "-evil"):
            text = text.replace(f" {letter}{end}", f" {place}{end}")
            text = place + text[1:] if text.startswith(letter + end) else text
        text = place if text == letter else text
        text = text[: -len(letter)] + place if text.endswith(f" {letter}") else text
    return text


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = Path(os.path.realpath(tmp_path_factory.mktemp("places")))
    for file in FILES:
        path = Path(at(file, root))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text\n")
    (root / "project-evil").mkdir()
    for link, target in LINKS.items():
        os.symlink(at(target, root), at(link, root))
    return root


def decided(root: Path, tool: str, given: str | dict) -> Allowed | Denied:
    values = given if isinstance(given, dict) else {ONLY.get(tool, "file_path"): given}
    values = {key: at(one, root) if isinstance(one, str) else one for key, one in values.items()}
    places = Places(str(root / "project"), str(root / "store"))
    return decide(tool, values, places, os.path.realpath)


@pytest.mark.parametrize(("tool", "given"), ALLOWED, ids=repr)
def test_what_only_looks_or_drafts_is_allowed(root, tool, given):
    assert isinstance(decided(root, tool, given), Allowed), decided(root, tool, given)


@pytest.mark.parametrize(("tool", "given"), DENIED, ids=repr)
def test_everything_else_is_denied_with_a_reason(root, tool, given):
    decision = decided(root, tool, given)
    assert isinstance(decision, Denied), decision
    assert decision.reason


def test_the_table_is_long_enough_and_says_nothing_twice():
    rows = [repr(row) for row in (*ALLOWED, *DENIED)]
    assert len(rows) == len({*rows})
    assert len(rows) >= 120
    assert {tool for tool, _ in ALLOWED} == {*TOOLS}


def test_a_command_is_given_its_paths_as_no_options(root):
    allowed = decided(root, "Bash", "grep -rnA3 main src -i")
    assert allowed.words[:6] == ("grep", "-A", "3", "-r", "-n", "-i")
    assert allowed.words[allowed.words.index("--") :] == ("--", "./src")
    assert "--exclude=.[eE][nN][vV]" in allowed.words


@pytest.mark.parametrize("project", ["", "/"])
def test_without_a_project_only_the_store_is_seen(root, project):
    places = Places(project, str(root / "store"))
    outside = decide("Read", {"file_path": str(root / "project/README.md")}, places, str)
    assert isinstance(outside, Denied)
    assert isinstance(decide("Read", {"file_path": "tests.md"}, places, str), Allowed)


def test_a_store_inside_of_the_project_is_still_the_only_place_to_write(root):
    places = Places(str(root), str(root / "store"))
    inside = {"file_path": str(root / "store/x.md"), "content": "x"}
    beside = {"file_path": str(root / "x.md"), "content": "x"}
    assert isinstance(decide("Write", inside, places, str), Allowed)
    assert isinstance(decide("Write", beside, places, str), Denied)


def test_a_file_of_the_project_is_no_memory_however_long_the_store_s_path_is():
    given = {"file_path": "/p/abcdefghijk.md", "content": "x"}
    assert isinstance(decide("Write", given, Places("/p", "/store"), str), Denied)

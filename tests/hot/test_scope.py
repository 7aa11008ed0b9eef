"""Names, roots, scopes and the enablement chain, by the rules of the spec's section "Where"."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.hot.place import (
    AGENT_FOLDER_BYTES,
    GIT_FILE_BYTES,
    agent_folder,
    enabled,
    git_root,
    override_problem,
    project_name,
)
from tests.helpers.tables import cases, rows


# The expected side was computed by node with the client's own rule.
@cases("root", "name")
def test_a_project_has_the_name_that_the_client_gives_it(root, name):
    assert project_name(root) == name


MAIN = {"/main/.git": True}
LINKED = {
    **MAIN,
    "/wt/.git": b"gitdir: /main/.git/worktrees/wt\n",
    "/main/.git/worktrees/wt/commondir": b"../..\n",
    "/main/.git/worktrees/wt/gitdir": b"/wt/.git\n",
}
RELATIVE = {
    **LINKED,
    "/wt/.git": b"gitdir: ../main/.git/worktrees/wt\n",
    "/main/.git/worktrees/wt/gitdir": b"../../../../wt/.git\n",
}
BARE = dict(rows(globals(), "BARE"))
CRLF = {
    path: content if content is True else content.replace(b"\n", b"\r\n")
    for path, content in LINKED.items()
}
ROOTS = rows(globals(), "ROOTS")
FORGED = [
    ("it does not point back", {"/main/.git/worktrees/wt/gitdir": b"/other/.git\n"}),
    ("it points to a neighbour", {"/main/.git/worktrees/wt/gitdir": b"/wt2/.git\n"}),
    ("it points below", {"/main/.git/worktrees/wt/gitdir": b"/wt/x/.git\n"}),
    ("it points to a file that is not .git", {"/main/.git/worktrees/wt/gitdir": b"/wt/git\n"}),
    ("no way back", {"/main/.git/worktrees/wt/gitdir": None}),
    ("the common directory is elsewhere", {"/main/.git/worktrees/wt/commondir": b"/victim/.git"}),
    ("it points to itself", {"/wt/.git": b"gitdir: /wt/.git\n"}),
    ("a loop", {"/main/.git/worktrees/wt/commondir": b"."}),
    ("no gitdir line", {"/wt/.git": b"hello"}),
    ("empty", {"/wt/.git": b""}),
    ("an empty path", {"/wt/.git": b"gitdir: \n"}),
    ("a NUL", {"/wt/.git": b"gitdir: /main/.git/worktrees/wt\0\n"}),
    ("no UTF-8", {"/wt/.git": b"gitdir: \xff\xfe"}),
    ("two lines", {"/wt/.git": b"gitdir: /main/.git/worktrees/wt\nx\n"}),
    ("huge", {"/wt/.git": b"gitdir: /main/.git/worktrees/wt" + b"\n" * GIT_FILE_BYTES}),
    ("a directory for a file", {"/main/.git/worktrees/wt/commondir": True}),
]


@pytest.mark.parametrize(
    ("files", "start", "root"), [row[1:] for row in ROOTS], ids=[r[0] for r in ROOTS]
)
def test_all_worktrees_and_subdirectories_share_one_root(files, start, root):
    assert git_root(start, files.get) == root


@pytest.mark.parametrize("change", [row[1] for row in FORGED], ids=[row[0] for row in FORGED])
def test_a_forged_git_file_only_names_its_own_directory(change):
    assert git_root("/wt/sub", {**LINKED, **change}.get) == "/wt"


def test_a_worktree_planted_in_the_own_folder_cannot_name_a_victim():
    files = {
        "/evil/.git": b"gitdir: fake/worktrees/x",
        "/evil/fake/worktrees/x/commondir": b"/victim/.git",
        "/evil/fake/worktrees/x/gitdir": b"/evil/.git",
        "/victim/.git": True,
    }
    assert git_root("/evil", files.get) == "/evil"


@given(st.binary(max_size=60), st.binary(max_size=30), st.binary(max_size=30))
def test_whatever_the_files_say_the_root_is_a_path(dot_git, common, back):
    found = {".git": dot_git, "commondir": common, "gitdir": back}
    root = git_root("/a/b", lambda path: found.get(path.rpartition("/")[2]))
    assert root.startswith("/")


@cases("path", "reason")
def test_an_override_that_cannot_hold_memories_is_refused(path, reason):
    assert reason in override_problem(path, tilde=True)


@cases("name", "folder")
def test_an_agent_gets_one_harmless_folder(name, folder):
    assert agent_folder(name) == folder


@given(st.text(st.characters() | st.sampled_from("./\\: \0")))
def test_no_name_of_an_agent_leaves_its_folder(name):
    folder = agent_folder(name)
    assert folder not in ("", ".", "..")
    assert not folder.startswith(".")
    assert not set(folder) & set("/\\:\0\n")
    assert len(folder.encode()) <= AGENT_FOLDER_BYTES
    assert agent_folder(folder) == folder


OFF, ON = ("user setting", False), ("user setting", True)
DISABLE, SIMPLE = "CLAUDE_CODE_DISABLE_AUTO_MEMORY", "CLAUDE_CODE_SIMPLE"
REMOTE, STORAGE = "CLAUDE_CODE_REMOTE", "CLAUDE_CODE_REMOTE_MEMORY_DIR"
CHAIN = [
    ({}, [], True, "default"),
    *(({DISABLE: word}, [ON], False, DISABLE) for word in ("1", "true", "YES", " on ")),
    *(({DISABLE: word, SIMPLE: "1"}, [OFF], True, DISABLE) for word in ("0", "False", "no", "off")),
    ({DISABLE: ""}, [OFF], False, "user setting"),
    ({DISABLE: "maybe"}, [], True, "default"),
    ({DISABLE: "maybe", SIMPLE: "1"}, [ON], False, SIMPLE),
    ({SIMPLE: "true"}, [ON], False, SIMPLE),
    ({SIMPLE: "0"}, [], True, "default"),
    ({REMOTE: "1"}, [ON], False, REMOTE),
    ({REMOTE: "1", STORAGE: ""}, [ON], False, REMOTE),
    ({REMOTE: "1", STORAGE: "/mnt/memory"}, [], True, "default"),
    ({REMOTE: "1", STORAGE: "/mnt/memory"}, [OFF], False, "user setting"),
    ({STORAGE: "/mnt/memory"}, [], True, "default"),
    ({}, [OFF], False, "user setting"),
    ({}, [ON, OFF], True, "user setting"),
    ({}, [("managed setting", False), ON], False, "managed setting"),
]


@pytest.mark.parametrize(("env", "settings", "on", "by"), CHAIN)
def test_the_first_step_that_decides_names_itself(env, settings, on, by):
    decision, step = enabled(env, settings)
    assert decision is on
    assert by in step

"""Names, roots, scopes and the enablement chain, by the rules of the spec's section "Where"."""

from hypothesis import given
from hypothesis import strategies as st

from memdir.config import scope
from memdir.hot.place import git_root
from tests.helpers.tables import cases


# The expected side was computed by node with the client's own rule.
@cases("root", "name")
def test_a_project_has_the_name_that_the_client_gives_it(root, name):
    assert scope.project_scope_name(root) == name


MAIN = {"/main/.git": True}
LINKED = {
    **MAIN,
    "/wt/.git": b"gitdir: /main/.git/worktrees/wt\n",
    "/main/.git/worktrees/wt/commondir": b"../..\n",
    "/main/.git/worktrees/wt/gitdir": b"/wt/.git\n",
}


@cases("change", ids=str)
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


@cases("path", "reason")
def test_an_override_that_cannot_hold_memories_is_refused(path, reason):
    assert reason in scope.setting_override_problem(path, tilde=True)


@cases("name", "folder")
def test_an_agent_gets_one_harmless_folder(name, folder):
    assert scope.agent_scope_folder(name) == folder


@given(st.text(st.characters() | st.sampled_from("./\\: \0")))
def test_no_name_of_an_agent_leaves_its_folder(name):
    folder = scope.agent_scope_folder(name)
    assert folder not in ("", ".", "..")
    assert not folder.startswith(".")
    assert not set(folder) & set("/\\:\0\n")
    assert len(folder.encode()) <= scope.AGENT_FOLDER_BYTES
    assert scope.agent_scope_folder(folder) == folder


OFF, ON = ("user setting", False), ("user setting", True)
DISABLE, SIMPLE = "CLAUDE_CODE_DISABLE_AUTO_MEMORY", "CLAUDE_CODE_SIMPLE"
REMOTE, STORAGE = "CLAUDE_CODE_REMOTE", "CLAUDE_CODE_REMOTE_MEMORY_DIR"


@cases("env", "settings", "on", "by")
def test_the_first_step_that_decides_names_itself(env, settings, on, by):
    decision, step = scope.is_memory_enabled(env, settings)
    assert decision is on
    assert by in step

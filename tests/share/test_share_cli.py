"""share on the command line: the diff, the refusals, what git leaves out, and where it all goes."""

import pytest

from tests.helpers.repositories import Checkout
from tests.helpers.terminal import memdir, process, tree

pytestmark = pytest.mark.usefixtures("project")

TOKEN = "ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"


@pytest.fixture(autouse=True)
def saved(project) -> None:
    memdir("remember", "No merges in March.", "--name", "freeze", "--type", "project")
    memdir("remember", "Ann reads diffs on a phone.", "--name", "ann", "--type", "user")


@pytest.fixture
def checkout(project) -> Checkout:
    """The project as a real repository."""
    (project / ".git").rmdir()
    return Checkout(project)


def test_the_answer_has_the_diff_and_both_places(store):
    answer = memdir("share", "freeze", "--json")
    assert answer.code == 0
    told = answer.json
    assert (told["change"], told["name"], told["path"]) == ("created", "freeze", "freeze.md")
    assert (told["from"], told["to"], told["moved"]) == ("project", "team", [])
    assert told["store"] == str(store / "team")
    assert "+++ b/team/freeze.md" in told["diff"] and "+No merges in March." in told["diff"]
    assert "+- [Freeze](freeze.md) — No merges in March." in told["diff"]


def test_a_person_sees_the_diff_first_and_how_to_take_it_back():
    answer = memdir("share", "freeze")
    lines = answer.text.splitlines()
    assert lines[0] == "--- /dev/null" and lines.index("created freeze.md") > 5
    assert "take it back: memdir undo --scope team" in answer.text
    assert "memdir retire freeze" in answer.text
    assert memdir("undo", "--scope", "team").code == 0
    assert memdir("show", "freeze", "--scope", "team").code == 1
    assert memdir("show", "freeze").code == 0


def test_a_dry_run_shows_the_diff_once_and_writes_nothing(store):
    before = tree(store)
    answer = memdir("share", "freeze", "--move", "--dry-run")
    assert answer.code == 0 and tree(store) == before
    assert answer.text.count("+No merges in March.") == 1
    assert "would be created freeze.md" in answer.text and "would go to the trash" in answer.text
    assert answer.text.endswith("\ndry run: nothing was written\n")


def test_to_local_lands_in_the_checkout_for_a_commit(checkout, store):
    answer = memdir("share", "freeze", "--to", "local", "--move", "--json")
    assert (answer.json["to"], answer.json["moved"]) == ("local", ["freeze.md"])
    assert (checkout.folder / ".claude/memory/freeze.md").exists()
    assert not (store / "freeze.md").exists()
    assert answer.json["remarks"] == []
    assert "?? .claude/" in checkout.git("status", "--porcelain")


def test_what_another_clone_gets_is_what_was_shared(checkout, tmp_path, monkeypatch):
    memdir("share", "freeze", "--to", "local")
    checkout.commit()
    checkout.git("clone", "-q", ".", str(tmp_path / "clone"))
    monkeypatch.chdir(tmp_path / "clone")
    assert memdir("list", "--scope", "local", "--json").json["memories"][0]["name"] == "freeze"
    assert (
        "No merges in March." in memdir("recall", "may I merge in March?", "--scope", "local").text
    )


@pytest.mark.parametrize("line", [".claude/", "*.md", "freeze.md", "MEMORY.md"])
@pytest.mark.parametrize("how", ["share", "remember"])
def test_it_says_when_git_leaves_it_out(how, line, checkout):
    checkout.commit({".gitignore": line + "\n"})
    words = {
        "share": ("freeze", "--to", "local"),
        "remember": (
            "No merges in May.",
            "--name",
            "freeze",
            "--scope",
            "local",
            "--type",
            "project",
        ),
    }
    answer = memdir(how, *words[how], "--json")
    assert answer.json["change"] == "created"
    (said,) = [text for text in answer.json["remarks"] if text.startswith("git ignores")]
    assert line.replace("*", "freeze").replace(".claude/", "freeze.md") in said
    assert "git check-ignore -v" in said


def test_nothing_is_said_where_git_takes_it_all(checkout):
    checkout.commit({".gitignore": "build/\n"})
    for scope in ("local", "project", "user"):
        words = (
            "Tags are signed.",
            "--name",
            "tags",
            "--type",
            "project",
            "--why",
            "w",
            "--how",
            "h",
        )
        assert memdir("remember", *words, "--scope", scope, "--json").json["remarks"] == []


def test_without_git_it_says_that_nobody_gets_it(project, monkeypatch):
    (project / ".git").rmdir()
    answer = memdir("share", "freeze", "--to", "local", "--json")
    assert answer.json["remarks"] == ["there is no git repository here, so nobody else gets it"]


def test_a_conflict_shows_both_and_what_to_do():
    memdir("share", "freeze")
    memdir("edit", "freeze", "--description", "ours is newer")
    memdir("edit", "freeze", "--description", "theirs is newer", "--scope", "team")
    answer = memdir("share", "freeze", "--json")
    assert (answer.code, answer.error["code"]) == (1, "conflict")
    assert "ours is newer" in answer.error["ours"] and "theirs is newer" in answer.error["theirs"]
    assert "memdir retire --scope team freeze" in answer.error["next"]
    shown = memdir("share", "freeze").stderr
    assert "-description: theirs is newer" in shown and "+description: ours is newer" in shown
    memdir("retire", "--scope", "team", "freeze")
    assert memdir("share", "freeze").code == 0


def test_a_secret_is_refused_by_line_and_no_option_overrules_it():
    memdir(
        "remember", f"The token is {TOKEN}", "--name", "key", "--allow-secret", "--type", "project"
    )
    answer = memdir("share", "key", "--json")
    assert answer.code == 1 and answer.json["change"] == "skipped"
    assert "github-token, line" in answer.json["reason"] and TOKEN not in answer.text
    assert memdir("share", "key", "--allow-secret").code == 2


def test_a_person_s_memory_is_refused_with_the_reason():
    answer = memdir("share", "ann", "freeze", "--json")
    assert answer.code == 1
    assert [change["change"] for change in answer.json["changes"]] == ["skipped", "created"]
    assert "Always private" in answer.json["reason"]


def test_the_next_step_names_the_directory_that_was_named(tmp_path):
    folder = tmp_path / "named"
    place = ("--dir", str(folder))
    memdir("remember", "No merges in March.", "--name", "freeze", "--type", "project", *place)
    answer = memdir("share", "freeze", *place)
    assert answer.code == 0 and (folder / "team/freeze.md").exists()
    said = " ".join(answer.text.split())
    assert f"memdir undo --dir {folder}/team" in said
    assert f"memdir retire --dir {folder} freeze" in said


def test_a_link_below_a_named_directory_is_not_followed(tmp_path):
    folder, outside = tmp_path / "named", tmp_path / "outside"
    outside.mkdir()
    place = ("--dir", str(folder))
    memdir("remember", "No merges in March.", "--name", "freeze", "--type", "project", *place)
    (folder / "team").symlink_to(outside)
    answer = memdir("share", "freeze", *place, "--json")
    assert (answer.code, answer.error["code"]) == (1, "bad_input")
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("words", [(), ("freeze", "--to", "user"), ("freeze", "--to", "project")])
def test_wrong_usage_is_told(words):
    assert memdir("share", *words).code == 2


@pytest.mark.parametrize(
    "name", ["../freeze", "../../../etc/passwd", "freeze/../ann", "\0", "x" * 5000]
)
def test_a_bad_name_is_missing_and_nothing_is_written(name, store):
    before = tree(store)
    answer = memdir("share", name, "--json")
    assert (answer.code, answer.error["code"]) == (1, "missing")
    assert tree(store) == before


def test_from_the_user_s_own_scope_to_the_team(store):
    memdir("remember", "Logs are in UTC.", "--name", "utc", "--type", "project", "--scope", "user")
    answer = memdir("share", "utc", "--scope", "user", "--json")
    assert (answer.json["from"], answer.json["to"]) == ("user", "team")
    assert (store / "team/utc.md").exists()


def test_scope_all_is_no_place_to_share_from():
    answer = memdir("share", "freeze", "--scope", "all", "--json")
    assert answer.code == 1 and "one" in answer.error["message"]


def test_both_indexes_reach_the_agent_once_there_is_a_team():
    memdir("share", "freeze", "--move")
    told = memdir("prompt", "--json").json
    assert told["mode"] == "team" and "(freeze.md)" in told["text"] and "(ann.md)" in told["text"]


def test_a_memory_that_is_off_is_shared_with_a_word_about_it(monkeypatch):
    monkeypatch.setenv("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1")
    answer = memdir("share", "freeze")
    assert answer.code == 0 and "switched off" in answer.stderr


def test_the_process_answers_like_the_function(store):
    answer = process("share", "freeze", "--json")
    assert answer.code == 0 and answer.json["to"] == "team"
    assert (store / "team/freeze.md").read_bytes() == (store / "freeze.md").read_bytes()

"""What comes back for a prompt, through every scope, within what a session may get."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memdir.hot import inject, run
from memdir.hot.inject import render_injected_body as body_text
from memdir.hot.memory import utf16_units
from memdir.hot.recall import BODIES, POINTERS, Found
from memdir.recall import answer
from memdir.recall.answer import Recall, recall
from memdir.store.writer import App
from tests.helpers.opened import NOON, Opened
from tests.helpers.searching import memory

PROMPT = "how does the pelican restart the staging cluster?"
PELICAN = memory("Pelican", "the pelican restarts the staging cluster", "Run `pelican restart`.")


class Scopes:
    """Stores by scope; the sessions are those of the project's."""

    def __init__(self, top: Path) -> None:
        self.top, self.stores = top, {"project": Opened(top / "project")}

    def write(self, path: str, text: str | bytes, scope: str = "project") -> str:
        if scope not in self.stores:
            self.stores[scope] = Opened(self.top / scope)
        return str(self.stores[scope].write(path, text))

    def apps(self) -> list[tuple[str, App]]:
        return [(scope, store.app()) for scope, store in self.stores.items()]

    def recall(self, prompt: str = PROMPT, **options: object) -> Recall:
        return answer.recall(self.apps(), prompt, **options)  # type: ignore[arg-type]

    @property
    def sessions(self) -> run.Sessions:
        return run.Sessions(self.apps()[0][1].config.state_dir)

    @property
    def session_files(self) -> Path:
        return Path(self.sessions.folder)


@pytest.fixture
def scopes(tmp_path: Path) -> Scopes:
    return Scopes(tmp_path)


def bodies(answer: Recall) -> list[str]:
    return [one.memory.path for one in answer.injected.bodies]


def pointers(answer: Recall) -> list[str]:
    return [one.memory.path for one in answer.injected.pointers]


# -- a session is told nothing twice -----------------------------------------------------------


def test_no_body_and_no_pointer_comes_twice_but_a_body_may_follow_its_pointer(scopes):
    for number in range(40):
        scopes.write(f"m{number:02}.md", memory(f"M{number}", f"pelican staging {'x' * number}"))
    told, pointed = [], []
    while (answer := scopes.recall(session="s")).text:
        told += bodies(answer)
        pointed += pointers(answer)
        assert len(told) + len(pointed) <= 80
    assert len(told) == len(set(told)) > 20
    assert len(pointed) == len(set(pointed)) and set(told) & set(pointed)


HAIKU = "write a melancholic haiku about elephants, autumn rain and postgres"


def test_a_pointer_keeps_nothing_back(scopes):
    scopes.write("wal.md", memory("WAL", "Postgres here has no WAL archive", "It fills the disk."))
    first = scopes.recall(HAIKU, session="s")
    assert (bodies(first), pointers(first)) == ([], ["wal.md"])
    assert scopes.recall(HAIKU, session="s").text == ""
    assert bodies(scopes.recall("no WAL archive for postgres, why?", session="s")) == ["wal.md"]


def test_the_frame_is_explained_once_in_a_session(scopes):
    scopes.write("wal.md", memory("WAL", "Postgres here has no WAL archive", "It fills the disk."))
    scopes.write("pelican.md", PELICAN)
    first, second = (
        scopes.recall(prompt, session="s").text for prompt in (PROMPT, "why no WAL archive?")
    )
    assert "not something the user just said" in first
    assert "not something the user just said" not in second and "not an instruction" in second


@pytest.mark.parametrize("told", [True, False])
def test_what_another_hook_told_meanwhile_is_not_repeated(scopes, told):
    scopes.write("pelican.md", PELICAN)
    (one,) = scopes.recall().injected.bodies
    state = scopes.sessions.load("s")
    scopes.sessions.add_told("s", [one.version] if told else [], run.SESSION_BYTES - 5 * told)
    given = [one], [], scopes.sessions, "s", state
    assert inject.inject_once(*given, now=one.memory.mtime, nonce="n").text == ""


# -- limits ------------------------------------------------------------------------------------


@given(
    sizes=st.lists(st.integers(0, 9000), min_size=1, max_size=9),
    letter=st.sampled_from(["x", "ü", "日", "🧠", "\n", "x\n", "<", "\udcff", "\u202e"]),
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_limit_holds_whatever_the_memories(tmp_path_factory, sizes, letter):
    scopes = Scopes(tmp_path_factory.mktemp("limits"))
    for number, size in enumerate(sizes):
        text = memory(f"M{number}", f"pelican staging cluster {number}", letter * size)
        scopes.write(f"m{number}.md", text.encode("utf-8", "surrogateescape"))
    total = 0
    for _ in range(4):
        answer = scopes.recall(session="s")
        total += len(answer.text.encode("utf-8", "replace"))
        assert len(answer.injected.bodies) <= BODIES == 5
        assert len(answer.injected.pointers) <= POINTERS + BODIES
        assert utf16_units(answer.text) <= inject.HOOK_CHARACTERS == 10_000
        for one in answer.injected.bodies:
            shown = body_text(one, NOON)
            assert len(shown.encode("utf-8", "replace")) <= inject.BODY_BYTES == 4096
            assert shown.count("\n") < inject.BODY_LINES
            assert shown in answer.text
    assert total <= run.SESSION_BYTES == 61_440


def test_a_session_gets_no_more_than_its_share(scopes):
    for number in range(150):
        body = f"word{number} " + "lorem ipsum\n" * 400
        about = f"pelican restarts staging {number}"
        scopes.write(f"m{number:02}.md", memory(f"M{number}", about, body))
    sizes = [len(scopes.recall(session="s", pointers=0).text.encode()) for _ in range(60)]
    assert run.SESSION_BYTES >= sum(sizes) > run.SESSION_BYTES - 1000
    assert sizes[-1] == 0
    assert scopes.sessions.load("s").left == run.SESSION_BYTES - sum(sizes)


def test_when_a_session_is_nearly_full_a_pointer_comes_instead_of_a_body(scopes):
    scopes.write("pelican.md", memory("P", "pelican staging cluster", "pelican lines\n" * 150))
    scopes.sessions.add_told("s", [], run.SESSION_BYTES - 1200)
    answer = scopes.recall(session="s")
    assert (bodies(answer), pointers(answer)) == ([], ["pelican.md"])
    assert len(answer.text.encode()) <= 1200
    scopes.sessions.add_told("full", [], run.SESSION_BYTES)
    assert scopes.recall(session="full").text == ""


# -- nothing where nothing fits ----------------------------------------------------------------


# -- what the agent has already ----------------------------------------------------------------


def test_a_near_duplicate_takes_no_second_slot(scopes):
    scopes.write("one.md", PELICAN)
    scopes.write("two.md", PELICAN.replace("Run", "Do run"))
    scopes.write("other.md", PELICAN.replace("Run", "Page Ana, wait for her, then run"))
    assert sorted(bodies(scopes.recall())) in (["one.md", "other.md"], ["other.md", "two.md"])


# -- scopes ------------------------------------------------------------------------------------


def test_the_private_memory_wins_over_the_team_and_says_so(scopes):
    scopes.write("pelican.md", PELICAN, "project")
    other = memory("Pelican", "pelican staging cluster", "Never restart it; call Ana. It is hers.")
    scopes.write("pelican.md", other, "team")
    answer = scopes.recall()
    assert [(one.scope, one.memory.path) for one in answer.injected.bodies] == [
        ("project", "pelican.md")
    ]
    assert "says something else; yours counts more" in answer.text
    assert "Ana" not in answer.text


def test_a_memory_that_vanishes_before_it_is_read_is_a_finding_and_hides_no_other(scopes):
    mine = Path(scopes.write("gone.md", PELICAN.replace("Run", "Always run")))
    scopes.write("pelican.md", PELICAN)
    ((scope, app),) = scopes.apps()
    find = app.search.find

    def find_and_lose(prompt: str, limit: int) -> Found:
        found = find(prompt, limit)
        mine.unlink()
        return found

    app.search.find = find_and_lose  # type: ignore[method-assign]
    answer = recall([(scope, app)], PROMPT)
    assert bodies(answer) == ["pelican.md"]
    assert [one.path for one in answer.found.findings if one.kind == "missing"] == [str(mine)]


def test_every_scope_is_searched_and_the_best_comes_first(scopes):
    for scope in ("project", "user", "local", "team"):
        for number in range(3 if scope == "project" else 30):
            words = f"unrelated matter {scope} {number}"
            scopes.write(f"{scope}{number}.md", memory(f"{scope} {number}", words), scope)
    scopes.write("weak.md", memory("Weak", "a cluster"), "project")
    scopes.write("strong.md", PELICAN, "local")
    answer = scopes.recall()
    assert bodies(answer)[0] == "strong.md"
    assert answer.found.searched == 3 + 90 + 2
    for scope in ("user", "team"):
        scopes.write(f"in-{scope}.md", memory(scope, f"zebra of the {scope} only"), scope)
        assert bodies(scopes.recall(f"zebra {scope}"))[:1] == [f"in-{scope}.md"]

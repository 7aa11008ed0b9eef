"""What the capture of a typical session costs: over the real protocol, by the server's counts."""

import importlib.util
from pathlib import Path

import pytest

from memdir.capture.agent import Captured, ask_agent
from memdir.capture.agent_tools import ProjectReader
from memdir.capture.signals import REMEMBER, RULE, Origin, Signal
from memdir.clients.conversation import AGENT, PERSON, TOOL, Message
from memdir.hot.memory import read_memory
from memdir.models.ledger import Ledger, Limits, Metered
from memdir.store import registry
from tests.helpers.counting_server import Counting
from tests.helpers.scripted_server import Reply, serve_script

NOON = 1772452800.0
DAY = "2026-03-02"
GOAL = 4_000  # tokens that no cache gave, and output
LIMITS = Limits(20_000, 100_000, 8_000)
KEYS = {"ANTHROPIC_API_KEY": "k"}
needs_extra = pytest.mark.skipif(
    importlib.util.find_spec("pydantic_ai") is None,
    reason="pydantic-ai is not installed: pip install 'memdir[llm]'",
)

TOPICS = ["checkout", "invoices", "search", "login", "deploy", "cache", "queue", "mail", "export"]
TOPICS.append("import")
ASKED = (
    "The {0} page is slow since the last release: please find out what it loads, and make it load "
    "only what it shows. The numbers are on the dashboard of the team."
)
REPLIED = (
    "I looked at `src/{0}.py`. It reads all rows and sorts them afterwards; I moved both into the "
    "query and added an index. The test for {0} covers the order now. Measured on the sample data, "
    "the page needs 40 ms instead of 900. Shall I also remove the old helper, which nobody calls?"
)
PRINTED = "tests/test_{0}.py::test_order PASSED\n" * 60
WISHES = [
    (RULE, "No, don't mock the database there: from now on integration tests use a real one, "
     "because the mocked ones hid a broken migration last quarter."),
    (RULE, "By the way, there is a merge freeze from Thursday until the mobile team has cut "
     "its release, so nothing that is not critical goes in."),
    (REMEMBER, "Please remember that I want one bundled pull request for refactorings here and "
     "not many small ones."),
]  # fmt: skip
READ = {"file_path": "feedback_3.md"}
DRAFTS = [
    {
        "name": "feedback_3",
        "type": "feedback",
        "description": "Integration tests use a real database, never a mock",
        "body": "Integration tests use a real database; don't mock it.",
        "why": "The mocked ones hid a broken migration last quarter.",
        "how": "Wherever integration tests need the database.",
        "because": 13,
    },
    {
        "name": "merge-freeze",
        "type": "project",
        "description": "Merge freeze from 2026-03-05 until the mobile release is cut",
        "body": "There is a merge freeze from 2026-03-05 on: nothing that is not critical goes in.",
        "why": "The mobile team cuts its release.",
        "how": "Until the mobile team has cut its release.",
        "because": 23,
    },
    {
        "name": "bundled-pull-request",
        "type": "feedback",
        "description": "One bundled pull request for refactorings, not many small ones",
        "body": "For refactorings here: one bundled pull request and not many small ones.",
        "because": 33,
    },
]


def typical() -> tuple[list[Message], list[Signal]]:
    """A session of an hour: ten requests with their work, three things worth keeping."""
    said: list[Message] = []
    signals = []
    for at, topic in enumerate(TOPICS):
        said.append(Message(f"p{at}", PERSON, ASKED.format(topic), NOON + at))
        said.append(Message(f"t{at}", TOOL, PRINTED.format(topic), NOON + at, "Bash"))
        said.append(Message(f"a{at}", AGENT, REPLIED.format(topic), NOON + at))
        if at in (3, 6, 9):
            kind, wish = WISHES[at // 3 - 1]
            said.append(Message(f"w{at}", PERSON, wish, NOON + at))
            signals.append(Signal(kind, wish, said[-1]))
    return said, signals


@pytest.fixture
def look(tmp_path: Path) -> ProjectReader:
    (tmp_path / "project").mkdir()
    (tmp_path / "store").mkdir()
    for at in range(20):
        text = f"The {TOPICS[at % 10]} part is tested with fixtures of its own, never with dumps"
        body = f"{text}.\n\n**Why:** dumps grow old.\n**How to apply:** in tests/{at}.\n"
        head = f"---\nname: feedback {at}\ndescription: {text}\ntype: feedback\n---\n"
        (tmp_path / f"store/feedback_{at}.md").write_text(head + body)
    return ProjectReader(str(tmp_path / "project"), str(tmp_path / "store"))


def metered(address: str, ledger: Ledger, limits: Limits = LIMITS) -> Metered:
    model = registry.load("models", "anthropic").open_model("claude-haiku-4-5", address, KEYS)
    return Metered(model, ledger, limits, "capture", "s1")


def run(model: Metered, look: ProjectReader) -> Captured:
    said, signals = typical()
    store = Path(look.store)
    known = [read_memory(one.name, one.read_bytes(), NOON) for one in sorted(store.iterdir())]
    return ask_agent(said, signals, Origin("claude-code", "s1"), known, model, look, total=120)


def script(look: ProjectReader, least: int) -> Counting:
    reading = {"tool": "read", "path": f"{look.store}/feedback_3.md"}
    replies = [{"calls": [reading], "done": False}, {"drafts": DRAFTS, "done": True}]
    return Counting([Reply(data=one) for one in replies], least=least)


@needs_extra
@pytest.mark.parametrize("least", [1024, 2048])
def test_a_typical_session_costs_less_than_the_goal(look, tmp_path, least):
    ledger = Ledger(str(tmp_path / "state"), lambda: NOON)
    with serve_script(script(look, least)) as counting:
        captured = run(metered(counting.address, ledger), look)
    fresh, cached, made = (sum(each) for each in zip(*counting.counted, strict=True))
    assert [catch.draft.name for catch in captured.catches if catch.draft] == [
        "feedback_3",
        "merge-freeze",
        "bundled-pull-request",
    ]
    assert [catch.hold for catch in captured.catches] == ["", "", ""]
    assert fresh + made <= GOAL
    assert cached > 0
    assert (captured.usage.total, captured.usage.cached_tokens) == (fresh + made, cached)
    assert ledger.spent(DAY, "s1").session == captured.usage.total


@needs_extra
def test_the_next_capture_finds_the_prompt_in_the_cache(look, tmp_path):
    ledger = Ledger(str(tmp_path / "state"), lambda: NOON)
    with serve_script(script(look, 1024)) as counting:
        counting.least = 0
        run(metered(counting.address, ledger), look)
        counting.replies[:] = [Reply(data={"done": True})]
        run(metered(counting.address, ledger), look)
    assert counting.counted[2][1] > counting.counted[2][0]

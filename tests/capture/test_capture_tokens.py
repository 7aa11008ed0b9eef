"""What the capture of a typical session costs: over the real protocol, by the server's counts."""

import importlib.util
from pathlib import Path

import pytest

from memdir.capture.ask import Drafted, Memories, ask_for_drafts
from memdir.capture.signals import Origin
from memdir.clients.conversation import AGENT, PERSON, TOOL, Message
from memdir.hot.memory import read_memory
from memdir.models.ledger import Ledger, Limits, Metered
from memdir.store import registry
from tests.helpers.counting_server import Counting
from tests.helpers.scripted_server import Reply, serve_script

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("pydantic_ai") is None,
    reason="pydantic-ai is not installed: pip install 'memdir[llm]'",
)
NOON = 1772452800.0
GOAL = 4_000  # tokens that no cache gave, and output
TOPICS = ["checkout", "invoices", "search", "login", "deploy", "cache", "queue", "mail", "export"]
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
    "From now on integration tests use a real database, because mocks hid a broken migration.",
    "Never merge anything that is not critical during the release freeze of the mobile team.",
    "Please remember that I want one bundled pull request for refactorings here.",
]
DRAFTS = [
    {
        "name": name,
        "type": "feedback",
        "description": WISHES[at],
        "body": WISHES[at],
        "quote": WISHES[at],
    }
    for at, name in enumerate(["feedback_3", "merge-freeze", "bundled-pull-request"])
]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for at in range(20):
        text = f"The {TOPICS[at % 9]} part is tested with fixtures of its own, never with dumps"
        body = f"{text}.\n\n**Why:** dumps grow old.\n**How to apply:** in tests/{at}.\n"
        head = f"---\nname: feedback {at}\ndescription: {text}\ntype: feedback\n---\n"
        (tmp_path / f"feedback_{at}.md").write_text(head + body)
    return tmp_path


def run(address: str, ledger: Ledger, store: Path) -> Drafted:
    """A session of an hour: nine requests with their work, three things worth keeping."""
    said = []
    for at, topic in enumerate(TOPICS):
        said.append(Message(f"p{at}", PERSON, ASKED.format(topic), NOON + at))
        said.append(Message(f"t{at}", TOOL, PRINTED.format(topic), NOON + at, "Bash"))
        said.append(Message(f"a{at}", AGENT, REPLIED.format(topic), NOON + at))
        if at % 3 == 2:
            said.append(Message(f"w{at}", PERSON, WISHES[at // 3], NOON + at))
    keys = {"ANTHROPIC_API_KEY": "k"}
    model = registry.load("models", "anthropic").open_model("claude-haiku-4-5", address, keys)
    metered = Metered(model, ledger, Limits(20_000, 100_000, 8_000), "capture", "s1")
    paths = sorted(store.glob("*.md"))
    known = [read_memory(path.name, path.read_bytes(), NOON) for path in paths]

    def read(name: str) -> tuple[str, bytes] | None:
        path = store / f"{name}.md"
        return (name, path.read_bytes()) if path in paths else None

    memories = Memories(known, 120, read)
    return ask_for_drafts(said, Origin("claude-code", "s1"), memories, metered, 30.0)


@pytest.mark.parametrize("least", [1024, 2048])
def test_a_typical_session_costs_less_than_the_goal_and_the_next_finds_the_prompt_in_the_cache(
    store, tmp_path, least
):
    ledger = Ledger(str(tmp_path / "state"), lambda: NOON)
    replies = [{"drafts": DRAFTS[1:], "read": ["feedback_3"]}, {"drafts": DRAFTS[:1]}]
    with serve_script(Counting([Reply(data=data) for data in replies], least=least)) as counting:
        captured = run(counting.address, ledger, store)
        fresh, cached, made = (sum(each) for each in zip(*counting.counted, strict=True))
        names = {catch.draft.name for catch in captured.catches}
        assert names == {draft["name"] for draft in DRAFTS}
        assert fresh + made <= GOAL
        assert cached > 0
        assert (captured.usage.total, captured.usage.cached_tokens) == (fresh + made, cached)
        assert ledger.spent("2026-03-02", "s1").session == captured.usage.total
        counting.least = 0
        counting.replies[:] = [Reply(data={"drafts": []})]
        run(counting.address, ledger, store)
        assert counting.counted[2][1] > counting.counted[2][0]

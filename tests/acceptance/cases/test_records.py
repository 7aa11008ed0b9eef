"""Structured records in the client: saved by its agents, told again, written by memdir alone."""

import json
import re

import pytest

from tests.acceptance.cases.test_sessions import EDITS, bash, call
from tests.acceptance.scripted_api import AGENT, MAIN, kind, last_words, said
from tests.helpers.scripted_server import Reply, Request
from tests.helpers.tables import table

PROMPT = "Which database shall we take for the orders?"
LATER = "which database did we choose for the orders?"
ANSWER = table("acceptance", "decision")["answer"]
WHY = "Orders need transactions."
TRIAGE = "Stop hook feedback:"
INTENT = table("acceptance", "decision")["intent"]
PATH = "decisions/postgresql-as-the-database-for-orders.json"
OURS = "which only memdir writes"
# What the guide tells users to allow; here memdir is called by a longer name than `memdir`.
ALLOWED = ("--allowedTools", "Bash,Read(~/.local/state/memdir/contexts/**)")


class Play:
    """What the models say: the main one step by step, its agents by what they are told."""

    def __init__(self, *steps: object) -> None:
        self.steps = list(steps)
        self.agents: list[str] = []

    def __call__(self, request: Request) -> Reply:
        asked = kind(request)
        if asked == AGENT:
            return self._agent(request)
        if asked != MAIN or not self.steps:
            return Reply("Done.")
        step = self.steps.pop(0)
        return step(request) if callable(step) else step

    def _agent(self, request: Request) -> Reply:
        """Reads its context, then answers as its definition says."""
        text = said(request)
        if "tool_result" not in json.dumps(request.body["messages"]):
            return call("Read", file_path=context_file(request))
        drafts = "You get a category and a context file" in text
        self.agents.append(last_words(request))
        return Reply(json.dumps(INTENT if drafts else {"verdict": "PASS", "issues": []}))


def context_file(request: Request) -> str:
    found = re.search(r"(/\S+/context-decision\.txt)", said(request))
    assert found
    return found[1]


def agent(name: str):
    """Calls an agent of the plugin."""

    def step(request: Request) -> Reply:
        prompt = f"Category: decision. Context file: {context_file(request)} {json.dumps(INTENT)}"
        kind_of = {"subagent_type": f"memdir:{name}", "run_in_background": False}
        return call("Agent", description="Records", prompt=prompt, **kind_of)

    return step


def four_phases(sandbox) -> list[object]:
    """The steps of a model that follows the skill."""

    def committed(request: Request) -> Reply:
        prepared = json.loads(last_words(request))
        return run(sandbox, "commit", {"intents": prepared["intents"]})

    return [
        Reply(ANSWER),
        call("Skill", skill="memdir:records"),
        agent("drafter"),
        agent("verifier"),
        lambda _: run(sandbox, "prepare", {"intents": [{**INTENT, "verdict": "PASS"}]}),
        committed,
        Reply("Done."),
    ]


def run(sandbox, command: str, given: object) -> Reply:
    line = sandbox.memdir_line("records", command, "--json", "--input", "-")
    return bash(f"{line} <<'INTENTS'\n{json.dumps(given)}\nINTENTS")


def store(sandbox):
    return sandbox.project / ".claude/memory"


@pytest.fixture
def keeping(plugged):
    """With the plugin, records in the project, and a user who wants the agent to save them."""
    (store(plugged) / "decisions").mkdir(parents=True)
    plugged.choose(records__agent=True)
    return plugged


def test_a_decision_becomes_a_record_that_the_next_session_is_told(keeping):
    play = keeping.api.choose = Play(*four_phases(keeping))
    keeping.finish(PROMPT, *ALLOWED)
    record = json.loads((store(keeping) / PATH).read_text())
    assert record["content"]["rationale"][0] == WHY
    assert PATH in (store(keeping) / "index.md").read_text()
    assert play.steps == []
    assert len(play.agents) == 2
    assert all("We decided on PostgreSQL" in one for one in play.agents), play.agents
    assert keeping.sent().count(TRIAGE) == 1
    assert not list(keeping.home.glob(".local/state/memdir/contexts/*/draft*"))
    before = len(keeping.requests())
    assert keeping.ask(LATER).succeeded
    assert WHY in "\n".join(keeping.told())
    assert len(keeping.requests()) == before + 1  # no word about saving is handed over


@pytest.mark.parametrize("way", ["not asked for", "switched off"])
def test_nothing_is_handed_over_where_nobody_wants_it(plugged, way):
    (store(plugged) / "decisions").mkdir(parents=True)
    if way != "not asked for":
        plugged.choose(records__agent=True)
    if way == "switched off":
        off = {"categories": {"decision": {"enabled": False}}}
        (store(plugged) / "memory-config.json").write_text(json.dumps(off))
    plugged.api.choose = Play(Reply(ANSWER))
    plugged.finish(PROMPT)
    assert len(plugged.requests()) == 1
    assert not list(plugged.home.glob(".local/state/memdir/contexts/*"))
    assert [path.name for path in store(plugged).glob("decisions/*")] == []


def test_tools_are_kept_from_writing_records_and_from_nothing_else(installed):
    (store(installed) / "decisions").mkdir(parents=True)
    record, settings = store(installed) / PATH, store(installed) / "memory-config.json"
    installed.api.choose = Play(
        call("Write", file_path=str(record), content="{}"),
        bash(f"cd .claude && echo '{{}}' > memory/{PATH}"),
        call("Write", file_path=str(settings), content="{}"),
        bash("echo ok > notes.txt && cat notes.txt"),
        Reply("Done."),
    )
    assert installed.ask("Write them.", *EDITS).succeeded
    results = [last_words(one) for one in installed.requests()[1:]]
    assert [OURS in one for one in results] == [True, True, False, False]
    assert "memdir records save" in results[0]
    assert not record.exists()
    assert (installed.project / "notes.txt").read_text() == "ok\n"


def test_the_slash_commands_reach_the_records(plugged):
    (store(plugged) / "decisions").mkdir(parents=True)
    steps = table("acceptance", "slash_commands")["rows"]
    replies = []
    for _, words, _ in steps:
        replies += [bash(plugged.memdir_line(*words)), Reply("Done.")]
    plugged.api.choose = Play(*replies)
    with plugged.converse(*EDITS) as talk:
        for typed, words, printed in steps:
            talk.say(typed)
            asked, answered = plugged.requests()[-2:]
            command = "memdir " + " ".join(words[: 1 + (words[0] == "records")])
            assert command in said(asked), typed
            assert printed in last_words(answered), typed
    assert talk.err == ""

"""Every member of the family `models`: the same question, the same answers, the same failures."""

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from memdir.errors import BadInput
from memdir.hot.run import NESTED
from memdir.models.model import (
    BadAnswer,
    Model,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    Question,
    Turn,
    Usage,
    find_misfits_in_answer,
)
from memdir.store import registry
from tests.conformance import own
from tests.helpers.processes import wait_for_none
from tests.helpers.programs import program_text, run_program
from tests.helpers.scripted_server import Reply, Script, serve
from tests.helpers.tables import cases, rows
from tests.self.source import SRC

KEY = "sk-planted-0123456789"
KEYS = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}
SCHEMA = dict(rows(globals(), "SCHEMA"))
DATA = {"memories": ["a.md"]}
LIMIT = 1.5  # seconds, where the answer comes too late anyway


@dataclass
class Member:
    """A member with its far end; `say` decides what it answers next."""

    name: str
    say: Callable[[Reply], None]
    open: Callable[[], Model]
    heard: Callable[[], str]  # everything that reached the far end

    def ask(self, reply: Reply, schema: dict | None = SCHEMA, seconds: float = 60.0):
        self.say(reply)
        return self.open().answer(Question("Be brief.", "Which ones?", schema, 256, seconds))


def over_http(name: str, stack: ExitStack) -> Member:
    script: Script = stack.enter_context(serve())

    def say(reply: Reply) -> None:
        script.replies[:] = [reply]

    address = script.address + ("/v1" if name == "openai" else "")
    return Member(
        name,
        say,
        lambda: own.load("models", name).open_model("some-model", address, KEYS),
        lambda: json.dumps([request.body for request in script.requests]),
    )


def from_a_file(folder: Path) -> Member:
    file = folder / "answers.jsonl"
    opened: list[Model] = []

    def say(reply: Reply) -> None:
        given, made = reply.usage
        line = {"text": reply.text if reply.data is None else json.dumps(reply.data)}
        if reply.refused or reply.status != 200:
            line = {"fails": "refused" if reply.refused else "unavailable"}
        line |= {"seconds": reply.wait, "input_tokens": given, "output_tokens": made}
        file.write_text(json.dumps(line) + "\n")

    def open_it() -> Model:
        opened.append(registry.load("models", "scripted").open_model(str(file), "", {}))
        return opened[-1]

    return Member("scripted", say, open_it, lambda: repr([one.asked for one in opened]))


def envelope(reply: Reply) -> str:
    """What the real command prints with `--output-format json`."""
    given, made = reply.usage
    said = dict(rows(globals(), "ENVELOPE"))
    said["is_error"] = reply.status != 200
    said["result"] = f"API Error: {reply.status} {KEY}" if said["is_error"] else reply.text
    said["stop_reason"] = "refusal" if reply.refused else "end_turn"
    said["usage"] |= {"input_tokens": given - 20, "output_tokens": made}
    return json.dumps(said | ({"structured_output": reply.data} if reply.data else {}))


def as_a_program(folder: Path, name: str) -> Member:
    """The `claude` command, or the program of examples/own/models/command.py."""
    script, heard, program = folder / "script.json", folder / "heard.json", folder / name
    texts = {"python": sys.executable, "script": str(script), "heard": str(heard)}
    program.write_text(program_text("print_as_told").format(**texts))
    program.chmod(0o755)
    env = {"PATH": f"{folder}:{os.environ['PATH']}", "CLAUDECODE": "1", **KEYS}
    alias = "haiku" if name == "claude" else str(program)

    def say(reply: Reply) -> None:
        given, made = reply.usage
        text = reply.text if reply.data is None else json.dumps(reply.data)
        line = {"text": text, "input_tokens": given, "output_tokens": made}
        line |= {"refused": True} if reply.refused else {}
        failed = reply.status != 200 and name != "claude"
        prints = envelope(reply) if name == "claude" else KEY if failed else json.dumps(line)
        told = {"prints": prints, "code": int(failed), "wait": reply.wait}
        script.write_text(json.dumps({**told, "hang": reply.wait > 0 and name == "claude"}))

    open_model = own.load("models", name).open_model
    return Member(name, say, lambda: open_model(alias, "", env), heard.read_text)


@pytest.fixture(
    params=[
        pytest.param(name, marks=own.needs_extra if name in ("anthropic", "openai") else ())
        for name in own.members("models")
    ]
)
def member(request, tmp_path) -> Iterator[Member]:
    with ExitStack() as stack:
        if request.param == "scripted":
            yield from_a_file(tmp_path)
        elif request.param in ("claude", "command"):
            yield as_a_program(tmp_path, request.param)
        else:  # a model of one's own that speaks one of the two APIs is tested like ours
            yield over_http(request.param, stack)


def test_data_comes_back_as_the_schema_says(member):
    answer = member.ask(Reply(data=DATA))
    assert answer.data == DATA
    assert find_misfits_in_answer(answer.data, SCHEMA) == []
    assert answer.model == member.open().name
    assert answer.model.startswith(member.name)
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (120, 20)


def test_without_a_schema_the_text_is_the_answer(member):
    answer = member.ask(Reply("Just words."), None)
    assert (answer.text, answer.data) == ("Just words.", None)


@pytest.mark.parametrize(
    "reply", [Reply("no JSON"), Reply(data={"memories": "a.md"}), Reply(data={"other": 1})]
)
def test_an_answer_that_does_not_fit_is_an_error_with_its_cost(member, reply):
    with pytest.raises(BadAnswer) as failure:
        member.ask(reply)
    assert failure.value.usage is not None
    assert failure.value.usage.total == 140


def test_a_refusal_is_told_apart(member):
    with pytest.raises(ModelRefused):
        member.ask(Reply(refused=True))


@pytest.mark.parametrize("status", [401, 404, 429, 500, 529])
def test_a_model_that_is_not_there_is_an_error_with_a_way_on(member, status):
    with pytest.raises(ModelUnavailable) as failure:
        member.ask(Reply(status=status))
    assert failure.value.next
    assert KEY not in repr(vars(failure.value)) + str(failure.value)


def test_the_limit_holds_and_nothing_is_left_running(member):
    member.ask(Reply(data=DATA))  # the packages are loaded now
    with pytest.raises(ModelTimeout) as failure:
        member.ask(Reply(data=DATA, wait=20), seconds=LIMIT)
    assert failure.value.usage is None
    waited_for = [thread for thread in threading.enumerate() if not thread.daemon]
    assert not [thread for thread in waited_for if thread.name == "memdir-model"]


# -- the members over HTTP


@own.needs_extra
@pytest.mark.parametrize("name", ["anthropic", "openai"])
@cases("reply", "kind")
def test_a_broken_server_is_a_typed_failure(name, reply, kind):
    with ExitStack() as stack, pytest.raises(kind):
        over_http(name, stack).ask(reply, seconds=LIMIT if reply.cut == "hang" else 60.0)


@own.needs_extra
@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_a_closed_port_is_a_failure_that_cost_nothing(name):
    with serve() as script:
        address = script.address
    model = registry.load("models", name).open_model("m", address, KEYS)
    with pytest.raises(ModelUnavailable) as failure:
        model.answer(Question("s", "u", None, 10, 5.0))
    assert failure.value.usage is not None and failure.value.usage.total == 0


@pytest.mark.parametrize(("name", "key"), [("anthropic", "ANTHROPIC"), ("openai", "OPENAI")])
def test_without_a_key_the_variable_is_named(name, key):
    with pytest.raises(ModelUnavailable, match=f"{key}_API_KEY is not set"):
        registry.load("models", name).open_model("m", "", {})


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_a_key_does_not_travel_in_the_clear(name):
    open_model = registry.load("models", name).open_model
    with pytest.raises(ModelUnavailable, match="is not https"):
        open_model("m", "http://models.example/v1", KEYS)
    open_model("m", "https://models.example/v1", KEYS)


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_a_missing_package_is_an_error_that_names_the_command(name):
    said, _ = run_program("ask_as_hooks_do", SRC, name, "missing", options=("-I", "-S"))
    assert said == "ModelUnavailable pip install 'memdir[llm]'\n"


@own.needs_extra
@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_packages_are_found_where_hooks_start_without_them(name):
    said, _ = run_program("ask_as_hooks_do", SRC, name, options=("-I", "-S"))
    assert said.startswith("ModelUnavailable check the connection")


def test_what_hangs_does_not_keep_the_process_from_ending():
    """A name server, for one: its thread cannot be stopped, only left behind."""
    assert run_program("hang") == ("late\nlate\n", "")


# -- a question with earlier turns: what was sent once is sent again, first and unchanged

FIRST = Question("Be brief.", "Which one?", SCHEMA, 100, 60.0, more=True)
TURNS = (Turn('{"x": 1}', "told first"), Turn('{"x": 2}', "told next"))
THIRD = Question("Be brief.", "Which one?", SCHEMA, 100, 60.0, TURNS, more=True)
EPHEMERAL = {"type": "ephemeral", "ttl": "5m"}


def sent(name: str) -> list[dict]:
    """The bodies of both requests."""
    with ExitStack() as stack:
        member = over_http(name, stack)
        member.say(Reply(data=DATA))
        for question in (FIRST, THIRD):
            assert member.open().answer(question).data == DATA
        return json.loads(member.heard())


@own.needs_extra
def test_anthropic_gets_marks_for_its_cache_on_the_stable_prefix():
    first, third = sent("anthropic")
    for body in (first, third):
        (system,) = body["system"]
        assert system == {"type": "text", "text": "Be brief.", "cache_control": EPHEMERAL}
        opening = body["messages"][0]["content"]
        assert opening == [{"type": "text", "text": "Which one?", "cache_control": EPHEMERAL}]
    messages = third["messages"]
    assert [one["role"] for one in messages] == [*("user", "assistant") * 2, "user"]
    answers, results = ([messages[at]["content"][0] for at in some] for some in ((1, 3), (2, 4)))
    assert [answer["input"] for answer in answers] == [{"x": 1}, {"x": 2}]
    assert [one["content"][0]["text"] for one in results] == ["told first", "told next"]
    assert [one["tool_use_id"] for one in results] == [answer["id"] for answer in answers]
    # The newest text is marked too, for the turn that follows; the one before it no longer.
    assert [("cache_control" in one) for one in results] == [False, True]


@own.needs_extra
def test_openai_gets_plain_texts_in_a_stable_order():
    first, third = sent("openai")
    assert third["messages"][:2] == first["messages"]
    assert third["messages"] == rows(globals(), "OPENAI")


@own.needs_extra
@cases("name", "usage")
def test_what_a_cache_gave_is_counted_apart(name, usage):
    said = {**dict(rows(globals(), "SAID"))[name], "usage": usage}
    with ExitStack() as stack:
        answer = over_http(name, stack).ask(Reply(raw=json.dumps(said).encode()))
    assert answer.usage == Usage(50, 20, 900)


# -- the command


def test_the_command_is_alone_and_marked(tmp_path):
    member = as_a_program(tmp_path, "claude")
    member.say(Reply(data=DATA))
    turns = (Turn('{"x": 1}', "told first"),)
    member.open().answer(Question("Be brief.", "Which ones?", SCHEMA, 256, 60.0, turns))
    heard = json.loads(member.heard())
    words = heard["words"]
    for flag, value in [("--setting-sources", ""), ("--tools", ""), ("--model", "haiku")]:
        assert words[words.index(flag) + 1] == value
    assert {"-p", "--strict-mcp-config", "--no-session-persistence"} <= {*words}
    assert "Which ones?" not in words
    whole = 'Which ones?\n\nYour answer in turn 1:\n\n{"x": 1}\n\ntold first'
    assert heard["user"] == whole
    assert heard["env"][NESTED] == "1"
    assert "CLAUDECODE" not in heard["env"]
    assert heard["beside"] == []
    assert not Path(heard["cwd"]).exists()


def test_a_late_command_is_ended_with_its_children(tmp_path):
    member = as_a_program(tmp_path, "claude")
    started, seconds = tmp_path / "heard.json.pid", LIMIT
    while not started.exists():  # a busy machine may not come that far at first
        with pytest.raises(ModelTimeout):
            member.ask(Reply(wait=600), seconds=seconds)
        seconds *= 2
    status = Path(f"/proc/{started.read_text()}/stat")

    def running() -> list[str]:
        """Whoever adopts it may take a moment to bury it."""
        words = status.read_text().split() if status.exists() else []
        return words if words[2:3] != ["Z"] else []

    wait_for_none(running)


def test_a_command_inside_a_command_is_refused(tmp_path):
    as_a_program(tmp_path, "claude")
    with pytest.raises(ModelUnavailable, match="started by memdir itself"):
        registry.load("models", "claude").open_model("", "", {"PATH": str(tmp_path), NESTED: "1"})


@cases("printed", ids=range(5))
def test_a_command_that_prints_something_else_is_a_bad_answer(tmp_path, printed):
    member = as_a_program(tmp_path, "claude")
    told = {"prints": printed, "code": 0, "wait": 0, "hang": False}
    (tmp_path / "script.json").write_text(json.dumps(told))
    with pytest.raises(BadAnswer, match="printed no result"):
        member.open().answer(Question("s", "u"))


# -- the script


@cases("line")
def test_a_script_with_a_mistake_is_refused_when_it_is_opened(tmp_path, line):
    file = tmp_path / "answers.jsonl"
    file.write_text(line + "\n")
    with pytest.raises(BadInput):
        registry.load("models", "scripted").open_model(str(file), "", {})

"""What is peculiar to Codex, Gemini CLI and opencode; what all share is in tests/conformance."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from memdir.clients import codex, gemini_cli, opencode
from memdir.clients.conversation import AGENT, PERSON, TOOL, Cursor, Message, NewMessages
from tests.helpers.tables import table
from tests.helpers.writers import TIME, Codex, Gemini, OpencodeTable, line

START = Cursor()


def words(stretch: NewMessages) -> list[tuple[str, str]]:
    return [(one.who, one.text) for one in stretch.said]


def wrote(stretch: NewMessages) -> list[str]:
    return [path for one in stretch.said for path in one.wrote]


# Codex


def codex_file(home: Path, *records: Any) -> str:
    path = Codex().path(home, Path("/p"), "1")
    path.parent.mkdir(parents=True)
    meta = {"type": "session_meta", "timestamp": TIME, "payload": {"id": "1", "cwd": "/p"}}
    path.write_text("".join(map(line, [meta, *records])), "utf-8")
    return str(path)


def item(**payload: Any) -> dict[str, Any]:
    return {"timestamp": TIME, "type": "response_item", "payload": payload}


def user(*parts: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": part} for part in parts]
    return item(type="message", role="user", content=content)


@pytest.mark.parametrize(
    ("parts", "own"), table("clients", "what_codex_puts_before_a_prompt_is_not_the_persons")
)
def test_what_codex_puts_before_a_prompt_is_not_the_persons(home, parts, own):
    found = codex.open_reader(str(home), {}).read(codex_file(home, user(*parts)), START)
    assert [text for _, text in words(found)] == own


@pytest.mark.parametrize(
    ("call", "paths"), table("clients", "calls_of_codex_say_which_files_they_write")
)
def test_calls_of_codex_say_which_files_they_write(home, call, paths):
    given = json.dumps(call["arguments"])
    path = codex_file(
        home,
        item(type="function_call", name=call["name"], call_id="c", arguments=given),
        item(
            type="function_call_output", call_id="c", output=[{"type": "input_text", "text": "ok"}]
        ),
    )
    stretch = codex.open_reader(str(home), {}).read(path, START)
    assert wrote(stretch) == paths
    assert [(one.text, one.tool) for one in stretch.said if one.who == TOOL] == [
        ("ok", call["name"])
    ]


def test_a_patch_that_codex_could_not_apply_wrote_nothing(home):
    patch = "*** Begin Patch\n*** Add File: a.md\n+x\n*** End Patch"
    path = codex_file(
        home,
        item(type="custom_tool_call", name="apply_patch", call_id="c", input=patch),
        item(
            type="custom_tool_call_output", call_id="c", output={"content": "no", "success": False}
        ),
    )
    assert wrote(codex.open_reader(str(home), {}).read(path, START)) == []


# Gemini CLI


def gemini_file(home: Path, *records: Any, project: str = "") -> str:
    path = Gemini().path(home, Path("/p"), "1")
    path.parent.mkdir(parents=True)
    if project:
        (path.parents[1] / ".project_root").write_text(project)
    meta = {"sessionId": "1", "projectHash": "x", "kind": "main"}
    path.write_text("".join(map(line, [meta, *records])), "utf-8")
    return str(path)


def test_what_gemini_read_from_named_files_is_not_the_persons(home):
    typed = "look at @a.md"
    whole = f"{typed}\n--- Content from referenced files ---\nremember\n--- End of content ---"
    about = "<session_context>\nremember\n</session_context>"
    message = {"timestamp": TIME, "type": "user"}
    path = gemini_file(
        home,
        {**message, "id": "0", "content": [{"text": about}]},
        {**message, "id": "1", "content": [{"text": whole}]},
        {**message, "id": "2", "content": [{"text": whole}], "displayContent": "shown"},
        {**message, "id": "3", "content": "go <hook_context>remember</hook_context>"},
    )
    stretch = gemini_cli.open_reader(str(home), {}).read(path, START)
    assert words(stretch) == [(PERSON, typed), (PERSON, "shown"), (PERSON, "go")]


def test_a_message_of_gemini_that_grows_is_told_once(home):
    call = {"id": "c", "name": "write_file", "args": {"file_path": "m.md"}, "status": "executing"}
    grown = {"id": "1", "timestamp": TIME, "type": "gemini", "content": "I write."}
    path = gemini_file(home, grown, {**grown, "toolCalls": [call]}, project="/q")
    reader = gemini_cli.open_reader(str(home), {})
    first = reader.read(path, START)
    done = {**call, "status": "success", "resultDisplay": "written"}
    with Path(path).open("a") as file:
        file.write(line({**grown, "toolCalls": [done]}) + line({"$rewindTo": "1"}))
    second = reader.read(path, first.cursor)
    assert words(first) == [(AGENT, "I write.")]
    assert words(second) == [(AGENT, ""), (TOOL, "written")]
    assert (wrote(second), second.cwd, second.broken) == (["/q/m.md"], "/q", 0)


def test_a_call_of_gemini_that_failed_wrote_nothing(home):
    call = {"id": "c", "name": "replace", "args": {"file_path": "/m.md"}, "status": "error"}
    path = gemini_file(home, {"id": "1", "type": "gemini", "content": "", "toolCalls": [call]})
    assert gemini_cli.open_reader(str(home), {}).read(path, START).said == ()


# opencode


def rewrite(path: Path, number: int, change: Any) -> None:
    """Another text in place of a message's."""
    with sqlite3.connect(path.parent) as table:
        rows = table.execute("SELECT id, data FROM message ORDER BY id").fetchall()
        id, data = rows[number]
        table.execute("UPDATE message SET data = ? WHERE id = ?", (change(data), id))
    table.close()


def test_a_reply_of_opencode_waits_until_it_is_whole(home, tmp_path):
    said = [Message("", PERSON, "hello"), Message("", AGENT, "half a reply")]
    path = OpencodeTable().lay(home, tmp_path, "ses_1", said)
    whole = []
    rewrite(path, 1, lambda data: whole.append(data) or data.replace("completed", "later"))
    reader = opencode.open_reader(str(home), {})
    first = reader.read(str(path), START)
    assert words(first) == [(PERSON, "hello")]
    rewrite(path, 1, lambda data: whole[0])
    assert words(reader.read(str(path), first.cursor)) == [(AGENT, "half a reply")]


def test_one_broken_row_of_opencode_hides_no_other(home, tmp_path):
    said = [Message("", PERSON, text) for text in ("one", "two", "three")]
    path = OpencodeTable().lay(home, tmp_path, "ses_1", said)
    rewrite(path, 1, lambda data: "{ broken")
    stretch = opencode.open_reader(str(home), {}).read(str(path), START)
    assert (words(stretch), stretch.broken) == ([(PERSON, "one"), (PERSON, "three")], 1)


def test_a_database_of_opencode_is_only_looked_at(home, tmp_path):
    path = OpencodeTable().lay(home, tmp_path, "ses_1", [Message("", PERSON, "hello")])
    before = path.parent.read_bytes()
    reader = opencode.open_reader(str(home), {})
    assert words(reader.read(reader.sessions(str(tmp_path))[0].path, START)) == [(PERSON, "hello")]
    assert path.parent.read_bytes() == before
    assert [one.name for one in path.parent.parent.iterdir()] == ["opencode.db"]

"""A question as the messages of an API: what was sent once stands first, and unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from memdir.core.model import Question

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

TOOL = "answer"


def conversation(question: Question, mode: Literal["tool", "native"]) -> list[ModelMessage]:
    """The first text and each earlier turn; a mark for caches behind the first text."""
    from pydantic_ai.messages import (
        CachePoint,
        ModelRequest,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )

    # Only where caches want marks: for the others one plain text fits more servers.
    more = mode == "tool" and (question.more or bool(question.earlier))
    first = UserPromptPart([question.user, CachePoint()] if more else question.user)
    said: list[ModelMessage] = [ModelRequest(parts=[SystemPromptPart(question.system), first])]
    for number, turn in enumerate(question.earlier, 1):
        if mode == "native" or question.schema is None:
            said.append(ModelResponse(parts=[TextPart(turn.answered)]))
            said.append(ModelRequest(parts=[UserPromptPart(turn.told)]))
            continue
        # An answer that was given as a call of a tool is repeated as one, with its result.
        id = f"{TOOL}_{number}"
        said.append(ModelResponse(parts=[ToolCallPart(TOOL, turn.answered, tool_call_id=id)]))
        said.append(ModelRequest(parts=[ToolReturnPart(TOOL, turn.told, tool_call_id=id)]))
    return said

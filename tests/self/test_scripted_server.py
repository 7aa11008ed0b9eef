"""The server of the model tests speaks both APIs as real clients understand them, streams too."""

import asyncio
import importlib.util

import pytest

from tests.helpers.scripted_server import Reply, serve

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("pydantic_ai") is None,
    reason="pydantic-ai is not installed: pip install 'memdir[llm]'",
)


async def streamed(kind: str, address: str, tools: bool):
    from anthropic import AsyncAnthropic
    from openai import AsyncOpenAI
    from pydantic_ai.messages import ModelRequest
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.anthropic import AnthropicProvider
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.tools import ToolDefinition

    if kind == "anthropic":
        client = AsyncAnthropic(api_key="k", base_url=address, max_retries=0)
        model = AnthropicModel("m", provider=AnthropicProvider(anthropic_client=client))
    else:
        client = AsyncOpenAI(api_key="k", base_url=f"{address}/v1", max_retries=0)
        model = OpenAIChatModel("m", provider=OpenAIProvider(openai_client=client))
    tool = ToolDefinition(name="look", parameters_json_schema={"type": "object"})
    asked = ModelRequestParameters(function_tools=[tool] if tools else [])
    async with (
        client,
        model.request_stream([ModelRequest.user_text_prompt("hi")], {"timeout": 0.5}, asked) as got,
    ):
        async for _ in got:
            pass
        return got.get()


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
def test_a_streamed_text_is_understood(kind):
    with serve(Reply("Some words.")) as script:
        response = asyncio.run(streamed(kind, script.address, False))
    assert response.parts[0].content == "Some words."
    assert (response.usage.input_tokens, response.usage.output_tokens) == (120, 20)
    assert script.requests[0].body["stream"] is True


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
def test_a_streamed_tool_call_is_understood(kind):
    with serve(Reply(data={"path": "a.md"})) as script:
        response = asyncio.run(streamed(kind, script.address, True))
    assert response.parts[0].tool_name == "look"
    assert response.parts[0].args_as_dict() == {"path": "a.md"}


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
@pytest.mark.parametrize("cut", ["hang", "close"])
def test_a_stream_that_breaks_off_is_an_error_to_the_client(kind, cut):
    from pydantic_ai.exceptions import ModelAPIError

    with serve(Reply("Some words.", cut=cut)) as script, pytest.raises(ModelAPIError):
        asyncio.run(streamed(kind, script.address, False))


def test_replies_come_in_order_and_the_last_one_repeats():
    with serve(Reply("one"), Reply("two")) as script:
        texts = [
            asyncio.run(streamed("openai", script.address, False)).parts[0].content
            for _ in range(3)
        ]
    assert texts == ["one", "two", "two"]

"""One runner per framework: a session of prompts with its own agent loop, on a scripted API."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from memdir import Memdir

Runner = Callable[[Memdir, str, Sequence[str]], list[str]]


def run_pydantic_ai(memory: Memdir, address: str, prompts: Sequence[str]) -> list[str]:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    from memdir.integrations.pydantic_ai import memory_instructions, memory_tools, remind

    model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=f"{address}/v1", api_key="k"))
    agent = Agent(
        model,
        instructions=memory_instructions(memory),
        toolsets=[memory_tools(memory)],
        capabilities=[remind(memory)],
    )

    async def talk() -> list[str]:
        answers, history = [], None
        for prompt in prompts:
            result = await agent.run(prompt, message_history=history)
            history = result.all_messages()
            answers.append(result.output)
        return answers

    return asyncio.run(talk())


def run_openai_agents(memory: Memdir, address: str, prompts: Sequence[str]) -> list[str]:
    from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, set_tracing_disabled
    from openai import AsyncOpenAI

    from memdir.integrations.openai_agents import memory_instructions, memory_tools, remind

    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=f"{address}/v1", api_key="k")
    agent: Any = Agent(
        name="a",
        instructions=memory_instructions(memory),
        tools=memory_tools(memory),
        model=OpenAIChatCompletionsModel("m", client),
    )
    config = RunConfig(call_model_input_filter=remind(memory))

    async def talk() -> list[str]:
        answers, items = [], []
        for prompt in prompts:
            items.append({"role": "user", "content": prompt})
            result = await Runner.run(agent, items, run_config=config)
            items = result.to_input_list()
            answers.append(result.final_output)
        await client.close()
        return answers

    return asyncio.run(talk())


def run_llama_index(memory: Memdir, address: str, prompts: Sequence[str]) -> list[str]:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.memory import Memory
    from llama_index.llms.openai import OpenAI

    from memdir.integrations.llama_index import MemdirBlock, memory_tools

    llm = OpenAI(model="gpt-4o-mini", api_base=f"{address}/v1", api_key="k")
    block = MemdirBlock(memory=memory)
    agent = FunctionAgent(tools=memory_tools(memory), llm=llm, streaming=False)

    async def talk() -> list[str]:
        kept = Memory.from_defaults(session_id="s", memory_blocks=[block])
        return [str(await agent.run(prompt, memory=kept)) for prompt in prompts]

    return asyncio.run(talk())


FRAMEWORKS: dict[str, tuple[str, Runner]] = {
    "pydantic-ai": ("pydantic_ai", run_pydantic_ai),
    "openai-agents": ("agents", run_openai_agents),
    "llama-index": ("llama_index.llms.openai", run_llama_index),
}

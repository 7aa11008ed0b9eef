"""The Anthropic memory tool on a store: what the model writes is in the history, one undo away.

ANTHROPIC_API_KEY=… python examples/memory_tool.py [DIRECTORY_OF_MEMORIES] [PROMPT]
"""

import os
import sys

from anthropic import Anthropic

from memdir.memory_tool import memory_tool

MODEL = os.environ.get("MODEL", "claude-sonnet-5-5")
PROMPT = "Remember that releases are cut with make release, never by hand."


def main(arguments: list[str]) -> None:
    """Let the SDK's runner call the tool until the model has answered."""
    tool = memory_tool(dir=arguments[0] if arguments else None)
    runner = Anthropic().beta.messages.tool_runner(
        model=MODEL,
        max_tokens=1024,
        tools=[tool.runner()],
        messages=[{"role": "user", "content": arguments[1] if arguments[1:] else PROMPT}],
    )
    for message in runner:
        for block in message.content:
            if block.type == "text":
                print(block.text)
            elif block.type == "tool_use":
                print(f"[{block.name}: {block.input}]")


if __name__ == "__main__":
    main(sys.argv[1:])

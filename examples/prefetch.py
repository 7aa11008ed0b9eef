"""Recall beside a running model call: it never holds up the answer.

The model begins at once; what memory has to say is ready when the first words come, or it is left
out of this turn. With asyncio: `await memory.aio.recall(…)` beside your own tasks.

ANTHROPIC_API_KEY=… python examples/prefetch.py [DIRECTORY_OF_MEMORIES] [PROMPT]
"""

import os
import sys

from anthropic import Anthropic

from memdir.library import Memdir

MODEL = os.environ.get("MODEL", "claude-sonnet-5-5")


def plan(client: Anthropic, prompt: str) -> str:
    """The model call that runs meanwhile: what should be done, in one line."""
    asked = f"In one line, what has to be done here? {prompt}"
    with client.messages.stream(
        model=MODEL, max_tokens=200, messages=[{"role": "user", "content": asked}]
    ) as stream:
        return "".join(stream.text_stream)


def turn(client: Anthropic, memory: Memdir, prompt: str, session: str) -> str:
    """Start the recall, let the model plan, take what has come back, then act on both."""
    coming = memory.prefetch(prompt, session=session)
    planned = plan(client, prompt)
    recalled = coming.result(timeout=0)  # never waits: None if it is not ready
    told = recalled.text if recalled else ""
    return f"{told}\n\nPlan: {planned}".strip()


def main(arguments: list[str]) -> None:
    """The same prompt twice: the second time there is nothing new to tell."""
    memory = Memdir.open(dir=arguments[0] if arguments else None)
    prompt = arguments[1] if len(arguments) > 1 else "please cut the next release"
    for _ in range(2):
        print(turn(Anthropic(), memory, prompt, session="example"), end="\n\n")


if __name__ == "__main__":
    main(sys.argv[1:])

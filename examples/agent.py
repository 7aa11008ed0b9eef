"""An agent with a memory: it knows what earlier conversations taught, and learns from this one.

ANTHROPIC_API_KEY=… python examples/agent.py [DIRECTORY_OF_MEMORIES]
"""

import os
import sys
import uuid

from anthropic import Anthropic
from anthropic.types import MessageParam

from memdir.library import Memdir

MODEL = os.environ.get("MODEL", "claude-sonnet-5-5")


def turn(client: Anthropic, memory: Memdir, talk: list[MessageParam], session: str) -> str:
    """One turn: recall beside what was said, ask, answer."""
    prompt = str(talk[-1]["content"])
    recalled = memory.recall(prompt, session=session)
    # It stays in the talk for the questions that follow: no memory is told twice in a session.
    talk[-1] = {"role": "user", "content": recalled.before(prompt)}
    reply = client.messages.create(
        model=MODEL, max_tokens=1024, system=memory.prompt().text, messages=talk
    )
    text = "".join(block.text for block in reply.content if block.type == "text")
    talk.append({"role": "assistant", "content": text})
    return text


def main(where: str | None) -> None:
    """Talk until the input ends; then keep what was worth it."""
    client, memory = Anthropic(), Memdir.open(dir=where)
    talk: list[MessageParam] = []
    session = str(uuid.uuid4())
    for line in sys.stdin:
        talk.append({"role": "user", "content": line.strip()})
        print(turn(client, memory, talk, session))
        learned = memory.capture(talk, session=session)
        for one in learned.decided:
            print(f"[{one.what}: {one.name or one.reason}]")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)

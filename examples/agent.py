"""An agent loop with memory: recall runs while the agent plans, and never holds up the answer.

python examples/agent.py [DIRECTORY_OF_MEMORIES] [PROMPT]
"""

import sys
import tempfile
from pathlib import Path

from memdir import Memdir

MEMORY = """---
name: release
description: Releases are cut from main with make release, never by hand
type: feedback
---

Cut a release with `make release` on main. Never tag by hand: the changelog would miss it.
"""


def plan(prompt: str) -> str:
    """What your own agent does first; here it only repeats what it was asked."""
    return f"Plan: {prompt}"


def turn(memory: Memdir, prompt: str, session: str) -> str:
    """One turn: start the recall, work, then take what has come back."""
    coming = memory.prefetch(prompt, session=session)
    planned = plan(prompt)
    recalled = coming.result(timeout=1.0)
    told = recalled.text if recalled else ""
    return f"{told}\n{planned}" if told else planned


def main(arguments: list[str]) -> None:
    """With a directory of your own, or with one memory in a throw-away directory."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(arguments[0] if arguments else folder)
        if not arguments:
            (where / "release.md").write_text(MEMORY, encoding="utf-8")
        memory = Memdir.open(dir=str(where))
        prompt = arguments[1] if len(arguments) > 1 else "please cut the next release"
        print(memory.standing(), end="\n\n")
        for _ in range(2):  # the second time there is nothing new to tell
            print(turn(memory, prompt, session="example"), end="\n\n")


if __name__ == "__main__":
    main(sys.argv[1:])

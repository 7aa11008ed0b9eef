"""The texts of the stores that are broken: what lies there, and what operations bring."""

from __future__ import annotations

HEADER = "---\nname: {name}\ndescription: {about}\ntype: {type}\n---\n\n{body}\n"
MEMORIES = {
    "alpha.md": HEADER.format(
        name="alpha", about="first memory", type="feedback", body="Never force-push.\n" + "A" * 600
    ),
    "beta.md": HEADER.format(
        name="beta", about="second memory", type="project", body="Beta is here.\n" + "B" * 6000
    ),
    "deep/delta.md": HEADER.format(
        name="delta", about="a memory in a folder", type="reference", body="D" * 300
    ),
}
INDEX = """# Memory

Kept by hand: ask before the release branch is touched.

- [Alpha](alpha.md) — first memory
- [Beta](beta.md) — second memory
- [Delta](deep/delta.md) — a memory in a folder

<!-- the last line is mine as well -->
"""
STANDALONE = """# What I know

The staging host is called otter. Ask Kim before it is restarted.

- never on a Friday
- the log lies in /var/log/otter
"""
OUTSIDE_EDIT = MEMORIES["alpha.md"] + "\nA line added by an editor.\n"
ORPHAN = HEADER.format(name="omega", about="nobody points here", type="project", body="Omega.")
DEBRIS = ".memdir-1-dead00dead00.tmp"

CREATED = "The build needs the flag --frozen, or it fails on the second run.\n\n" + "C" * 9000
UPDATED = "Beta was moved to the second region.\n\n" + "b" * 5000
LATER = "A later memory."
ZETA = ("Zeta, the older version.", "Zeta, the newer version.\n" + "Z" * 3000)
BROUGHT = {
    "one.md": "---\nname: one\ndescription: the first of three\ntype: reference\n---\n\nOne.\n",
    "two.md": "---\nname: two\ndescription: the second of three\n---\n\n" + "Two.\n" * 900,
    "deep/three.md": "No header at all, only a line of text in a folder.\n",
}
# Lines of a person, in their order; whatever happens to the index, they stay.
BY_HAND = tuple(line for line in INDEX.splitlines() if line and not line.startswith("- ["))

# A conversation as the client writes it down, and a line of the queue.
TRANSCRIPT = ".claude/projects/-talk/s1.jsonl"
SAID = (
    "Remember that we deploy only on Tuesdays, because the release team is in then.",
    "Forget the memory about beta.",
)
REQUESTED = b'{"event":"stop","cwd":"/earlier","time":1,"tries":0}'
REQUEST = b'{"event":"stop","cwd":"/now","time":2,"tries":0,"session":"s1","transcript":"/t"}'


def transcript() -> str:
    """The lines of that conversation."""
    line = '{{"type":"user","uuid":"m{0}","cwd":"/p","timestamp":"2026-02-25T12:00:00Z",'
    line += '"message":{{"role":"user","content":"{1}"}}}}\n'
    return "".join(line.format(number, text) for number, text in enumerate(SAID))

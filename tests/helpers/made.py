"""What the tests of the evaluation are about: two small stores and prompts for them."""

from pathlib import Path

STORES = {
    "ann/shop": {
        "uv.md": (
            "feedback",
            "Install packages with uv",
            "Use uv, never pip, to install packages.",
        ),
        "deploy.md": (
            "project",
            "Deploys happen on Fridays",
            "We deploy on Friday afternoon only.",
        ),
        "stage.md": ("reference", "Address of staging", "Staging is stage.example.com."),
    },
    "bob/bees": {
        "hive.md": ("project", "Hive temperature sensors", "Sensors report honey weight hourly."),
        "queen.md": ("project", "Queen marking colours", "The queen of 2026 is marked white."),
    },
}
QUERIES = [
    {
        "id": "a1",
        "repo": "ann/shop",
        "prompt": "Install the packages for the parser with pip",
        "gold": ["uv.md"],
    },
    {
        "id": "a2",
        "repo": "ann/shop",
        "prompt": "When do we deploy to staging, on Friday afternoon?",
        "gold": ["deploy.md", "stage.md"],
    },
    {"id": "a3", "repo": "ann/shop", "prompt": "Translate the readme into Dutch", "gold": []},
    {
        "id": "b1",
        "repo": "bob/bees",
        "prompt": "Why do the hive sensors report no honey weight?",
        "gold": ["hive.md"],
    },
]


def write_store(folder: Path, memories: dict[str, tuple[str, str, str]]) -> Path:
    folder.mkdir(parents=True)
    for path, (type, description, body) in memories.items():
        head = f"---\nname: {path[:-3]}\ndescription: {description}\ntype: {type}\n---\n\n"
        (folder / path).write_text(head + body + "\n")
    lines = [f"- [{path[:-3]}]({path}) — {one[1]}\n" for path, one in memories.items()]
    (folder / "MEMORY.md").write_text("".join(lines))
    return folder

"""What the tests of the evaluation are about: two small stores and prompts for them."""

from pathlib import Path

from tests.helpers.tables import tables

STORES = tables("evals")["stores"]
QUERIES = tables("evals")["queries"]


def write_store(folder: Path, memories: dict[str, list[str]]) -> Path:
    folder.mkdir(parents=True)
    for path, (type, description, body) in memories.items():
        head = f"---\nname: {path[:-3]}\ndescription: {description}\ntype: {type}\n---\n\n"
        (folder / path).write_text(head + body + "\n")
    lines = [f"- [{path[:-3]}]({path}) — {about}\n" for path, (_, about, _) in memories.items()]
    (folder / "MEMORY.md").write_text("".join(lines))
    return folder

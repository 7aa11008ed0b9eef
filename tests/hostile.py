"""The hostile inputs beside the repository, each value built as their README says."""

import json
from pathlib import Path
from typing import Any


def value_of(value: Any) -> Any:
    """The text or bytes that a value stands for; a state of the world stays as it is described."""
    if not isinstance(value, dict):
        return value
    if "repeat" in value:
        return value["repeat"] * value["times"]
    if "join" in value:
        return "".join(value["join"])
    if "hex" in value:
        return bytes.fromhex(value["hex"])
    if "cp" in value:
        return "".join(part if isinstance(part, str) else chr(part) for part in value["cp"])
    if "nest" in value:
        before, after = value["nest"]
        return before * value["depth"] + value.get("core", "") + after * value["depth"]
    return value


def inputs(shared: Path, group: str, field: str = "") -> dict[str, Any]:
    """The values of one class, by their ids; of one field where it is named."""
    lines = (shared / "hostile/inputs.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    found = {
        row["id"]: value_of(row["value"])
        for row in rows
        if row["class"] == group and field in ("", row["field"])
    }
    assert found, f"no hostile input is of the class {group!r} and the field {field!r}"
    return found

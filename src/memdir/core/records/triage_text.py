"""What triage says: a summary for a person's eyes, and the same as data for a skill."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from memdir.core.records.scoring import Score
from memdir.core.records.settings import RecordSettings

HEADING = "memdir: this conversation may hold something worth a record:"
OPENING, CLOSING = "<triage_data>", "</triage_data>"
# A text inside the data could otherwise end it.
_BRACKETS = {ord("<"): "\\u003c", ord(">"): "\\u003e"}


def summary(triggered: Sequence[Score], settings: RecordSettings) -> str:
    """One line for each type that was triggered; empty where none was."""
    lines = []
    for one in triggered:
        line = f"- [{one.type.upper()}] score {one.score:.2f}, threshold {one.threshold:.2f}"
        description = settings.types[one.type].description
        lines.append(f"{line}: {description}" if description else line)
    return "\n".join([HEADING, *lines, ""]) if lines else ""


def triage_data(
    triggered: Sequence[Score], settings: RecordSettings, contexts: Mapping[str, str]
) -> str:
    """The data between its tags; a type whose context could not be written has no file."""
    types = []
    for one in triggered:
        said: dict[str, object] = {"category": one.type, "score": one.score}
        said["description"] = settings.types[one.type].description
        if one.type in contexts:
            said["context_file"] = contexts[one.type]
        types.append(said)
    data = json.dumps(
        {"categories": types, "parallel_config": settings.parallel._asdict()}, indent=2
    )
    return f"{OPENING}\n{data.translate(_BRACKETS)}\n{CLOSING}\n"


def triage_text(
    triggered: Sequence[Score], settings: RecordSettings, contexts: Mapping[str, str]
) -> str:
    """Both; empty where nothing was triggered."""
    if not triggered:
        return ""
    return f"{summary(triggered, settings)}\n{triage_data(triggered, settings, contexts)}"

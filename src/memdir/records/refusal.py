"""Refusals in the form that agents read."""

from __future__ import annotations

from memdir.errors import MemdirError

VALIDATION, MERGE, ANTI_RESURRECTION = "VALIDATION_ERROR", "MERGE_ERROR", "ANTI_RESURRECTION_ERROR"
OCC_CONFLICT, PATH, SECURITY = "OCC_CONFLICT", "PATH_ERROR", "SECURITY_ERROR"
INPUT, READ, OVERWRITE = "INPUT_ERROR", "READ_ERROR", "CREATE_OVERWRITE_ERROR"
LOCK_TIMEOUT = "LOCK_TIMEOUT_ERROR"
ACTION_CODES = {
    action: f"{action.upper()}_ERROR"
    for action in ("create", "update", "delete", "archive", "unarchive", "restore")
}
# The code of each in the error object of `memdir --json`.
CODES = {
    VALIDATION: "bad_input",
    MERGE: "bad_input",
    ANTI_RESURRECTION: "refused",
    OCC_CONFLICT: "conflict",
    PATH: "bad_input",
    SECURITY: "refused",
    INPUT: "bad_input",
    READ: "missing",
    OVERWRITE: "refused",
    LOCK_TIMEOUT: "busy",
    **dict.fromkeys(ACTION_CODES.values(), "refused"),
}
MAX_FACT_CHARACTERS = 300  # of a value in an error


class RecordError(MemdirError):
    """A refusal about a record; nothing was written."""

    def __init__(
        self,
        record_code: str,
        message: str,
        *,
        facts: tuple[tuple[str, str], ...] = (),
        fix: str = "",
        path: str = "",
        ours: bytes = b"",
        theirs: bytes = b"",
    ) -> None:
        super().__init__(message, path=path, next=fix)
        self.record_code = record_code
        self.code = CODES[record_code]
        self.facts = facts
        self.fix = fix
        self.ours = ours  # both texts of a conflict, so that neither is lost
        self.theirs = theirs


def form(error: RecordError) -> str:
    """Lines for scripts: the code, `key: value` lines, `fix:` last."""
    facts = [("problem", error.message), *error.facts]
    if error.path and "target" not in dict(facts):
        facts.insert(1, ("target", error.path))
    if error.fix:
        facts.append(("fix", error.fix))
    lines = [error.record_code]
    for key, value in facts:
        # One line without control characters: a draft's value must not look like another line.
        kept = [char if char.isprintable() else " " for char in value[: 2 * MAX_FACT_CHARACTERS]]
        line = " ".join("".join(kept).split())
        cut = line[: MAX_FACT_CHARACTERS - 1] + "…"
        lines.append(f"{key}: {line if len(line) <= MAX_FACT_CHARACTERS else cut}")
    return "\n".join(lines)

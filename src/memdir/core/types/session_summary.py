"""Where a session stopped."""

from memdir.core.types import Type

TYPE = Type(
    name="session_summary",
    title="Session summary",
    purpose="Where a session stopped, so that the next one can go on.",
    when_to_save="At the end of a session that left something done, open or blocked.",
    how_to_use="Read the newest one to resume; the older ones only tell how it came to this.",
    body="Goal, outcome, what was completed, in progress and blocked, next actions, key changes.",
    scope="private",
    scope_lean="Private: it is one person's place in the work.",
    half_life_days=14,
    section="Sessions",
    record=True,
    example=(
        "Moved the parser to the new header format; two tests still fail on CRLF files; next: "
        "the writer."
    ),
)

"""A type of your own: copy this file to ~/.config/memdir/types/, then `memdir types incident`."""

from memdir.core.types import Type

TYPE = Type(
    name="incident",
    title="Incident",
    purpose="What broke in production, what it was, and how it was mended.",
    when_to_save="After an outage, when the cause is known.",
    how_to_use="Read it before touching the same part, and when the same alarm rings again.",
    body="What was seen, the cause, the cure, and how to notice it earlier.",
    scope="team",
    scope_lean="Team: the next one on call needs it.",
    half_life_days=120,
    section="Incidents",
    example="Checkout hung on 2026-02-11: the pool of database connections was one too small.",
)

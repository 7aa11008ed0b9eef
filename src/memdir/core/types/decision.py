"""What was chosen, and over what."""

from memdir.core.types import Type

TYPE = Type(
    name="decision",
    title="Decision",
    purpose="A choice that was made, the reason, and what was turned down.",
    when_to_save="When an option is picked over others for a reason that the code cannot show.",
    how_to_use="Build on it; to depart from it, name the reason that no longer holds.",
    body=(
        "Status, context, the decision, the alternatives with why they lost, the rationale, the "
        "consequences."
    ),
    scope="team",
    scope_lean="Team: a choice binds everyone.",
    half_life_days=365,
    section="Decisions",
    record=True,
    example=(
        "SQLite instead of PostgreSQL for the local catalog, because nobody should have to run "
        "a server."
    ),
)

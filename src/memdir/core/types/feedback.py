"""How the user wants the work done."""

from memdir.core.types import Type

TYPE = Type(
    name="feedback",
    title="Feedback",
    purpose="How to work here: what the user corrected, and what they approved of.",
    when_to_save=(
        "When the user corrects you, and as much when an unusual choice of yours is "
        "accepted or praised. "
        "Keeping corrections only makes you timid and lets you drift from what already worked."
    ),
    how_to_use=(
        "Follow it without being told twice; let the reason decide the cases that the rule did "
        "not foresee."
    ),
    body=(
        "The rule first, then a line `**Why:**` with the reason, then a line `**How to "
        "apply:**` with when and where."
    ),
    scope="private or team",
    scope_lean="Private, unless it is a convention that everyone in the project must follow.",
    half_life_days=90,
    section="Feedback",
    needs_why=True,
    example=(
        "Integration tests run against a real database.\n\n"
        "**Why:** a migration broke production although every mocked test was green.\n"
        "**How to apply:** everything under tests/integration; unit tests may use fakes."
    ),
)

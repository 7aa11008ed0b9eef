"""What was put off on purpose."""

from memdir.core.types import Type

TYPE = Type(
    name="tech_debt",
    title="Tech debt",
    purpose="Work that was put off knowingly, why, and what it costs meanwhile.",
    when_to_save="When a shortcut is taken with the intent to come back to it.",
    how_to_use="Name it when you work nearby; do not repair it unasked.",
    body=(
        "Status, priority, what was left, why it was put off, its impact, a suggested fix, when "
        "it counts as done."
    ),
    scope="team",
    scope_lean="Team: the debt is shared.",
    half_life_days=60,
    section="Tech debt",
    record=True,
    example=(
        "Retries are fixed at three because the queue has no metrics yet; make them adaptive "
        "when it has."
    ),
)

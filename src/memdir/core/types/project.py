"""What is going on in the project."""

from memdir.core.types import Type

TYPE = Type(
    name="project",
    title="Project",
    purpose="What is going on and why: goals, deadlines, decisions, incidents, who does what.",
    when_to_save=(
        "When you learn about work, a date or a motive that neither the code nor git tells. "
        "Write dates as dates."
    ),
    how_to_use=(
        "See what lies behind a request and suggest what fits; it ages fast, so check it before "
        "you rely on it."
    ),
    body=(
        "The fact or decision first, then a line `**Why:**`, then a line `**How to apply:**`. "
        "Dates as YYYY-MM-DD."
    ),
    scope="team",
    scope_lean="Team: milestones and decisions help everyone.",
    half_life_days=14,
    section="Project",
    needs_why=True,
    example=(
        "No merges to main after 2026-03-05.\n\n"
        "**Why:** the mobile team cuts its release branch that day.\n"
        "**How to apply:** hold back everything that is not urgent until the release is out."
    ),
)

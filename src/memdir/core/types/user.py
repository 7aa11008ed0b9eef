"""Who the user is."""

from memdir.core.types import Type

TYPE = Type(
    name="user",
    title="User",
    purpose="Who you work with: role, goals, knowledge, and how they like to be talked to.",
    when_to_save=(
        "When you learn what the user does, knows well, is new to, or wants from this work."
    ),
    how_to_use=(
        "Fit explanations and choices to this person; skip what they know, spell out what they "
        "are learning."
    ),
    body=(
        "Plain sentences about the person, only as far as they help the work. Nothing that "
        "judges them."
    ),
    scope="private",
    scope_lean="Always private: a person is not the team's business.",
    half_life_days=180,
    section="User",
    example=(
        "Ten years of Go, first month with React: explain hooks by comparison with what Go does."
    ),
)

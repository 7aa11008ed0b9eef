"""How things should be done by default."""

from memdir.core.types import Type

TYPE = Type(
    name="preference",
    title="Preference",
    purpose="A convention: how a thing is done here unless there is a reason against it.",
    when_to_save="When a way of working was agreed on and is to hold from then on.",
    how_to_use=(
        "Do it this way without asking; how strongly it is meant says how much an exception needs."
    ),
    body=(
        "Topic, the preferred way, the reason, its strength, examples of what to prefer and "
        "what to avoid."
    ),
    scope="private or team",
    scope_lean="Team when it was agreed on together, else private.",
    half_life_days=365,
    section="Preferences",
    record=True,
    example="Commit messages in the imperative; the body says why. Strength: default.",
)

"""What the user holds to be better."""

from memdir.core.types import Type

TYPE = Type(
    name="value",
    title="Value",
    purpose="What the user holds to be better than what, where both would work.",
    when_to_save=(
        "When a choice between good options shows a taste that will hold in the next project too."
    ),
    how_to_use="Let it settle open questions of design and style; facts change, this seldom does.",
    body="`X over Y`, with the reason and where it stops to hold.",
    scope="private",
    scope_lean="Private: a taste is one person's; a rule for all is feedback.",
    half_life_days=365,
    section="Values",
    example=(
        "Readable over clever, also when it costs a few lines; in measured hot loops speed wins."
    ),
)

"""What cannot be changed from here."""

from memdir.core.types import Type

TYPE = Type(
    name="constraint",
    title="Constraint",
    purpose="A wall that stays: a limit, a gap, a policy or a technical boundary.",
    when_to_save=(
        "When something turned out to be impossible or forbidden and no code of ours can change "
        "that."
    ),
    how_to_use="Plan around it from the start; use the workarounds that are listed.",
    body=(
        "Kind, the rule, its impact, workarounds, severity, whether it still holds and until when."
    ),
    scope="team",
    scope_lean="Team: the wall stands in everyone's way.",
    half_life_days=365,
    section="Constraints",
    record=True,
    example="The payment API takes 10 requests a second; batch, and back off on 429.",
)

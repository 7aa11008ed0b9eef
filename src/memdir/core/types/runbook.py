"""How a failure that comes back is handled."""

from memdir.core.types import Type

TYPE = Type(
    name="runbook",
    title="Runbook",
    purpose="How to recognise, repair and check a failure that can come back.",
    when_to_save=(
        "When a fault outside the code was diagnosed and the way out would be needed again."
    ),
    how_to_use=(
        "When the symptoms fit, follow the steps and run the check; correct the record where "
        "reality differs."
    ),
    body="Trigger, symptoms, steps, how to verify, root cause, environment.",
    scope="team",
    scope_lean="Team: whoever is on duty needs it.",
    half_life_days=60,
    section="Runbooks",
    record=True,
    example=(
        "CI hangs at `docker pull`: the mirror's certificate expired; renew it, then rerun the job."
    ),
)

"""Where things are outside the repository."""

from memdir.core.types import Type

TYPE = Type(
    name="reference",
    title="Reference",
    purpose="Where to look: trackers, dashboards, documents and channels outside the repository.",
    when_to_save="When somebody names an outside place and what it is good for.",
    how_to_use="Go there when the question is about what it holds, instead of guessing.",
    body=(
        "The place, what is found there, and when to look. An address where there is one, never "
        "a credential."
    ),
    scope="team",
    scope_lean="Team: everyone looks in the same places.",
    half_life_days=60,
    section="Reference",
    example=(
        "Bugs of the ingest pipeline are tracked in the Linear project INGEST, not in GitHub "
        "issues."
    ),
)

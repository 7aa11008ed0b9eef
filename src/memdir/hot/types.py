"""The types of memory, one file each: adding a type is adding a file with a `TYPE`."""


class Type:
    """What a kind of memory is for; the texts speak to a model and to a person alike."""

    __slots__ = (
        "body",
        "example",
        "half_life_days",
        "how_to_use",
        "name",
        "needs_why",
        "purpose",
        "record",
        "scope",
        "scope_lean",
        "section",
        "title",
        "when_to_save",
    )

    def __init__(
        self,
        *,
        name: str,
        title: str,
        purpose: str,
        when_to_save: str,
        how_to_use: str,
        body: str,
        scope: str,
        scope_lean: str,
        half_life_days: int,
        section: str,
        example: str,
        needs_why: bool = False,
        record: bool = False,
    ) -> None:
        self.name = name
        self.title = title
        self.purpose = purpose
        self.when_to_save = when_to_save
        self.how_to_use = how_to_use
        self.body = body
        # private: never shared · private or team: private unless meant for all · team: shared
        self.scope = scope
        self.scope_lean = scope_lean
        self.half_life_days = half_life_days
        self.section = section
        self.example = example
        self.needs_why = needs_why
        self.record = record

    def __repr__(self) -> str:
        return f"Type({self.name!r})"


UNKNOWN = Type(
    name="unknown",
    title="Unknown",
    purpose="A memory whose header names no type that we know; its text counts all the same.",
    when_to_save="Never on purpose: choose one of the other types.",
    how_to_use="Read it with care and give it a type when you next edit it.",
    body="Free text.",
    scope="private",
    scope_lean="Private until somebody gives it a type.",
    half_life_days=30,
    section="Other",
    example="",
)

# What cannot be changed from here.

CONSTRAINT_TYPE = Type(
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


# What was chosen, and over what.

DECISION_TYPE = Type(
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


# How the user wants the work done.

FEEDBACK_TYPE = Type(
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


# How things should be done by default.

PREFERENCE_TYPE = Type(
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


# What is going on in the project.

PROJECT_TYPE = Type(
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


# Where things are outside the repository.

REFERENCE_TYPE = Type(
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


# How a failure that comes back is handled.

RUNBOOK_TYPE = Type(
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


# Where a session stopped.

SESSION_SUMMARY_TYPE = Type(
    name="session_summary",
    title="Session summary",
    purpose="Where a session stopped, so that the next one can go on.",
    when_to_save="At the end of a session that left something done, open or blocked.",
    how_to_use="Read the newest one to resume; the older ones only tell how it came to this.",
    body="Goal, outcome, what was completed, in progress and blocked, next actions, key changes.",
    scope="private",
    scope_lean="Private: it is one person's place in the work.",
    half_life_days=14,
    section="Sessions",
    record=True,
    example=(
        "Moved the parser to the new header format; two tests still fail on CRLF files; next: "
        "the writer."
    ),
)


# What was put off on purpose.

TECH_DEBT_TYPE = Type(
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


# Who the user is.

USER_TYPE = Type(
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


# What the user holds to be better.

VALUE_TYPE = Type(
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


OURS = {
    type.name: type
    for type in (
        CONSTRAINT_TYPE,
        DECISION_TYPE,
        FEEDBACK_TYPE,
        PREFERENCE_TYPE,
        PROJECT_TYPE,
        REFERENCE_TYPE,
        RUNBOOK_TYPE,
        SESSION_SUMMARY_TYPE,
        TECH_DEBT_TYPE,
        USER_TYPE,
        VALUE_TYPE,
    )
}
_own: dict[str, Type] = {}  # what a user has added


def names() -> tuple[str, ...]:
    """Every type's name in alphabetical order."""
    return tuple(sorted({*OURS, *_own}))


def get(name: str) -> Type:
    """The type of that name; UNKNOWN for a name that is no type."""
    return OURS.get(name) or _own.get(name) or UNKNOWN


def use(own: dict[str, Type]) -> None:
    """The user's own types beside ours, replacing those given before; ours keep their names."""
    _own.clear()
    _own.update((name, type) for name, type in own.items() if name not in OURS)

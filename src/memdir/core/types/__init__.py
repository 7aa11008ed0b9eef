"""The types of memory, one file each: adding a type is adding a file with a `TYPE`."""

import os


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

_names: list[str] = []
_loaded: dict[str, Type] = {}  # two hundred memories ask for the same few types
_own: dict[str, Type] = {}  # what a user has added


def names() -> tuple[str, ...]:
    """Every type's name in alphabetical order, from the file names: no member is imported."""
    if not _names:
        files = os.listdir(__path__[0])
        ours = {f[:-3] for f in files if f.endswith(".py") and f[0] != "_"}
        _names.extend(sorted(ours.union(_own)))
    return tuple(_names)


def get(name: str) -> Type:
    """The type of that name, importing this one member; UNKNOWN for a name that no file has."""
    found = _loaded.get(name)
    if found is not None:
        return found
    if name in _own:
        return _own[name]
    # Asked before importing, so that a name from a header cannot import anything else.
    if name not in names():
        return UNKNOWN
    member: Type = __import__(f"{__name__}.{name}", fromlist=["TYPE"]).TYPE
    _loaded[name] = member
    return member


def use(own: dict[str, Type]) -> None:
    """These beside ours from now on, in place of those that were given before."""
    if own or _own:
        _own.clear()
        _names.clear()
        ours = names()
        _own.update((name, one) for name, one in own.items() if name not in ours)
        _names.clear()

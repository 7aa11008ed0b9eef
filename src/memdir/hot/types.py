"""The types of memory: ours stand in types.txt, a user adds a file with a `TYPE`."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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


def _read_types(path: str) -> dict[str, Type]:
    with open(path, encoding="utf-8") as file:
        blocks = file.read().replace("\\n", "\0").split("\n[")[1:]
    types = {}
    for block in blocks:
        head, *lines = block.strip().split("\n")
        fields: dict[str, Any] = {
            key: value.replace("\0", "\n")
            for key, _, value in (line.partition(": ") for line in lines)
        }
        fields["name"] = head.rstrip("]")
        fields["half_life_days"] = int(fields["half_life_days"])
        fields |= {key: key in fields for key in ("needs_why", "record")}
        types[fields["name"]] = Type(**{"example": "", **fields})
    return types


OURS = _read_types(__file__.rpartition("/")[0] + "/types.txt")
UNKNOWN = OURS.pop("unknown")  # a memory whose header names no type that we know
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

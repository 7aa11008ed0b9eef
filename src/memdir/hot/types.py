"""The types of memory: built-in ones are in types.txt, users add files with a `TYPE`."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Type:
    name: str
    title: str
    purpose: str
    when_to_save: str
    how_to_use: str
    body: str
    scope: str  # `private`, `private or team` (private unless meant for all), or `team`
    scope_lean: str
    half_life_days: int
    section: str
    example: str
    needs_why: bool = False
    record: bool = False

    def __init__(self, **fields: "Any") -> None:
        known = self.__class__.__annotations__
        missing = [name for name in known if name not in fields and not hasattr(Type, name)]
        odd = [name for name in fields if name not in known]
        if missing or odd:
            raise TypeError(f"fields of a type: missing {missing}, not known {odd}")
        self.__dict__.update(fields)

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
UNKNOWN = OURS.pop("unknown")  # type of a memory whose header names no known type
_own: dict[str, Type] = {}  # the user's own types


def names() -> tuple[str, ...]:
    return tuple(sorted({*OURS, *_own}))


def get(name: str) -> Type:
    return OURS.get(name) or _own.get(name) or UNKNOWN


def use(own: dict[str, Type]) -> None:
    _own.clear()
    _own.update((name, type) for name, type in own.items() if name not in OURS)

"""Pure functions on text: Markdown, dates, secrets, likeness, merge, how a terminal shows it."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

# Words that change little about what a sentence says.
_FILLERS = (
    "a am an the is are was were be been of to in on at by for from with and or as that this these"
    " it its we we're our you your i me my who please always just also really very only all any"
    " every each should must will would can has have remember note now so then there here"
)
FILLERS = frozenset(_FILLERS.split())


class _Pattern:
    """Compiled on first use: most commands need few patterns, hooks none."""

    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> object:
        import re

        value = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, value)
        return value


def pattern(text: str, flags: int = 0) -> "re.Pattern[str]":
    return _Pattern(text, flags)  # type: ignore[return-value]

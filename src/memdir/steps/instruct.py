"""instruct: tell an agent how to use its memory, with or without its indexes. Hot path."""

from memdir.core import prompting, types
from memdir.core.prompting import Setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PRIVATE = "private"  # the scope of a type that is nobody else's business
# Beside this file in a checkout, in an installed package and in a plugin's folder alike;
# importlib.resources would cost more than everything else here.
WORDS = __file__.rpartition("/")[0] + "/prompts/behaviour.md"


def instruct(
    setting: Setting,
    indexes: "Sequence[tuple[str, str]] | None" = None,
    *,
    nonce: str = "",
    limit: int = 0,
) -> str:
    """The prompt for this setting; `indexes` are pairs of a path and a text, None leaves them out.

    With a `limit` (UTF-16 units) the indexes get what the words leave of it.
    """
    with open(WORDS, encoding="utf-8") as file:
        words = file.read()
    # Records have a store of their own, whose types are chosen when it is written.
    known = [one for one in map(types.get, types.names()) if not one.record]
    if prompting.SHARED in setting.holds():  # what is personal has no place where others read
        known = [one for one in known if one.scope != PRIVATE]
    if indexes is None:
        return prompting.behaviour(words, known, setting)
    return prompting.with_indexes(words, known, setting, indexes, nonce, limit)

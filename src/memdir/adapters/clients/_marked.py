"""Words of ours in somebody's Markdown, between two marks; all else keeps its bytes."""

from __future__ import annotations

from memdir.adapters.clients._files import read_file, target_of
from memdir.adapters.clients._ours import BEGIN, END, WORDS
from memdir.adapters.clients._plan import ByHand, Edit, Insertion, UnsafeEdit
from memdir.adapters.clients._receipt import Placed, Receipt, cut

AS_IT_WAS = "take out by hand what stands between the marks of memdir"


def marked_edit(path: str, receipt: Receipt, remove: bool, words: str = WORDS) -> Edit:
    """The file with the words at its end, or without them."""
    target = target_of(path)
    placed = Placed(path, target, read_file(target), receipt.kept(path))
    try:
        return _edit(placed, remove, words)
    except UnsafeEdit as error:
        lines = "" if remove else f"{BEGIN}\n{words}{END}"
        next = (
            AS_IT_WAS if remove else "mend the file and run the command again, or add these lines"
        )
        message = f"{path} is left as it is: {error.problem}"
        raise ByHand(message, path=path, next=next, lines=lines) from None


def _edit(placed: Placed, remove: bool, words: str) -> Edit:
    text = placed.text
    clean = _without(placed)
    created = bool(placed.kept and placed.kept.created)
    before = None if placed.old is None or (created and not clean.strip()) else clean.encode()
    if remove:
        return placed.edit(before, (), before)
    newline = "\r\n" if "\r\n" in clean else "\n"
    block = f"{BEGIN}\n{words}{END}\n".replace("\n", newline)
    if placed.old is not None and block in text:
        return placed.edit(placed.old, (), before)  # wherever somebody has moved it
    gap = newline if clean.endswith("\n") or not clean else newline * 2
    added = Insertion(len(clean), (gap if clean else "") + block)
    return placed.edit((clean + added.text).encode(), (added,), before)


def _without(placed: Placed) -> str:
    """The text as it was: byte for byte, or where somebody changed it, without what is marked."""
    text, kept = placed.text, placed.kept
    if kept and kept.insertions:
        before = cut(text, list(kept.insertions))
        if before is not None and BEGIN not in before:
            return before
    if text.count(BEGIN) != text.count(END) or text.count(BEGIN) > 1:
        raise UnsafeEdit("the marks of memdir in it do not belong together")
    start, end = text.find(BEGIN), text.find(END)
    if start < 0:
        return text
    if end < start:
        raise UnsafeEdit("the marks of memdir in it are in the wrong order")
    after = text[end + len(END) :]
    for newline in ("\r\n", "\n"):
        if after.startswith(newline):
            after = after[len(newline) :]
            break
    head = text[:start]
    if not after and head.endswith(("\n\n", "\r\n\r\n")):
        head = head[: -2 if head.endswith("\r\n") else -1]  # the line that parted us from it
    return head + after

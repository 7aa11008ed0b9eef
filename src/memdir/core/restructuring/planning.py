"""The plan of a restructuring: a pass over the store, repeated until nothing is left to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memdir.core import index as index_text
from memdir.core.check import Check
from memdir.core.contradiction import find_contradictions
from memdir.core.drafting import WHY
from memdir.core.outline import Line, read_outline, write_outline
from memdir.core.restructuring import (
    bodies,
    checklist,
    contents,
    inview,
    pieces,
    pointers,
    sections,
)
from memdir.core.restructuring.bodies import heading_text
from memdir.core.restructuring.checklist import Figures
from memdir.core.restructuring.dating import mark_unknown, write_dates
from memdir.core.restructuring.guessing import FEEDBACK
from memdir.core.restructuring.headers import add_headers
from memdir.core.restructuring.ideas import Ideas, take_ideas
from memdir.core.restructuring.knowledge import Lost, find_lost
from memdir.core.restructuring.known import Known
from memdir.core.restructuring.merging import merge_alike, propose_alike, retiring
from memdir.core.restructuring.sections import (
    close_gaps,
    first_things_first,
    orphans,
    place,
    reread,
)
from memdir.core.restructuring.splitting import split_overlong
from memdir.core.restructuring.titles import is_generic
from memdir.core.restructuring.topics import Placed, make_topics, topics
from memdir.core.restructuring.work import MOVED, Given, Proposal, Work, begin

MOST_PASSES = 4  # what one pass makes too long, the next one splits; then it rests


@dataclass(frozen=True)
class Plan:
    """What a restructuring would write, and everything there is to say about it.

    `texts` are the new and changed files, `gone` those that were merged away, `index` the new
    index or None where it stays.
    """

    before: Figures
    after: Figures
    texts: Mapping[str, str]
    gone: tuple[str, ...]
    index: str | None
    checks: tuple[Check, ...]
    lost: tuple[Lost, ...]
    work: Work
    reasons: Mapping[str, str] = field(default_factory=dict)  # path -> what was done to it
    batch: str = ""

    @property
    def title(self) -> str:
        """The plan in a few words, for the history."""
        made = sum(1 for path in self.texts if path not in self.work.given.pages)
        parts = [(made, "new"), (len(self.texts) - made, "changed"), (len(self.gone), "merged")]
        return ", ".join(f"{number} {what}" for number, what in parts if number) or "the index"

    @property
    def nothing(self) -> bool:
        """Is all well already?"""
        return not self.texts and not self.gone and self.index is None


def plan(given: Given, ideas: Ideas | None = None) -> Plan:
    """Restructure the store on paper."""
    work = begin(given)
    before = checklist.count(work)
    for _ in range(MOST_PASSES):
        was = work.index, dict(work.pages)
        work.remarks.clear()
        _pass(work, ideas or Ideas())
        if (work.index, work.pages) == was:
            break
    mark_unknown(work)
    _remark_reasons(work)
    _remark_files(work)
    _propose(work)
    old, new = _texts(given), {path: page.text for path, page in work.pages.items()}
    kept = {given.index_path: work.index} | ({"README.md": given.readme} if given.readme else {})
    lost = tuple(find_lost(old, new | kept, work.accounted))
    after = checklist.count(work)
    texts = {path: text for path, text in new.items() if old.get(path) != text}
    return Plan(
        before=before,
        after=after,
        texts=texts,
        gone=tuple(sorted(set(given.pages) - set(new))),
        index=work.index if work.index != given.index.text else None,
        checks=tuple(checklist.check(work, after, lost)),
        lost=lost,
        work=work,
        reasons=_reasons(work),
    )


def _pass(work: Work, ideas: Ideas) -> None:
    """Out of the index, in parts, with headers and dates, each thing once; then the pointers."""
    given = work.given
    bom, lines, taken = _taken(work)
    end = (lines[0].end if lines else "") or "\n"
    hooks = pointers.hooks_of(work, work.index, given.readme)
    title = heading_text(lines[taken.title].text) if taken.title >= 0 else ""
    title = "" if is_generic(title) else title
    known = Known(work)
    own = [piece for piece in taken.pieces if not piece.target]
    whole = [piece for piece in own if not known.took(piece.heading, piece.lines)]
    placed = make_topics(work, topics(whole, title))
    for piece in taken.pieces:
        if piece.target in work.pages and piece.target:
            work.append(piece.target, "\n".join(piece.lines))
            work.say(MOVED, piece.target, "took what hung below its line in the index")
    pointers.mend(work, lines, taken.gone)
    pointers.once(work, lines, taken.gone)
    add_headers(work, hooks)
    parts = [(Placed(part, hooks.get(of, ("", ""))[1], 0), of) for part, of in split_overlong(work)]
    write_dates(work)
    pointers.shorten(work, lines, taken.gone)
    merge_alike(work, ideas.merges)
    take_ideas(work, ideas)
    pieces.asides_as_comments(lines, taken.asides)
    text = write_outline(bom, close_gaps(lines, taken.gone))
    text = _without_lost(work, text)
    text = contents.without_anchors(work, text) if own else text
    bom, lines = reread(work, text)
    placed = _in_order(placed, orphans(work, text), parts)
    work.index = first_things_first(work, place(work, lines, bom, placed, end))


def _taken(work: Work) -> tuple[str, list[Line], pieces.Taken]:
    """The lines of the index, and what goes out of it; its headings with `#` where any goes."""
    fits = not any(index_text.over_limit(work.index))
    for text in (bodies.with_marks(work.index), work.index):
        bom, lines = read_outline(text, sections.lookup(work.pages, work.names()))
        kept = inview.in_view(lines) if fits else set()
        taken = pieces.take_out(lines, kept)
        if taken.pieces:
            break
    if kept:
        heads = [heading_text(lines[at].text) for at in sorted(kept) if lines[at].level]
        work.remarks.append(
            f'"{heads[0]}" stays in the index: it says that agents must always see it'
        )
    return bom, lines, taken


def _in_order(
    placed: list[Placed], lonely: list[Placed], parts: list[tuple[Placed, str]]
) -> list[Placed]:
    """New memories as they stood in the index, then the lonely ones; parts after their whole."""
    split = {part.path for part, _ in parts}
    known = {one.path for one in placed} | split
    every = placed + [one for one in lonely if one.path not in known]
    found: list[Placed] = []
    for one in every:
        found += [one, *(part for part, of in parts if of == one.path)]
    named = {one.path for one in found}
    return found + [part for part, _ in parts if part.path not in named]


def _without_lost(work: Work, text: str) -> str:
    """The index without the lines of memories that were merged into others."""
    merged = {path for path in work.given.pages if path not in work.pages}
    if not merged:
        return text
    bom, lines = read_outline(text, sections.lookup({**work.given.pages, **work.pages}, {}))
    gone: set[int] = set()
    for at, line in enumerate(lines):
        if line.entry and len(line.paths) == 1 and line.paths[0] in merged:
            hook = line.pointers[0].hook
            goes = str(line.paths[0])
            stays = next((one.path for one in work.made if f"took in {goes} " in one.what), "")
            if stays in work.pages:
                pointers.keep_hook(work, stays, hook)
                work.account(work.given.index_path, line.text, f"{goes} is part of {stays} now")
                gone.add(at)
    return write_outline(bom, close_gaps(lines, gone)) if gone else text


def _propose(work: Work) -> None:
    """What only a person can decide: memories that the code contradicts, or each other."""
    for path, evidence in work.given.stale.items():
        if path in work.pages and evidence:
            what = "retire or correct"
            work.proposals.append(Proposal(path, what, tuple(evidence), retiring(path)))
    texts = {path: page.text for path, page in work.pages.items()}
    work.contradictions = find_contradictions(texts)
    propose_alike(work)


def _remark_reasons(work: Work) -> None:
    """New rules without a reason; we do not make one up."""
    bare = [
        path
        for path, page in work.pages.items()
        if path not in work.given.pages
        and work.memory(path).type == FEEDBACK
        and WHY.lower() not in page.text.lower()
    ]
    if bare:
        more = f" and {len(bare) - 3} more" if len(bare) > 3 else ""
        what = f"no reason ({WHY.strip('*:')}) stands in {', '.join(bare[:3])}{more}"
        work.remarks.append(f"{what}; add it if you know it: memdir edit NAME --why")


def _remark_files(work: Work) -> None:
    """Files without a word, and new memories of which nobody knows the day."""
    if work.given.empty:
        more = f" and {len(work.given.empty) - 3} more" if len(work.given.empty) > 3 else ""
        what = ", ".join(work.given.empty[:3]) + more
        work.remarks.append(f"nothing stands in {what}: left alone")
    new = [path for path in work.pages if path not in work.given.pages]
    for path in new:
        if inview.asks_to_stay(work.pages[path].document.body.strip().split("\n")):
            what = "says that agents must always see it, but the index was full"
            work.remarks.append(f"{path} {what}")
    if new and work.given.index.text and not work.given.index.dated:
        work.remarks.append(
            "new memories bear no date: the files have the time of a checkout or a copy"
        )


def _texts(given: Given) -> dict[str, str]:
    texts = {path: page.text for path, page in given.pages.items()}
    return texts | ({given.index_path: given.index.text} if given.index.text else {})


def _reasons(work: Work) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for one in work.made:
        found.setdefault(one.path, []).append(one.what)
    return {path: "; ".join(dict.fromkeys(said)) for path, said in found.items()}

"""The sequence: plan on paper, carry out."""

from __future__ import annotations

import datetime
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from memdir.audit.disagree import find_contradictions
from memdir.claims.claim import STALE
from memdir.claims.verify import verify
from memdir.errors import KnowledgeAtRisk, MemdirError
from memdir.format import index
from memdir.format.draft import CREATED, RETIRED, UPDATED, WHY, Change, hash_of, style_of
from memdir.format.outline import BLANK, ELSEWHERE, HEADING, Line, read_outline, write_outline
from memdir.hot import memory, safe
from memdir.hot.memory import CREATED_KEYS, INDEX, MODIFIED_KEYS, README, encode, stem
from memdir.models.ledger import open_model
from memdir.store.keep_index import Targets
from memdir.store.look import gather
from memdir.store.ports import TRASH, Shelf, Store
from memdir.store.writer import App, Desk, Done
from memdir.text import prose
from memdir.text.dates import make_absolute
from memdir.text.prose import heading_text, headings
from memdir.upkeep import pieces, pointers, proof
from memdir.upkeep.ideas import Ideas, propose, take_ideas
from memdir.upkeep.pointers import close_gaps, first_things_first, orphans, place, reread
from memdir.upkeep.proof import Figures
from memdir.upkeep.split import Known, merge_alike, propose_alike, retiring, split_overlong
from memdir.upkeep.titles import FEEDBACK, is_generic
from memdir.upkeep.topics import Placed, add_headers, make_topics, topics
from memdir.upkeep.worksheet import (
    DATED,
    DROPPED,
    MOVED,
    Check,
    Given,
    Lost,
    Page,
    Proposal,
    Work,
    begin,
    find_lost,
)

# A table of contents in the index: lines that lead to headings which are gone go as well.

_ANCHOR = re.compile(
    r"\s{0,40}(?:[-*+]|\d{1,3}[.)])\s{1,4}\[[^\[\]]{1,200}\]\(#([^()\s]{1,200})\)\s*"
)


def without_anchors(work: Work, text: str) -> str:
    """The index without such lines, nor the heading that stood above nothing else."""
    bom, lines = reread(work, text)
    there = {_anchor(heading_text(line.text)) for line in lines if line.kind == HEADING}
    gone = {
        at
        for at, line in enumerate(lines)
        if line.kind == ELSEWHERE
        and (found := _ANCHOR.fullmatch(line.text))
        and found[1].lower() not in there
    }
    if not gone:
        return text
    gone |= _bare_headings(lines, gone)
    for at in sorted(gone):
        reason = "the heading it leads to is a memory now"
        work.account(work.given.index_path, lines[at].text, reason)
    what = "lines of the table of contents whose headings are memories now"
    work.say(DROPPED, work.given.index_path, what)
    return write_outline(bom, close_gaps(lines, gone))


def _bare_headings(lines: list[Line], gone: set[int]) -> set[int]:
    """Headings below which only such lines stood."""
    found = set()
    for at, line in enumerate(lines):
        if line.kind != HEADING or line.level < 2:
            continue
        end = next((to for to in range(at + 1, len(lines)) if lines[to].level), len(lines))
        filled = [to for to in range(at + 1, end) if lines[to].kind != BLANK]
        if filled and all(to in gone for to in filled):
            found.add(at)
    return found


def _anchor(heading: str) -> str:
    """A heading as a link names it."""
    kept = "".join(char for char in heading.lower() if char.isalnum() or char in " -_")
    return kept.strip().replace(" ", "-")


# Relative dates made absolute by the date of the memory they stand in.

SOME_DAY = datetime.date(2000, 1, 3)  # to see whether there is anything to write out
# "## Session 2026-03-04": what stands below was written on that day.
_SESSION = re.compile(
    r"(?:(?:session|log|diary|journal|meeting|notes?|entry)\b[^0-9]{0,30})?"
    r"(?P<day>(?:19|20)\d\d-\d\d-\d\d)\b[^0-9]{0,60}",
    re.IGNORECASE,
)
_ISO_DAY = re.compile(r"\b(?:19|20)\d\d-\d\d-\d\d\b")
UNKNOWN_DAY = "metadata.day_unknown"  # relative dates in there count from no day that we know


def write_dates(work: Work) -> None:
    """What surely happened on a day; habits, rules and whatever is unsure keep their words."""
    unknown: list[str] = []
    unsure: list[str] = []
    for path in sorted(work.pages):
        page = work.pages[path]
        day = day_of(page)
        document = page.document
        body, left = make_absolute(document.body, day or SOME_DAY, events=True)
        said = document.get("description")
        description, _ = make_absolute(said, day or SOME_DAY, events=True)
        if left and make_absolute(body, day or SOME_DAY)[0] != body:
            unsure.append(path)
        if (body, description) == (document.body, said):
            continue
        if day is None:
            unknown.append(path)
            continue
        _account(work, path, document.body, body, day)
        text = page.text[: len(page.text) - len(document.body)] + body
        if description != said:
            work.account(path, f"description: {said}", f"dates by {day}: {description}")
            text = memory.edit(memory.read(text), "description", description).text
        work.write(path, text)
        work.say(DATED, path, f"dates written out, counted from {day}")
    if unknown:
        what = _named(unknown)
        work.remarks.append(f"relative dates stay in {what}: nobody knows the day they count from")
    if unsure:
        what = _named(unsure)
        work.remarks.append(f"words like Friday or today stay in {what}: a habit, or one day?")


def _named(paths: list[str]) -> str:
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return ", ".join(paths[:3]) + more


def mark_unknown(work: Work) -> None:
    """Say in a file that we rewrite, and whose day nobody knows, that its time is no date."""
    for path, page in work.pages.items():
        if page == work.given.pages.get(path) or page.dated or day_of(page):
            continue
        document = page.document
        if UNKNOWN_DAY in document.values or document.lines is None:
            continue
        if make_absolute(page.text, SOME_DAY, events=True)[0] != page.text:
            text = memory.edit(document, UNKNOWN_DAY, "true").text
            work.pages[path] = Page(text, page.clock, page.dated)


def day_of(page: Page) -> datetime.date | None:
    """The one day on which a memory was written, where that is certain."""
    document = page.document
    told = [safe.parse_time(document.get(*keys)) for keys in (CREATED_KEYS, MODIFIED_KEYS)]
    days = {safe.iso_day(moment) for moment in told if moment is not None}
    if not days and page.dated and UNKNOWN_DAY not in document.values:
        days = {safe.iso_day(page.clock)}
    days = days or _session_days(document.body)
    return datetime.date.fromisoformat(days.pop()) if len(days) == 1 else None


def _session_days(body: str) -> set[str]:
    """The day that the headings name, where all of the text stands below one such heading."""
    lines = body.split("\n")
    told = [heading_text(lines[at]) for at, _ in headings(lines)]
    named = {day for text in told for day in _ISO_DAY.findall(text)}
    first = _SESSION.fullmatch(told[0]) if told else None
    if first is None or named != {first["day"]} or safe.parse_time(first["day"]) is None:
        return set()
    return named


def _account(work: Work, path: str, old: str, new: str, day: datetime.date) -> None:
    """Each line that changed, with the line it is now; a phrase may run over a line's end."""
    before, after = old.split("\n"), new.split("\n")
    if len(before) != len(after):
        kept = set(after)
        for line in before:
            if line not in kept:
                work.account(path, line, f"dates by {day}")
        return
    for was, now in zip(before, after, strict=True):
        if was != now:
            work.account(path, was, f"dates by {day}: {now.strip()}")


# The plan of a restructuring: a pass over the store, repeated until nothing is left to do.

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
    before = proof.count(work)
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
    after = proof.count(work)
    texts = {path: text for path, text in new.items() if old.get(path) != text}
    return Plan(
        before=before,
        after=after,
        texts=texts,
        gone=tuple(sorted(set(given.pages) - set(new))),
        index=work.index if work.index != given.index.text else None,
        checks=tuple(proof.check(work, after, lost)),
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
    text = without_anchors(work, text) if own else text
    bom, lines = reread(work, text)
    placed = _in_order(placed, orphans(work, text), parts)
    work.index = first_things_first(work, place(work, lines, bom, placed, end))


def _taken(work: Work) -> tuple[str, list[Line], pieces.Taken]:
    """The lines of the index, and what goes out of it; its headings with `#` where any goes."""
    fits = not any(index.over_limit(work.index))
    for text in (prose.with_marks(work.index), work.index):
        bom, lines = read_outline(text, pointers.lookup(work.pages, work.names()))
        kept = pieces.in_view(lines) if fits else set()
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
    bom, lines = read_outline(text, pointers.lookup({**work.given.pages, **work.pages}, {}))
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
        if pieces.asks_to_stay(work.pages[path].document.body.strip().split("\n")):
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


# Carry out the plan of a restructuring: new memories first, the index next to last.


def consolidate(plan: Plan, store: Store, shelf: Shelf, now: float) -> list[Change]:
    """Write everything that the plan changes; at no moment is a line in neither place."""
    if plan.lost:
        first = plan.lost[0]
        more = f" and {len(plan.lost) - 1} more" if len(plan.lost) > 1 else ""
        raise KnowledgeAtRisk(
            f"{first.path}:{first.line} would be lost ({first.text.strip()[:60]!r}){more}; "
            "nothing was written",
            path=first.path,
            next="this is a mistake in memdir: please report it; nothing was changed",
        )
    known = plan.work.given.pages
    new = [path for path in sorted(plan.texts) if path not in known]
    old = [path for path in sorted(plan.texts) if path in known]
    done = [_write(plan, path, CREATED, plan.texts[path], store) for path in new]
    done += [_write(plan, path, UPDATED, plan.texts[path], store) for path in old]
    index = plan.work.given.index_path
    if plan.index is not None:
        kind = UPDATED if store.exists(index) else CREATED
        done.append(_write(plan, index, kind, plan.index, store))
    for path in plan.gone:
        data = store.read(path)
        shelf.lay(TRASH, path, data, now)
        store.drop(path)
        done.append(Change(RETIRED, stem(path), path, hash_of(data), plan.reasons.get(path, "")))
    return done


def _write(plan: Plan, path: str, kind: str, text: str, store: Store) -> Change:
    data = encode(text)
    store.put(path, data)
    return Change(kind, stem(path), path, hash_of(data), plan.reasons.get(path, ""))


# Restructuring: verify → look → (propose) → plan → consolidate; one batch, one undo.

VERB = "restructure"
SAME_MOMENT = 5.0  # seconds: files that are all this close together were copied or checked out
FEWEST_COPIED = 3  # files that tell a copy from a busy minute
NANOSECONDS = 1e9
SECONDS = 60.0  # that a model may take: nobody waits for a prompt here

ToldPlan = Callable[[Plan, Done], None]


def restructure(
    app: App,
    told: ToldPlan,
    *,
    model: bool = False,
    stale: Mapping[str, tuple[str, ...]] | None = None,
) -> Plan:
    """verify → look → (plan → propose) → plan → consolidate

    Code and model are asked before the lock is taken: others need not wait for them.
    """
    plans: list[Plan] = []
    ideas = ask_for_ideas(app, VERB) if model else Ideas()
    evidence = _stale(app) if stale is None else stale

    def act(desk: Desk) -> list[Change]:
        now = app.now()
        batch = f"{VERB}-{int(now)}"
        made = replace(plan(look(desk.store, evidence), ideas), batch=batch)
        plans.append(made)
        desk.cause = replace(desk.cause, batch=batch, name=made.title)
        desk.plan = [*made.texts, *made.gone]
        return consolidate(made, desk.store, desk.shelf, now)

    app.change(VERB, act, lambda done: told(plans[-1], done))
    return plans[-1]


def _stale(app: App) -> dict[str, tuple[str, ...]]:
    """What the code says against the memories, each claim with the reason."""
    checked = verify(app)
    found = {
        path: tuple(f"{one.claim.text}: {one.reason}" for one in judged if one.verdict == STALE)
        for path, judged in checked.memories.items()
    }
    return {path: evidence for path, evidence in found.items() if evidence}


def ask_for_ideas(app: App, purpose: str) -> Ideas:
    """What the model of the settings proposes; without one, or where it fails, the reason."""
    try:
        opened = open_model(app, purpose)
    except MemdirError as error:
        ideas = Ideas(reason=error.message)
    else:
        seconds = max(app.config.options.model_timeout, SECONDS)
        ideas = propose(plan(look(app.store, {})).work, opened, seconds)
    if ideas.reason:
        app.tell(f"done without the model: {ideas.reason}")
    return ideas


def look(store: Store, stale: Mapping[str, tuple[str, ...]]) -> Given:
    """The store as a restructuring takes it; what cannot be read is left alone."""
    files, _ = gather(store, store.files())
    index_path = store.index_path
    index = memory.decode(store.index() or b"")
    times = {path: (store.facts(path) or (0,))[0] / NANOSECONDS for path, _ in files}
    times[index_path] = (store.facts(index_path) or (0,))[0] / NANOSECONDS
    copied = _is_copied(times.values())
    every = {path: _page(data, times[path], not copied) for path, data in files}
    pages = {path: page for path, page in every.items() if page.text.strip("\ufeff \t\r\n")}
    readme = index_path == README
    samples = [(path, page.document) for path, page in pages.items()]
    scan = store.scan()
    return Given(
        pages=pages,
        index=Page("") if readme else Page(index, times[index_path], not copied),
        index_path=INDEX,
        readme=index if readme else "",
        taken=frozenset((*store.tree(), *(finding.path for finding in scan.findings))),
        gone=Targets(store).lost,
        stale=stale,
        empty=tuple(sorted(set(every) - set(pages))),
        style=style_of(samples),
    )


def _page(data: bytes, mtime: float, trusted: bool) -> Page:
    text = memory.decode(data)
    document = memory.read(text)
    told = safe.parse_time(document.get(*MODIFIED_KEYS, *CREATED_KEYS))
    return Page(text, mtime if told is None else told, trusted or told is not None)


def _is_copied(times: Collection[float]) -> bool:
    """Do most files have the time of a checkout or a copy, not of their writing?"""
    moments = sorted(moment for moment in times if moment)
    within = [
        bisect_right(moments, moment + SAME_MOMENT) - bisect_left(moments, moment - SAME_MOMENT)
        for moment in moments
    ]
    return sum(1 for near in within if near >= FEWEST_COPIED) * 2 > len(moments)

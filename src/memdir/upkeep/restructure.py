"""`memdir restructure`: verify, plan on paper, carry out; one batch, one undo."""

from __future__ import annotations

import datetime
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from memdir.claims.claim import STALE
from memdir.claims.verify import verify
from memdir.errors import KnowledgeAtRisk, MemdirError
from memdir.format import index as index_module
from memdir.format.draft import CREATED, RETIRED, UPDATED, WHY, Change, hash_of, style_of
from memdir.format.outline import BLANK, ELSEWHERE, Line, write_outline
from memdir.hot import memory, safe
from memdir.hot.memory import CREATED_KEYS, INDEX, MODIFIED_KEYS, README, encode, stem
from memdir.models.ledger import open_model
from memdir.store.look import read_files
from memdir.store.ports import TRASH, Store
from memdir.store.save import Targets
from memdir.store.writer import App, Done, Shelf
from memdir.text.dates import make_absolute
from memdir.text.markdown import heading_text, headings, level_of
from memdir.upkeep import pointers, proof
from memdir.upkeep.ideas import Ideas, ask_model, take_ideas
from memdir.upkeep.pieces import (
    Extract,
    add_headers,
    asks_to_stay,
    find_kept,
    make_topics,
    write_topics,
)
from memdir.upkeep.proof import Figures, Lost, find_lost
from memdir.upkeep.split import merge_alike, propose_alike, retire_command, split_overlong
from memdir.upkeep.titles import FEEDBACK, is_generic
from memdir.upkeep.worksheet import (
    DATED,
    MERGED,
    MOVED,
    Check,
    Given,
    Page,
    Proposal,
    Work,
    bare,
    begin,
    has_words,
    some,
)

VERB = "restructure"
MAX_PASSES = 4  # what one pass makes too long, the next one splits; then it rests
COPY_SECONDS = 5.0  # files that are all this close together were copied or checked out
MIN_COPIED_FILES = 3  # that tell a copy from a busy minute
MODEL_SECONDS = 60.0  # that a model may take: nobody waits for a prompt here
NANOSECONDS = 1e9
MIN_KNOWN_WORDS = 6  # in lines that stand in another memory by no accident
SOME_DAY = datetime.date(2000, 1, 3)  # to see whether there is anything to write out
UNKNOWN_DAY = "metadata.day_unknown"  # relative dates in there count from no day that we know
_ANCHOR = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s{1,4}\[[^\[\]]{1,200}\]\(#[^()\s]{1,200}\)\s*")
# "## Session 2026-03-04": what stands below was written on that day.
_SESSION = re.compile(
    r"(?:(?:session|log|diary|journal|meeting|notes?|entry)\b[^0-9]{0,30})?"
    r"(?P<day>(?:19|20)\d\d-\d\d-\d\d)\b[^0-9]{0,60}",
    re.IGNORECASE,
)
_ISO_DAY = re.compile(r"\b(?:19|20)\d\d-\d\d-\d\d\b")


@dataclass(frozen=True)
class Plan:
    """What a restructuring would write, and everything there is to say about it.

    `texts` are the new and changed files, `gone` those that were merged away, `index` the new
    index or None where it stays; `reasons` say what was done to each path.
    """

    before: Figures
    after: Figures
    texts: Mapping[str, str]
    gone: tuple[str, ...]
    index: str | None
    checks: tuple[Check, ...]
    lost: tuple[Lost, ...]
    work: Work
    reasons: Mapping[str, str]
    batch: str = ""

    @property
    def title(self) -> str:
        """The plan in a few words, for the history."""
        made = sum(1 for path in self.texts if path not in self.work.given.pages)
        parts = [(made, "new"), (len(self.texts) - made, "changed"), (len(self.gone), "merged")]
        return ", ".join(f"{number} {word}" for number, word in parts if number) or "the index"


def restructure(
    app: App, *, model: bool = False, stale: Mapping[str, tuple[str, ...]] | None = None
) -> tuple[Plan, Done]:
    """verify → look → (plan → ask the model) → plan → carry out

    Code and model are asked before the lock is taken: others need not wait for them.
    """
    ideas = ask_for_ideas(app, VERB) if model else Ideas()
    if stale is None:
        verdicts = verify(app).memories.items()
        stale = {
            path: tuple(f"{item.claim.text}: {item.reason}" for item in judged)
            for path, all_judged in verdicts
            if (judged := [item for item in all_judged if item.verdict == STALE])
        }
    with app.changing(VERB) as desk:
        now = app.now()
        result = make_plan(read_given(desk.store, stale), ideas)
        result = replace(result, batch=f"{VERB}-{int(now)}")
        desk.cause = replace(desk.cause, batch=result.batch, name=result.title)
        desk.plan = [*result.texts, *result.gone]
        desk.changes += carry_out(result, desk.store, desk.shelf, now)
    return result, desk.done


def ask_for_ideas(app: App, purpose: str) -> Ideas:
    """What the model of the settings proposes; without one, or where it fails, the reason."""
    try:
        model = open_model(app, purpose)
    except MemdirError as error:
        ideas = Ideas(reason=error.message)
    else:
        seconds = max(app.config.options.model_timeout, MODEL_SECONDS)
        ideas = ask_model(make_plan(read_given(app.store, {})).work, model, seconds)
    if ideas.reason:
        app.tell(f"done without the model: {ideas.reason}")
    return ideas


def read_given(store: Store, stale: Mapping[str, tuple[str, ...]]) -> Given:
    """The store as a restructuring takes it; what cannot be read is left alone."""
    files, _ = read_files(store, store.files())
    index_path = store.index_path
    index = memory.decode(store.index() or b"")
    paths = [*(path for path, _ in files), index_path]
    times = {path: (store.facts(path) or (0,))[0] / NANOSECONDS for path in paths}
    copied = _is_copied(times.values())
    every = {}
    for path, data in files:
        text = memory.decode(data)
        said = safe.parse_time(memory.read(text).get(*MODIFIED_KEYS, *CREATED_KEYS))
        clock = times[path] if said is None else said
        every[path] = Page(text, clock, not copied or said is not None)
    pages = {path: page for path, page in every.items() if page.text.strip("\ufeff \t\r\n")}
    is_readme = index_path == README
    findings = store.scan().findings
    return Given(
        pages=pages,
        index=Page("") if is_readme else Page(index, times[index_path], not copied),
        index_path=INDEX,
        readme=index if is_readme else "",
        taken=frozenset((*store.tree(), *(finding.path for finding in findings))),
        gone=Targets(store).lost,
        stale=stale,
        empty=tuple(sorted(set(every) - set(pages))),
        style=style_of([(path, page.document) for path, page in pages.items()]),
    )


def _is_copied(times: Collection[float]) -> bool:
    """Do most files have the time of a checkout or a copy, not of their writing?"""
    moments = sorted(moment for moment in times if moment)
    near = [
        bisect_right(moments, moment + COPY_SECONDS) - bisect_left(moments, moment - COPY_SECONDS)
        for moment in moments
    ]
    return sum(1 for count in near if count >= MIN_COPIED_FILES) * 2 > len(moments)


def make_plan(given: Given, ideas: Ideas | None = None) -> Plan:
    """Restructure the store on paper: a pass over it, repeated until nothing is left to do."""
    work = begin(given)
    before = proof.count_figures(work)
    for _ in range(MAX_PASSES):
        was = work.index, dict(work.pages)
        work.remarks.clear()
        _make_pass(work, ideas or Ideas())
        if (work.index, work.pages) == was:
            break
    _mark_unknown_days(work)
    _remark(work)
    # What only a person can decide: memories that the code contradicts, or that are alike.
    for path, evidence in given.stale.items():
        if path in work.pages and evidence:
            command = retire_command(path)
            work.proposals.append(Proposal(path, "retire or correct", tuple(evidence), command))
    propose_alike(work)
    old = {path: page.text for path, page in given.pages.items()}
    kept = {given.index_path: work.index} | ({README: given.readme} if given.readme else {})
    there = old | ({given.index_path: given.index.text} if given.index.text else {})
    lost = tuple(find_lost(there, work.texts | kept, work.accounted))
    after = proof.count_figures(work)
    messages: dict[str, dict[str, None]] = {}
    for step in work.steps:
        messages.setdefault(step.path, {})[step.message] = None
    return Plan(
        before=before,
        after=after,
        texts={path: text for path, text in work.texts.items() if there.get(path) != text},
        gone=tuple(sorted(given.pages.keys() - work.pages.keys())),
        index=work.index if work.index != given.index.text else None,
        checks=tuple(proof.check_result(work, after, lost)),
        lost=lost,
        work=work,
        reasons={path: "; ".join(said) for path, said in messages.items()},
    )


def _make_pass(work: Work, ideas: Ideas) -> None:
    """Out of the index, in parts, with headers and dates, each thing once; then the pointers."""
    bom, lines = work.outline(work.index)
    kept = set() if any(index_module.over_limit(work.index)) else find_kept(lines)
    if kept:
        head = next(heading_text(lines[i].text) for i in sorted(kept) if lines[i].level)
        work.remarks.append(f'"{head}" stays in the index: it says that agents must always see it')
    extract = Extract(lines, kept)
    gone = extract.gone
    hooks = pointers.read_hooks(work, work.index, work.given.readme)
    title = heading_text(lines[extract.title].text) if extract.title >= 0 else ""
    own = [piece for piece in extract.pieces if not piece.target]
    new = [piece for piece in own if not _drop_known(work, piece.lines)]
    placed = write_topics(work, make_topics(new, "" if is_generic(title) else title))
    for piece in extract.pieces:
        if piece.target in work.pages:
            work.append(piece.target, "\n".join(piece.lines))
            work.note(MOVED, piece.target, "took what hung below its line in the index")
    pointers.mend(work, lines, gone)
    add_headers(work, hooks)
    parts = split_overlong(work)
    write_dates(work)
    pointers.shorten(work, lines, gone)
    merge_alike(work, ideas.merges)
    take_ideas(work, ideas)
    extract.comment_placeholders()
    if own:
        _drop_contents(work, lines, gone)
    text = write_outline(bom, pointers.close_gaps(lines, gone))
    text = pointers.drop_merged(work, text)
    # As they stood in the index, then those without a pointer; parts after their whole.
    orphans = index_module.survey(text, sorted(work.pages), work.names()).orphans
    sections: dict[str, str] = {}
    for path in [*placed, *(path for path in orphans if path not in parts), *parts.values()]:
        if path in placed or path in orphans:
            sections.setdefault(path, placed.get(path, ""))
        for part in (part for part, whole in parts.items() if whole == path):
            sections.setdefault(part, hooks.get(path, ("", ""))[1])
    work.index = pointers.arrange_by_worth(work, pointers.place(work, text, sections))


def _drop_known(work: Work, lines: Sequence[str]) -> bool:
    """Does a memory say all these lines already? Then they make no second one."""
    said = [bare(line) for line in lines if has_words(line) and not level_of(line)]
    for path, page in work.pages.items():
        known = {bare(line) for line in page.document.body.split("\n")}
        if len(" ".join(said).split()) >= MIN_KNOWN_WORDS and known.issuperset(said):
            for line in lines:
                work.account(work.given.index_path, line, f"{path} says it already")
            work.note(MERGED, path, "has these lines of the index already")
            return True
    return False


def _drop_contents(work: Work, lines: list[Line], gone: set[int]) -> None:
    """A table of contents, and the heading above it, go with the sections that it led to."""
    anchors = {
        i for i, line in enumerate(lines) if line.kind == ELSEWHERE and _ANCHOR.fullmatch(line.text)
    }
    for i, line in enumerate(lines):
        end = next((j for j in range(i + 1, len(lines)) if lines[j].level), len(lines))
        below = {j for j in range(i + 1, end) if lines[j].kind != BLANK}
        if line.level > 1 and below and below <= anchors:
            anchors.add(i)
    for i in sorted(anchors - gone):
        work.account(work.given.index_path, lines[i].text, "what it leads to is a memory now")
    gone |= anchors


def write_dates(work: Work) -> None:
    """What surely happened on a day; habits, rules and whatever is unsure keep their words."""
    unknown: list[str] = []
    for path in sorted(work.pages):
        page = work.pages[path]
        day = _day_of(page)
        document = page.document
        old = document.get("description")
        body, _ = make_absolute(document.body, day or SOME_DAY, events=True)
        description, _ = make_absolute(old, day or SOME_DAY, events=True)
        if (body, description) == (document.body, old):
            continue
        if day is None:
            unknown.append(path)
            continue
        new = set(body.split("\n"))
        for line in document.body.split("\n"):
            if line not in new:
                work.account(path, line, f"dates by {day}")
        text = page.text[: len(page.text) - len(document.body)] + body
        if description != old:
            work.account(path, f"description: {old}", f"dates by {day}: {description}")
            text = memory.edit(memory.read(text), "description", description).text
        work.write(path, text)
        work.note(DATED, path, f"dates written out, counted from {day}")
    if unknown:
        reason = "nobody knows the day they count from"
        work.remarks.append(f"relative dates stay in {some(unknown)}: {reason}")


def _mark_unknown_days(work: Work) -> None:
    """Say in a file that we rewrite, and whose day nobody knows, that its time is no date."""
    for path, page in work.pages.items():
        document = page.document
        if page == work.given.pages.get(path) or page.dated or _day_of(page):
            continue
        if UNKNOWN_DAY in document.values or document.lines is None:
            continue
        if make_absolute(page.text, SOME_DAY, events=True)[0] != page.text:
            text = memory.edit(document, UNKNOWN_DAY, "true").text
            work.pages[path] = Page(text, page.clock, page.dated)


def _day_of(page: Page) -> datetime.date | None:
    """The one day on which a memory was written, where that is certain."""
    document = page.document
    times = [safe.parse_time(document.get(*keys)) for keys in (CREATED_KEYS, MODIFIED_KEYS)]
    days = {safe.iso_day(moment) for moment in times if moment is not None}
    if not days and page.dated and UNKNOWN_DAY not in document.values:
        days = {safe.iso_day(page.clock)}
    days = days or _session_days(document.body)
    return datetime.date.fromisoformat(days.pop()) if len(days) == 1 else None


def _session_days(body: str) -> set[str]:
    """The day that the headings name, where all of the text stands below one such heading."""
    lines = body.split("\n")
    titles = [heading_text(lines[i]) for i, _ in headings(lines)]
    days = {day for text in titles for day in _ISO_DAY.findall(text)}
    first = _SESSION.fullmatch(titles[0]) if titles else None
    sure = first and days == {first["day"]} and safe.parse_time(first["day"]) is not None
    return days if sure else set()


def _remark(work: Work) -> None:
    """What a person may want to add: a reason, a date. We do not make one up."""
    new = work.new_paths
    bare_rules = [
        path
        for path in new
        if work.memory(path).type == FEEDBACK and WHY.lower() not in work.pages[path].text.lower()
    ]
    if bare_rules:
        message = f"no reason ({WHY.strip('*:')}) stands in {some(bare_rules)}"
        work.remarks.append(f"{message}; add it if you know it: memdir edit NAME --why")
    if work.given.empty:
        work.remarks.append(f"nothing stands in {some([*work.given.empty])}: left alone")
    for path in new:
        if asks_to_stay(work.pages[path].document.body.strip().split("\n")):
            message = "says that agents must always see it, but the index was full"
            work.remarks.append(f"{path} {message}")


def carry_out(plan: Plan, store: Store, shelf: Shelf, now: float) -> list[Change]:
    """New memories first, the index next to last: at no moment is a line in neither place."""
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
    texts = [(path, plan.texts[path]) for path in sorted(plan.texts, key=lambda p: (p in known, p))]
    texts += [(plan.work.given.index_path, plan.index)] if plan.index is not None else []
    done = []
    for path, text in texts:
        kind = UPDATED if path in known or store.exists(path) else CREATED
        data = encode(text)
        store.put(path, data)
        done.append(Change(kind, stem(path), path, hash_of(data), plan.reasons.get(path, "")))
    for path in plan.gone:
        data = store.read(path)
        shelf.lay(TRASH, path, data, now)
        store.drop(path)
        done.append(Change(RETIRED, stem(path), path, hash_of(data), plan.reasons.get(path, "")))
    return done

"""`memdir restructure`: verify, plan on paper, carry out; one batch, one undo."""

from __future__ import annotations

import re
import shlex
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memdir.claims.claim import STALE
from memdir.claims.verify import verify_memories
from memdir.errors import BadInput, KnowledgeAtRisk
from memdir.format.draft import (
    CREATED,
    HOW,
    RETIRED,
    UPDATED,
    WHY,
    Change,
    content_hash,
    guess_header_style,
)
from memdir.format.index import Survey, index_excess, survey_pointers
from memdir.format.outline import write_index_lines
from memdir.format.pointer import parse_pointers
from memdir.hot import memory, safe, types
from memdir.hot.memory import CREATED_KEYS, INDEX, MAX_CHARACTERS, MAX_LINES, MODIFIED_KEYS, README
from memdir.models.model import count_model_tokens
from memdir.store.look import read_store_files
from memdir.store.ports import TRASH, Store, name_few_store_paths
from memdir.store.save import Targets
from memdir.store.trash import Shelf
from memdir.store.writer import App, Done
from memdir.text.markdown import heading_level, heading_text, list_item_start, unescape_markdown
from memdir.text.terminal import plural
from memdir.upkeep import pieces, pointers, split
from memdir.upkeep.worksheet import (
    Accounted,
    Check,
    Given,
    Page,
    Work,
    bare_line,
    is_generic_title,
    is_placeholder_piece,
    line_has_words,
    topic_title,
)

VERB = "restructure"
MAX_PASSES = 4  # what one pass makes too long, the next one splits; then it rests
COPY_SECONDS = 5.0  # files that are all this close together were copied or checked out
MIN_COPIED_FILES = 3  # that tell a copy from a busy minute
NANOSECONDS = 1e9
MAX_LEFT_SHOWN = 10  # files that are left alone
MIN_KNOWN_WORDS = 6  # in lines that stand in another memory by no accident

_SEE = re.compile(r"[\s(—–-]*\bsee\s*:?\s*$", re.IGNORECASE)  # in front of a link only


@dataclass(frozen=True)
class Lost:
    """A line that would disappear: never allowed to happen."""

    path: str
    line: int
    text: str


@dataclass(frozen=True)
class Figures:
    """A store in numbers; `tokens` is what the index costs each session."""

    index_lines: int
    index_characters: int
    tokens: int
    files: int
    inline: int
    long_pointers: int
    overlong: int
    duplicates: int
    orphans: int
    dangling: int
    headless: int


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


def restructure_store(app: App) -> tuple[Plan, Done]:
    """The code is asked before the lock is taken: others need not wait for it."""
    stale = {
        path: tuple(f"{item.claim.text}: {item.reason}" for item in judged)
        for path, all_judged in verify_memories(app).memories.items()
        if (judged := [item for item in all_judged if item.verdict == STALE])
    }
    with app.changing(VERB) as desk:
        now = app.now()
        plan = plan_restructure(read_restructured_store(desk.store, stale))
        result = replace(plan, batch=f"{VERB}-{int(now)}")
        remark_reasons_missing_in_restructure(result.work)
        desk.cause = replace(desk.cause, batch=result.batch, name=result.title)
        desk.changes += apply_restructure(result, desk.store, desk.shelf, now)
    return result, desk.done


def read_restructured_store(store: Store, stale: Mapping[str, tuple[str, ...]]) -> Given:
    """The store as a restructuring takes it; what cannot be read is left alone."""
    files, _ = read_store_files(store, store.files())
    index_path = store.index_path
    index = memory.decode(store.index() or b"")
    paths = [*(path for path, _ in files), index_path]
    times = {path: (store.facts(path) or (0,))[0] / NANOSECONDS for path in paths}
    copied = _is_copied(times.values())
    if "\0" in index:
        message = f"{index_path} is UTF-16 or no text; nothing was changed"
        raise BadInput(message, path=index_path, next="save it as UTF-8, then run this again")
    pages, left = {}, {}
    for path, data in files:
        text = memory.decode(data)
        if "\0" in text or not text.strip("\ufeff \t\r\n"):
            left[path] = "save it as UTF-8: it is UTF-16 or no text" if data.strip() else "is empty"
            continue
        said = safe.parse_time(memory.read_header(text).get(*MODIFIED_KEYS, *CREATED_KEYS))
        clock = times[path] if said is None else said
        pages[path] = Page(text, clock, not copied or said is not None)
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
        left=left,
        style=guess_header_style([(path, page.document) for path, page in pages.items()]),
    )


def _is_copied(times: Collection[float]) -> bool:
    """Do most files have the time of a checkout or a copy, not of their writing?"""
    moments = sorted(moment for moment in times if moment)
    near = [
        bisect_right(moments, moment + COPY_SECONDS) - bisect_left(moments, moment - COPY_SECONDS)
        for moment in moments
    ]
    return sum(1 for count in near if count >= MIN_COPIED_FILES) * 2 > len(moments)


def plan_restructure(given: Given) -> Plan:
    """Restructure the store on paper: a pass over it, repeated until nothing is left to do."""
    work = Work(given)
    before = count_restructure_figures(work)
    for _ in range(MAX_PASSES):
        was = work.index, dict(work.pages)
        work.remarks.clear()
        _make_pass(work)
        if (work.index, work.pages) == was:
            break
    for path, reason in sorted(given.left.items())[:MAX_LEFT_SHOWN]:
        work.remarks.append(f"{path} is left alone: {reason}")
    # What only a person can decide: memories that the code contradicts, or that are alike.
    _propose_for_index(work)
    for path, evidence in given.stale.items():
        if path in work.pages and evidence:
            command = f"memdir retire {shlex.quote(path)}"
            work.propose(path, "retire or correct", tuple(evidence), command)
    split.propose_merging_similar(work)
    old = {path: page.text for path, page in given.pages.items()}
    kept = {given.index_path: work.index} | ({README: given.readme} if given.readme else {})
    there = old | ({given.index_path: given.index.text} if given.index.text else {})
    lost = tuple(find_lost_lines(there, work.texts | kept, work.accounted))
    after = count_restructure_figures(work)
    return Plan(
        before=before,
        after=after,
        texts={path: text for path, text in work.texts.items() if there.get(path) != text},
        gone=tuple(sorted(given.pages.keys() - work.pages.keys())),
        index=work.index if work.index != given.index.text else None,
        checks=tuple(check_restructure_result(work, after, lost)),
        lost=lost,
        work=work,
        reasons={path: "; ".join(dict.fromkeys(said)) for path, said in work.notes.items()},
    )


def _make_pass(work: Work) -> None:
    """Out of the index, in parts, with headers and dates, each thing once; then the pointers."""
    bom, lines = work.outline(work.index)
    kept = set() if any(index_excess(work.index)) else pieces.find_pieces_that_stay(lines)
    if kept:
        head = next(heading_text(lines[i].text) for i in sorted(kept) if lines[i].level)
        work.remarks.append(f'"{head}" stays in the index: it says that agents must always see it')
    kept |= {i for part in pieces.find_pieces_to_decide(lines) for i in part}
    extract = pieces.Extract(lines, kept)
    gone = extract.gone
    hooks = pointers.read_hooks_to_restructure([*lines, *work.outline(work.given.readme)[1]])
    title = heading_text(lines[extract.title].text) if extract.title >= 0 else ""
    own = [piece for piece in extract.pieces if not _drop_known(work, piece.lines)]
    placed = pieces.write_topics_of_pieces(
        work, pieces.make_topics_of_pieces(own, "" if is_generic_title(title) else title)
    )
    pieces.add_missing_headers(work, hooks)
    parts = split.split_overlong_memories(work)
    split.write_restructured_dates(work)
    pointers.shorten_restructured_pointers(work, lines, gone)
    split.merge_similar_memories(work)
    text = write_index_lines(bom, pointers.close_index_gaps(lines, gone))
    # As they stood in the index, then those without a pointer; parts after their whole.
    pointed = {path for i, line in enumerate(lines) if i not in gone for path in line.paths}
    orphans = [path for path in sorted(work.pages) if path not in pointed]
    sections: dict[str, str] = {}
    for path in [*placed, *(path for path in orphans if path not in parts), *parts.values()]:
        if path in placed or path in orphans:
            sections.setdefault(path, placed.get(path, ""))
        for part in (part for part, whole in parts.items() if whole == path):
            sections.setdefault(part, hooks.get(path, ("", ""))[1])
    work.index = pointers.restructure_pointers_by_worth(
        work, pointers.place_restructured_pointers(work, text, sections)
    )


def _drop_known(work: Work, lines: Sequence[str]) -> bool:
    """Does a memory say all these lines already? Then they make no second one."""
    said = [bare_line(line) for line in lines if line_has_words(line) and not heading_level(line)]
    for path, page in work.pages.items():
        known = {bare_line(line) for line in page.document.body.split("\n")}
        if len(" ".join(said).split()) >= MIN_KNOWN_WORDS and known.issuperset(said):
            for line in lines:
                work.account(work.given.index_path, line, f"{path} says it already")
            work.note(path, "has these lines of the index already")
            return True
    return False


def remark_reasons_missing_in_restructure(work: Work) -> None:
    """A reason is for a person to add: we do not make one up."""
    bare = [path for path in sorted(work.pages) if types.get(work.memory(path).type).needs_why]
    for mark in (WHY, HOW):
        without = [path for path in bare if mark.lower() not in work.pages[path].text.lower()]
        if without:
            message = f"no {mark.strip('*:')} in {name_few_store_paths(without)}"
            work.remarks.append(f"{message}; add it if you know it: memdir edit NAME")


def _propose_for_index(work: Work) -> None:
    """What is in the index and makes no memory: superseded text, steps, lines to files gone."""
    index_path, (_, lines) = work.given.index_path, work.outline(work.index)
    for part, reason in pieces.find_pieces_to_decide(lines).items():
        start = lines[part.start]
        title = f'"{topic_title(start.text)}"' if start.level else f"line {start.number}"
        work.propose(index_path, f"{title} stays in the index; take it out?", (reason,))
    survey = _survey(work)
    for pointer in survey.dangling:
        what, command = f"the line of {pointer.target} leads nowhere", "memdir index --check"
        if pointer not in survey.by_hand:
            what, command = f"{what}; a rebuild keeps its words", "memdir index --rebuild"
        work.propose(index_path, what, (pointer.hook,), command)


def apply_restructure(plan: Plan, store: Store, shelf: Shelf, now: float) -> list[Change]:
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

    def note(kind: str, path: str, data: bytes) -> None:
        reason = plan.reasons.get(path, "")
        done.append(Change(kind, memory.stem(path), path, content_hash(data), reason))

    for path, text in texts:
        kind = UPDATED if path in known or store.exists(path) else CREATED
        store.put(path, memory.encode(text))
        note(kind, path, memory.encode(text))
    for path in plan.gone:
        data = store.read(path)
        shelf.lay(TRASH, path, data, now)
        store.drop(path)
        note(RETIRED, path, data)
    return done


def find_lost_lines(
    before: Mapping[str, str], after: Mapping[str, str], accounted: Iterable[Accounted]
) -> list[Lost]:
    """The lines of before that are nowhere afterwards and that nobody accounted for."""
    changed = {path: text for path, text in before.items() if after.get(path) != text}
    if not changed:
        return []
    known = {bare_line(line) for text in after.values() for line in text.split("\n")}
    known |= {bare_line(item.text) for item in accounted}
    flat = [" ".join(text.split()) for text in after.values()]
    whole = "\n".join([*flat, *map(unescape_markdown, flat)])
    result = []
    for path, text in changed.items():
        for number, line in enumerate(text.split("\n"), 1):
            words = bare_line(line)
            if line_has_words(words) and words not in known and not _is_said(line, words, whole):
                result.append(Lost(path, number, line))
    return result


def _is_said(line: str, words: str, whole: str) -> bool:
    """Does the whole text say a line: in its flow, as a pointer with its words, or as a value?"""
    if words in whole:
        return True
    if pointers := parse_pointers(line.strip(), 1):
        front = line.strip()[max(list_item_start(line.strip()), 0) : pointers[0].start]
        parts = [_SEE.sub("", front)]
        parts += [part for item in pointers for part in (item.title.strip("`"), item.hook)]
        if all(bare_line(part) in whole for part in parts if line_has_words(part)):
            return True
    # In a header the value counts, however it is quoted there.
    _, colon, value = words.partition(": ")
    return bool(colon) and bare_line(memory.unquote_value(value.strip())) in whole


def count_restructure_figures(work: Work) -> Figures:
    found = _survey(work)
    return Figures(
        index_lines=found.lines,
        index_characters=found.characters,
        tokens=count_model_tokens(work.index),
        files=len(work.pages),
        inline=len(found.inline) + (0 if found.pointers else len(found.intro)),
        long_pointers=len(found.overlong),
        overlong=sum(map(split.is_memory_to_split, work.texts.values())),
        duplicates=len(split.find_twins_to_restructure(work)),
        orphans=len(found.orphans),
        dangling=len(found.dangling),
        headless=len(_headless(work)),
    )


def check_restructure_result(work: Work, figures: Figures, lost: Sequence[Lost]) -> list[Check]:
    """The questions of the verification list, each with its answer."""
    found = _survey(work)
    size = f"{figures.index_lines} of {MAX_LINES} lines, "
    size += f"{figures.index_characters:,} of {MAX_CHARACTERS:,} characters"
    fits = figures.index_lines <= MAX_LINES and figures.index_characters <= MAX_CHARACTERS
    fix = "retire or archive what is old: memdir list"
    asked = {item.path for item in work.proposals}
    asked |= {item.what.removeprefix(split.SAYS_SAME) for item in work.proposals}
    pairs = split.find_twins_to_restructure(work)
    twins = [
        f"{pair.first} and {pair.second}" for pair in pairs if not asked & {pair.first, pair.second}
    ]
    by_hand = {id(item) for item in found.by_hand}
    dead = [it.target for it in found.dangling if work.is_dead(it) and id(it) not in by_hand]
    asked_about = f", but {len(found.dangling)} for you to decide" if found.dangling else ""
    left = len(pairs) - len(twins)
    pairs_left = f"; {plural(left, 'pair')} for you to decide" if left else ""
    return [
        Check("limit", fits, f"the index has {size}", "" if fits else fix),
        _none("pointers", dead, f"every pointer leads to a file{asked_about}"),
        _none("orphans", found.orphans, "every memory has a pointer"),
        _none("headers", _headless(work), "every memory has a name, a description and a type"),
        _check_content(work, found.inline),
        _none("duplicates", twins, "no two memories say the same" + pairs_left),
        _none("knowledge", [item.text for item in lost], "no line of knowledge is lost"),
    ]


def _check_content(work: Work, numbers: Sequence[int]) -> Check:
    """Content stays in the index only where it asks to stay in view, and the index fits."""
    lines = work.outline(work.index)[1] if numbers else []
    fits = not any(index_excess(work.index))
    kept = {lines[i].number for i in pieces.find_pieces_that_stay(lines)} if fits else set()
    asked = {lines[i].number for part in pieces.find_pieces_to_decide(lines) for i in part}
    texts = [lines[number - 1].text.strip() for number in numbers if number not in kept | asked]
    stay = len(kept.intersection(numbers))
    fine = "the index holds pointers only"
    fine += f", and {plural(stay, 'line')} that must stay in view" if stay else ""
    fine += ", but for what you have to decide" if asked else ""
    return _none(
        "content", [text for text in texts if text and not is_placeholder_piece(text)], fine
    )


def _headless(work: Work) -> list[str]:
    return [
        path
        for path, page in work.pages.items()
        if pieces.find_missing_header_fields(page.document)
    ]


def _survey(work: Work) -> Survey:
    """Read once, as long as nothing changes."""
    key = work.index, dict(work.pages)
    if work.surveyed is None or work.surveyed[0] != key:
        survey = survey_pointers(work.index, sorted(work.pages), work.names(), work.given.gone)
        work.surveyed = key, survey
    return work.surveyed[1]


def _none(name: str, wrong: Sequence[str], fine: str) -> Check:
    if not wrong:
        return Check(name, True, fine)
    message = f"{fine}? no: {name_few_store_paths([text[:60] for text in wrong])}"
    return Check(name, False, message, "see the report, or edit by hand")

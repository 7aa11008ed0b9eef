"""Selects the memories for a prompt: bodies if sure, at most three pointers if not, or nothing."""

from memdir.hot.inject import Recalled
from memdir.hot.memory import decode, stem
from memdir.hot.words import IMPLIED, PIECE, Words, implied_terms, is_unspaced, split_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from memdir.errors import Finding, MemdirError
    from memdir.hot.memory import Memory
    from memdir.hot.run import SessionState
    from memdir.store.ports import Search, Store

BODIES = 5
POINTERS = 3
MORE = 8  # extra candidates, since duplicates are dropped
MAX_SURFACED = 2000  # memories told already that a search may have to skip
LEADERS = 3  # one of the first hits must be a sure match
UNSURE, SURE = 1.0, 2.1  # from here on a pointer, a body; in multiples of a chance match
BODY_SHARE = 0.9  # of the best match's sureness, which a further body needs
CHANCE, CHANCE_STEP = 0.3, 0.155  # a chance match in a tiny store; what each doubling adds
INDEX_LINES, INDEX_CHARACTERS = 200, 25_000  # of an index that a client loads
TEAM = "team"
SAME = 0.8  # share of common words that makes two memories duplicates
COMPARED = 16_384  # characters of a memory that are compared


class Hit:
    def __init__(
        self, memory: "Memory", score: float, sure: float, words: dict[str, float]
    ) -> None:
        self.memory = memory
        self.score = score
        self.sure = sure  # comparable between prompts and stores; `score` is not
        self.words = words  # score by matched word


class Found:
    def __init__(self, hits: list[Hit], searched: int, findings: "list[Finding]") -> None:
        self.hits = hits
        self.searched = searched
        self.findings = findings


class Place:
    def __init__(
        self,
        scope: str,
        store: "Store",
        search: "Search",
        source: "Callable[[str], str] | None" = None,
        index_loaded: int = 0,
    ) -> None:
        self.scope = scope
        self.store = store
        self.search = search
        self.source = source  # gives the author of a path, if it is not the user
        self.index_loaded = index_loaded  # characters of the index that the agent sees anyway
        self.index = ""  # that part as it was when the session began, if it is known

    def recalled(self, memory: "Memory") -> Recalled:
        recalled = Recalled(memory, self.scope, self.store.root)
        recalled.giver = self.source(memory.path) if self.source else ""
        return recalled


class Recollection:
    def __init__(self) -> None:
        self.bodies: list[Recalled] = []
        self.pointers: list[Recalled] = []
        self.near: list[Recalled] = []  # the closest memories if nothing fits
        self.abstained = False
        self.reason = ""
        self.searched = 0
        self.findings: list[Finding] = []

    def nothing(self, reason: str) -> "Recollection":
        self.abstained, self.reason = True, reason
        return self


def recall(
    places: "Sequence[Place]",
    prompt: str,
    state: "SessionState",
    *,
    limit: int = BODIES,
    pointers: int = POINTERS,
    abstain: bool = True,
) -> Recollection:
    result = Recollection()
    reason = why_prompt_gets_no_memory(prompt) if abstain else ""
    if reason:
        return result.nothing(reason)
    wanted = limit + pointers + MORE + min(len(state.surfaced), MAX_SURFACED)
    every = _search(places, prompt, wanted, result)
    memories = [memory for memory in every if memory.version not in state.surfaced]
    enough = 0.0
    if abstain:
        memories = [memory for memory in memories if memory.words]  # rules were told before
        best = _best(memories)
        if best < UNSURE:
            result.near = memories[:LEADERS]
            if _best(every) >= UNSURE:
                return result.nothing("what fits was told already in this session")
            return result.nothing("nothing fits well enough" if memories else "nothing matches")
        enough = max(SURE, BODY_SHARE * best)
    reader = Reader(places, result.findings)
    rest = []
    for memory in private_wins(without_usage_of_tools(memories, state, reader), reader):
        if memory.sure < enough or len(result.bodies) >= limit:
            rest.append(memory)
        elif reader.read(memory) and not any(
            reader.say_same(memory, other) for other in result.bodies
        ):
            result.bodies.append(memory)
    rest = rest[:pointers]
    _mark_listed([*result.bodies, *rest], places)
    result.pointers = [it for it in rest if not it.listed and it.version not in state.pointed]
    for given in (result.bodies, result.pointers):
        given.sort(key=lambda memory: bool(memory.giver))  # the user's own memories come first
    return result


def _best(memories: list[Recalled]) -> float:
    return max([memory.sure for memory in memories[:LEADERS]], default=0.0)


def _mark_listed(memories: list[Recalled], places: "Sequence[Place]") -> None:
    """Marks what the agent's index shows anyway: no pointer repeats it."""
    for place in places if memories else ():
        if place.index_loaded:
            now = place.index or decode(place.store.index() or b"")
            index = loaded_part(now, place.index_loaded)
            for memory in memories:
                if memory.scope == place.scope:
                    memory.listed = f"({memory.memory.path})" in index


def loaded_part(index: str, characters: int = INDEX_CHARACTERS) -> str:
    """As much of an index as a client loads."""
    return "\n".join(index[:characters].split("\n", INDEX_LINES)[:INDEX_LINES])


def _search(
    places: "Sequence[Place]", prompt: str, limit: int, result: Recollection
) -> list[Recalled]:
    """Merges the places: each keeps its own order, and the surest hit comes next."""
    waiting: list[list[Recalled]] = []
    for place in places:
        try:
            answer = place.search.find(prompt, limit)
        except _broken() as error:  # an unreadable store must not hide the others
            result.findings.append(_finding(error))
            continue
        result.searched += answer.searched
        result.findings += answer.findings
        waiting.append([])
        for hit in reversed(answer.hits):
            memory = place.recalled(hit.memory)
            memory.score, memory.words = hit.score, hit.words
            memory.sure = hit.sure / chance_match(answer.searched, hit.memory.size)
            waiting[-1].append(memory)
    merged = []
    while waiting := [rest for rest in waiting if rest]:
        merged.append(max(waiting, key=lambda rest: rest[-1].sure).pop())
    return merged


def chance_match(memories: int, size: int) -> float:
    """How sure a match of an unrelated prompt may be: the best of many, or of a long one, is surer.

    Measured: in three of four stores of any size an unrelated prompt's best match stays below it.
    """
    doublings = (memories * max(size, 1024) >> 10).bit_length() - 2
    return max(CHANCE, CHANCE_STEP * doublings)


def _broken() -> "type[MemdirError]":
    from memdir.errors import MemdirError

    return MemdirError


def _finding(error: "MemdirError") -> "Finding":
    from memdir.errors import Finding

    return Finding(error.code, error.path, error.message, error.next)


class Reader:
    def __init__(self, places: "Sequence[Place]", findings: "list[Finding]") -> None:
        self.stores = {place.scope: place.store for place in places}
        self.findings = findings
        self.words: dict[Recalled, frozenset[str]] = {}

    def read(self, memory: Recalled) -> bool:
        if memory.text:
            return True
        try:
            memory.text = decode(self.stores[memory.scope].view(memory.memory.path))
        except _broken() as error:
            finding = _finding(error)
            self.findings += [finding] if finding not in self.findings else []
            return False
        return True

    def say_same(self, first: Recalled, second: Recalled) -> bool:
        shorter, longer = sorted((len(first.text), len(second.text)))
        if shorter < SAME / 2 * longer:
            return False  # too different in size to be duplicates
        ours, theirs = self._words(first), self._words(second)
        return len(ours & theirs) >= SAME * len(ours | theirs)

    def _words(self, memory: Recalled) -> frozenset[str]:
        if memory not in self.words:
            self.words[memory] = frozenset(split_words(memory.text[:COMPARED].lower()))
        return self.words[memory]


# Words of a memory that warns of a tool; without them it only says how to use it.
_WARNINGS = frozenset(
    (
        *("never", "dont", "not", "must", "avoid", "beware", "careful", "warning", "gotcha"),
        *("gotchas", "pitfall", "pitfalls", "bug", "bugs", "broken", "breaks", "fail", "fails"),
        *("crash", "crashes", "hangs", "issue", "issues", "wrong", "loses", "silently"),
    )
)


def without_usage_of_tools(
    memories: list[Recalled], state: "SessionState", reader: Reader
) -> list[Recalled]:
    """The agent sees how the tools in use are used; what warns of them still matters (M14)."""
    tools = [_split_name(tool) - {"mcp"} for tool in state.tools]
    tools = [words if len(words) > 1 else words | {"tool"} for words in tools]
    kept = []
    for memory in memories:
        item = memory.memory
        names = _split_name(f"{item.path} {item.name} {item.description}") if tools else set()
        usage = item.kind not in RULES and any(words <= names for words in tools)
        if not usage or (reader.read(memory) and _WARNINGS & set(split_words(memory.text.lower()))):
            kept.append(memory)
    return kept


def _split_name(text: str) -> set[str]:
    return set(split_words(text.lower().replace("_", " ")))


def private_wins(memories: list[Recalled], reader: Reader) -> list[Recalled]:
    """If team and user have a memory of the same name, the user's wins and mentions it."""
    own = {_label(memory): memory for memory in reversed(memories) if memory.scope != TEAM}
    kept = []
    for memory in memories:
        mine = own.get(_label(memory)) if memory.scope == TEAM else None
        if mine is None or not reader.read(mine):
            kept.append(memory)
        elif reader.read(memory) and not reader.say_same(memory, mine):
            path = memory.memory.path
            mine.note = f"the team's {path} says something else; yours counts more"
    return kept


def _label(memory: Recalled) -> str:
    return stem(memory.memory.path).lower().replace("_", "-")


# A waiver is "ignore" or "do not use", up to _MAX_BETWEEN filler words, then "memory".
_IGNORE = ("ignore", "ignoring", "disregard", "disregarding", "skip", "without", "forget about")
_USE = ("use", "using", "consult", "read", "recall", "rely on", "look at", "check")
_NO = ("dont", "not", "never")  # also "do not ignore memory"
_BETWEEN = frozenset(
    (
        *("the", "your", "my", "any", "all", "its", "our", "of", "these", "those", "what", "from"),
        *("saved", "stored", "project", "previous", "past", "old", "earlier"),
    )
)
_MAX_BETWEEN = 4  # words between the verb and "memory"
_MEMORY = ("memory", "memories")
# Next words, by how they begin, that mean the computer's memory: "ignore memory leaks for now".
_THINGS = (
    *("access", "address", "align", "alloc", "arg", "bank", "barrier", "budget", "check", "column"),
    *("config", "constraint", "consum", "corrupt", "error", "field", "flag", "footprint"),
    *("fragment", "growth", "issue", "layout", "leak", "limit", "manage", "map", "metric", "mode"),
    *("option", "order", "overhead", "param", "pool", "pressure", "profil", "protect", "regress"),
    *("require", "reserv", "safety", "setting", "spike", "swap", "switch", "test", "toggle"),
    *("usage", "use", "warning"),
)
_WISH_CHARACTERS = 2000  # characters of a prompt that are searched for a waiver


def why_prompt_gets_no_memory(prompt: str) -> str:
    """Why a prompt gets no memory, else "": a command, a single word, a wish for none."""
    bare = prompt.strip()
    if bare[:1] == "/" and bare[1:2].isalpha() and "/" not in bare.split(None, 1)[0][1:]:
        return "it is a slash command"
    words = split_words(bare[:_WISH_CHARACTERS])
    if not words:
        return "it has no words"
    if len(words) == 1 and not any(map(is_unspaced, words[0])):
        return "it is a single word"
    words = [word.lower() for word in words]
    if any(_is_waived(words, i) for i, word in enumerate(words) if word in _MEMORY):
        return "it asks to ignore memory"
    return ""


def _is_waived(words: list[str], index: int) -> bool:
    if words[index + 1 : index + 2] and words[index + 1].startswith(_THINGS):
        return False
    first = index
    while first and index - first < _MAX_BETWEEN and words[first - 1] in _BETWEEN:
        first -= 1
    before = " " + " ".join(words[max(0, first - 4) : first])

    def ends_with(verbs: "Sequence[str]", leads: "Sequence[str]") -> bool:
        return before.endswith(tuple(f" {lead} {verb}" for lead in leads for verb in verbs))

    refused = before.endswith((" never use", " not using"))  # but "why does it not use memory?"
    if refused or ends_with(_USE, ("dont", "do not", "without")):
        return True
    return before.endswith(tuple(f" {verb}" for verb in _IGNORE)) and not ends_with(_IGNORE, _NO)


# BM25 over weighted fields. The constants were tuned on real memory directories
# (docs/decisions/0004). None depends on the store, so catalogs built at once and in steps give the
# same answers.

SATURATION = 1.6  # the k1 of BM25
STEPS = 64  # weights are integers, in 64ths, in memory and in the catalog
ROUNDING = SATURATION * STEPS
RULES = ("feedback", "user")  # types that apply to a kind of task, whatever its words
RULE_SHARE, RULE_START = 1.05, 0.2
MAX_LIFTED = 12  # memories below the best that their type may still move up
MAX_TERMS = 40  # terms of a prompt; the rarest are used
FIRST, LAST = 6000, 2000  # characters of a long prompt: the question is at either end of a paste
UNLISTED = 5.0  # rarity of words that background.txt does not list
MAX_KNOWN_WORDS = 10_000  # size of the cache


class _Rarity(dict[str, float]):
    # Made by evals/background.py. Each line: a rarity, then the stems. The text is searched, since
    # building a table would take longer than answering a prompt.
    text = ""

    def __missing__(self, term: str) -> float:
        if not self.text:
            with open(__file__.rpartition("/")[0] + "/background.txt", "rb") as file:
                self.text = file.read().decode().replace("\n", " \n")
        if len(self) > MAX_KNOWN_WORDS:
            self.clear()
        if term.isdigit():
            self[term] = min(len(term), UNLISTED)  # 14 says less than 8080
            return self[term]
        index, rarity = self.text.find(f" {term} "), UNLISTED
        if index >= 0:
            start = self.text.rfind("\n", 0, index) + 1
            rarity = float(self.text[start : self.text.index(" ", start)])
        self[term] = rarity
        return rarity


RARITY = _Rarity()


def read_prompt_terms(prompt: str, words: Words) -> dict[str, float]:
    if len(prompt) > FIRST + LAST:
        prompt = f"{prompt[:FIRST]}\n{prompt[-LAST:]}"
    counts, _ = words.count(prompt)
    terms = {term: 1.0 if count >= 1 else PIECE for term, count in counts.items()}
    for term in implied_terms(prompt):
        terms[term] = max(terms.get(term, 0.0), IMPLIED)
    if len(terms) <= MAX_TERMS:
        return terms
    rarest = sorted(terms, key=lambda term: (-RARITY[term] * terms[term], term))
    return {term: terms[term] for term in rarest[:MAX_TERMS]}


class Matches:
    """Memories that contain the prompt's terms, and their scores.

    `log_count` and the logarithm of each term are looked up: only a catalog writer computes them.
    """

    def __init__(
        self,
        terms: "Mapping[str, float]",
        log_count: float,
        look_up: "Callable[[str], tuple[float, dict[int, int]]]",
    ) -> None:
        self.scores: dict[int, float] = {}
        self.held: list[tuple[str, float, float, dict[int, int]]] = []
        self.wanted = 0.0
        get = self.scores.get
        for term, share in terms.items():
            rarity = RARITY[term] * share
            if not term.isdigit():
                self.wanted += rarity
            log_holders, weights = look_up(term)
            if weights:
                worth = share * (log_count - log_holders) * (SATURATION + 1)
                self.held.append((term, worth, rarity, weights))
                for number, weight in weights.items():
                    self.scores[number] = get(number, 0.0) + worth * weight / (ROUNDING + weight)

    def best(self, count: int) -> list[tuple[float, int]]:
        scores = list(self.scores.items())
        if len(scores) > count + MAX_LIFTED:
            least = sorted(self.scores.values(), reverse=True)[count + MAX_LIFTED]
            scores = [item for item in scores if item[1] >= least]
        best = [
            (-round(score * RULE_SHARE + RULE_START if number & 1 else score, 6), number)
            for number, score in scores
        ]
        best.sort()
        return [(-score, number) for score, number in best[:count]]

    def explain(self, number: int) -> tuple[float, dict[str, float]]:
        """How sure the match is, and what each term added to the score, best first.

        Sureness is comparable between stores: the matched weight times its share of the prompt. A
        number that no memory contains does not count against it: ids are arbitrary.
        """
        mass = matched = 0.0
        total = self.wanted
        gains = []
        for term, worth, rarity, weights in self.held:
            weight = weights.get(number)
            if weight:
                share = weight / (ROUNDING + weight)
                gains.append((-worth * share, term))
                mass += rarity * share
                matched += rarity
                if term.isdigit():
                    total += rarity
        gains.sort()
        words = {term: -gained for gained, term in gains}
        return mass * matched / total if total else 0.0, words

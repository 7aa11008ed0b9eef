"""BM25, how sure, at most five memories, nothing where none fits; rarity table is a data file."""

import os
from math import log

from memdir.hot.inject import Recalled
from memdir.hot.memory import decode, stem
from memdir.hot.words import IMPLIED, PIECE, Words, implied, is_unspaced, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from memdir.errors import Finding, MemdirError
    from memdir.hot.inject import SessionState
    from memdir.hot.memory import Memory
    from memdir.store.ports import Search, Store


# Which prompts ask for no memory. Hot path.

# As a person says it: a verb, perhaps some words between, then the word itself.
_VERBS = (
    *("ignore", "ignoring", "disregard", "disregarding", "skip", "without", "forget about"),
    *("without using", "dont use", "do not use", "dont consult", "do not consult", "dont read"),
    *("do not read", "dont recall", "do not recall", "dont rely on", "do not rely on", "never use"),
    *("dont look at", "do not look at", "dont check", "do not check", "not using"),
)
_NO = ("dont", "not", "never")  # "do not ignore memory"
_BETWEEN = frozenset(
    (
        *("the", "your", "my", "any", "all", "its", "our", "of", "these", "those", "what", "from"),
        *("saved", "stored", "project", "previous", "past", "old", "earlier"),
    )
)
_MOST_BETWEEN = 4  # words between the verb and the word
_MEMORY = ("memory", "memories")
# What makes it the computer's memory, or a thing with that name: "ignore memory leaks for now".
_THINGS = frozenset(
    (
        *("access", "accesses", "address", "addresses", "alignment", "allocation", "allocations"),
        *("argument", "bank", "barrier", "barriers", "budget", "check", "checks", "column"),
        *("configuration", "constraint", "constraints", "consumption", "corruption", "error"),
        *("errors", "field", "flag", "flags", "footprint", "fragmentation", "growth", "issues"),
        *("layout", "leak", "leaks", "limit", "limits", "management", "mapped", "mapping"),
        *("metrics", "mode", "option", "options", "ordering", "overhead", "parameter", "pool"),
        *("pressure", "profiler", "profiling", "protection", "regression", "requirements"),
        *("reservation", "safety", "setting", "settings", "spike", "spikes", "swap", "switch"),
        *("test", "tests", "toggle", "usage", "use", "warning", "warnings"),
    )
)
_LOOK = 2000  # characters of a prompt in which such a wish may stand


def wants_nothing(prompt: str) -> str:
    """Why a prompt gets no memory, or nothing: a command, a single word, a wish for none."""
    bare = prompt.strip()
    if bare[:1] == "/" and bare[1:2].isalpha() and "/" not in bare.split(None, 1)[0][1:]:
        return "it is a slash command"
    words = split(bare[:_LOOK])
    if not words:
        return "it has no words"
    if len(words) == 1 and not any(map(is_unspaced, words[0])):
        return "it is a single word"
    said = [word.lower() for word in words]
    if any(_is_waived(said, at) for at, word in enumerate(said) if word in _MEMORY):
        return "it asks to ignore memory"
    return ""


def _is_waived(said: list[str], at: int) -> bool:
    """True where the words before the one at that place ask to do without it."""
    if said[at + 1 : at + 2] and said[at + 1] in _THINGS:
        return False
    first = at
    while first and at - first < _MOST_BETWEEN and said[first - 1] in _BETWEEN:
        first -= 1
    before = " " + " ".join(said[max(0, first - 4) : first])
    if before.endswith(tuple(f" {no} {verb}" for no in _NO for verb in _VERBS)):
        return False
    return before.endswith(tuple(f" {verb}" for verb in _VERBS))


# How common a word is in memories at large, whatever the store. Hot path.
#
# Made by evals/background.py from 371 memories of 23 repositories; a word is here
# when at least 3 of the repositories use it. Each line: how rare, then the stems.

UNKNOWN = 5.0  # how rare a word is that is not listed
_TABLE = """
0 appli
0.5 file run test us
1 alreadi chang check code commit default doc everi exist feedback first fix git go line md
1 need never new on pass path plan pr project re read real review see user verifi work
1.5 accept actual ad add against alway api ask branch bug build call chain ci claud clean
1.5 command comment compos config confirm correct creat current design document edit env error
1.5 fail featur find flag full gate implement includ issu json keep land layer list live load
1.5 local main make match memori merg miss name non open option output pattern pre push refer
1.5 relat repo report requir resolv rule scope separ session set share ship silent skip sourc
1.5 spec state statu step still surfac task time tool two type updat vs write
2 across action agent assert audit author auto back base behavior block bodi break cach carri
2 case claim class close complet consist contain content context control count cross data
2 debug decis delet diff differ direct directli docker drift drop dure effect end engin entri
2 even exact exampl explicit explicitli failur fals field fixtur flow follow forc fresh
2 function gap gener genuin github green grep head histori hold hub id independ index insid
2 instead integr intern js key last later leav level log loop manual mechan mode modul move
2 multi next node note noth order origin parallel pars point port post prefer proven prs queri
2 rather red releas remov request resolut result return root rs say script section self server
2 servic sh shape show sinc singl skill snapshot specif split stale start stay stop string
2 tabl text three touch track true unit v2 valid valu var version wait way web whole wire
2 workflow wrong zero
2.5 activ alon anyth app architectur arg artifact assum attribut avoid bare baselin bash batch
2.5 binari broken built bump catch caught caus cleanup clear cli client cmd compil connect
2.5 contract convent copi core cost cover coverag cycl dead declar defect defer deliber depend
2.5 deriv descript detail dev develop dir directori disk diverg drive earlier either els emit
2.5 empti enabl endpoint entir environ etc everyth exactli except exec execut exit expect extern
2.5 fact fall fallback fast fetch final fine fire fold form format found free futur gh guard
2.5 hand handl happen har hard header helper hit hook http human ident import init input instal
2.5 io isol iter label lead left lib limit link lint liter logic longer look map matter mean
2.5 messag mid mod model multipl normal npm number ok old oper opt os overrid packag pariti part
2.5 persist phase pick plain plu poll posit preserv probe process produc propos public publish
2.5 pull pure question raw reach readi readm reason record ref refactor reject remain renam
2.5 render repeat replac respons rewrit round rout row runtim safe save scan schema seam second
2.5 secret seed select sequenc setup sever shell side signal small smoke socket src stack stage
2.5 structur style suit switch sync system tag take target templat thread ticket tier token
2.5 trace treat tree trigger trust ts ui unless v1 view visibl want warn watch window worktre
2.5 worth written yml
3 ab access act adapt addit address admin adr allow alongsid anchor anoth answer append approv
3 around assembl auth authorit autom automat autonom background bear becom behind belong best
3 bind bot bound boundari bundl bypass byte canon captur cd changelog cheap checkout cite
3 cleanli codex cold column com come common compat concern concurr configur conflict
3 constraint continu contradict convers curl cut day db decid dedic defin deleg demo dep
3 deploy describ detect devic disabl disciplin discov discoveri dispatch draft drain driven
3 driver ds duplic durabl earli enforc enough enumer especi event ever evid exercis expand
3 export expos extract fa filter finish flight fork forward frame fulli gitignor give global
3 goal gotcha graph guess guid half handler hardwar held home host ignor immedi impl initi
3 inject inlin insert instanc instruct intent investig invok item job kept kill known languag
3 larg latest leak legaci len librari linear lite locat lock long lookup machin made maintain
3 major manag mani mark max metadata method migrat min minor minut mirror mix mock motion ms
3 mutat narrow nativ network nnn none null num object observ often omit onto op otherwis
3 outsid overlay own owner page pair palett param parent patch payload perf perform perman
3 permiss pin ping place pointer polici preced prefix present previou primari principl print
3 prior product prompt protect protocol prove provid prune put python queue race ran rang
3 rebas recommend recur referenc regardless regist regress relev remot reserv reset resourc
3 rest restart restor resum reus revert ride right risk roadmap role rust safeti said search
3 semant send seq sequenti sha short sign signatur site size slow slug someth standalon
3 standard stat static storag store stream struct sub subscrib substitut success suggest
3 summari superpow supersed support surviv sweep symbol team temp thin thing timeout titl tmp
3 todo togeth top topic total transit transport trap trip trivial truth try turn twice unchang
3 unknown unrel url uuid v0 variabl variant verbatim verif what whenev whose win wrap wrapper
3 yaml
3.5 absenc absent accumul advanc ai ambigu analysi anywher appear applic arm array atom attempt
3.5 avail awar backend backlog better big blind bool box bridg bring browser budget bullet
3.5 callback caller candid cap capabl ceil channel checklist child choic chore chose clock clone
3.5 co codebas collaps collid collis combin commun compar complex concret condit conflat
3.5 connector const construct consult consum converg convert correctli counter crate creation
3.5 critic custom daemon dashboard databas date definit degrad demand depth diagnos diagnost
3.5 dirti discard discuss distinct domain doubl durat echo editor elsewher empir encod english
3.5 equal evalu exclud exclus explain extend extra famili ff fit flat flip floor fn four freez
3.5 frequent frozen gain given goe govern graphql group guidanc hardcod help high hoc html idea
3.5 identifi idl imag impli imposs improv inconsist individu infer infra inherit inspect intend
3.5 interact interfac interrupt introduc invari invert invis invoc join know layout learn led
3.5 legitim less lesson lever licens lifecycl like lose lost low lower ls mac macos markdown
3.5 master mcp measur mention minim mismatch mm modifi msg near neither net nois notif offset
3.5 optim orphan overwrit panel paramet parser partial past paus pend plausibl plugin polish
3.5 pool practic predic prevent privat proactiv problem profil program progress proof prose
3.5 purpos py pytest ql queu rais rate rational reachabl recent recov recoveri regener rel reli
3.5 reliabl repli reproduc revers rewritt roll sampl schedul scratch secur serial serv settl
3.5 shadow shift shim sibl simpl sit slice snippet someon sort sound space span stand stash
3.5 strategi stray strict strip stub stuck subag subscript succe succeed swap tail tell termin
3.5 themselv there theyr though tick today toler tri uncondition underli unlik unresolv untouch
3.5 unus up upgrad upload upstream usag v3 val verdict violat volum walk wall wast well went
3.5 whatev wide word ye
4 1b 5s abort abstract account accur ack adjac adopt ae affect agre alia alias align alloc
4 almost along anti anymor apart appar approach archiv arent argument arriv asset assign
4 assist assumpt async attach authent await away ax backup backward bad badg bake basenam
4 began begin behav behaviour benefit beyond bit blanket blast blob blocker bottom breakag
4 broke bulk bundler burn busi cadenc came cancel caveat cf char chase chat chosen churn clamp
4 claus clearli click clobber closur cloud codifi collabor color compact comparison compon
4 comprehens comput concept conclus confus consecut consid consolid constant contribut
4 contributor corrupt cours cp cpu crash credenti cs css ctrl ctx cursor de decod dedup deep
4 defens deferr delay deliv deliveri delta deni destruct determin determinist dict disagre
4 dist distinguish distribut dockerfil downstream dump e2e easi edg email embed enter enum
4 ephemer equival err escap establish eval eventu everywher exce exempt exhaust expens expiri
4 explor express face factual fake far fatal favor feat feed feedbackprworkflow feel filenam
4 fill five folder foreground forget framework front frontier frontmatt gc get glob gone
4 ground grpc guarante handoff harden hash healthi heavi hedg hide hint histor honest hygien
4 ideal ids inact incl incomplet increment indefinit info inform instantli int integ intention
4 intermedi invent jq judg judgment jump justifi kb lab lack late least leftov length li lift
4 light liner listen llm macro mandat mandatori manifest marker materi matrix mb meant menu
4 mergeabl mergestatestatus methodologi mi mind mislead moment motiv much multipli mvp
4 namespac narr natur nd necessari neg nest newli numer obviou older opposit orchestr ordinari
4 outcom overlap ownership pack pad paragraph pay peer period person phrase picker piec pipe
4 pipelin pitfal placehold plane play po pollut possibl power precis predict premis prep
4 pressur primit prioriti proc procedur projectstatus promis promot prop propag properti ps
4 qualiti quick quiet quirk quot rank rare react reactiv readabl reader realiti realli rebuild
4 receiv recip reconstruct redesign reduc refin reflect refresh refus registr registri
4 reintroduc remedi rememb reorder replay repositori restrict retir retri reusabl richer rm
4 router routin ruleset runnabl satisfi scaffold scalar scale screen seen selector sensit shot
4 shrink silenc similar simpli simul simultan six slash slip soft sometim special specifi spot
4 spread sq sqlite squash stabl statement sticki straight subject subsequ suffici sum suppli
4 suppress surpris suspect svg symlink synchron syntax tab tech temporari tend term third
4 threshold throw throwaway ti timestamp tini tip tl toggl toml toolchain trailer transact
4 transcript transform travel triag trim typescript typic unaffect unblock uncommit undefin
4 unifi uniform univers unreach unreli unsaf unsupport unsur untest untrack ur urls usual util
4 uv ux vet vision vitest warrant websocket whichev white widen wipe workaround workspac
4 writer wrote yield yourself zone
4.5 2nd 403s 5m abl accident accuraci aliv amend ap apis askuserquestion asymmetri attent b1
4.5 backstop band bc beat becam bigger bite blindli bonu brainstorm brief broader builder casual
4.5 cat categori charact cheaper cheapli checksum cherri children choos classic coalesc coexist
4.5 col collect complianc compress confid conveni correspond cosmet coupl decor deeper densiti
4.5 deprec desktop despit diagram discrimin disjoint download drill due dynam easier ed ef
4.5 effici elig elimin ensur era eras escal eslint ex exchang fan fd feasibl figur fixup flatten
4.5 footer forbidd forev formal fragil fs gather golden grace grant grow guardrail hang harder
4.5 harmless henc hidden incompat indic indirect instant intact interim interv ish kind knob
4.5 knowledg lag largest latenc latter launch lean let linux login loss lowercas machineri
4.5 meaning member mileston mini minimum mobil monitor nearli noisi notifi ns occurr org orient
4.5 orthogon outliv overal overflow overhead p2 pace packet paid platform plumb portabl predat
4.5 previous priorit probabl pullrequest random realiz recurs refram regex regular reinvent
4.5 relax respond restructur retain revis revisit rf ro robust rotat roughli runner sanction
4.5 sandbox sdk sens sent shas shouldnt shown sleep solid sonnet steadi substr suffix summar tax
4.5 tdd technic tension testabl theme therefor think thumb tidi tight tighten toward tracker
4.5 trade train transient travers trend truncat tsx tune tweak txt typecheck typo understand
4.5 unif union uniqu unmerg upper urgent v4 vari venv vx watcher wave weaken webhook weekli
4.5 width wiki worker wors xx
"""
_SPACED = _TABLE.replace("\n", " \n")  # so that each stem stands between two spaces


def rarity(stem: str) -> float:
    """Looked for in the text: a table of it would take longer to make than a prompt to answer."""
    at = _SPACED.find(f" {stem} ")
    if at < 0:
        return UNKNOWN
    start = _SPACED.rfind("\n", 0, at) + 1
    return float(_SPACED[start : _SPACED.index(" ", start)])


# What a search gives back: memories with a score, best first. Read on the hot path.


class Hit:
    """One memory that a search found: its rank's score, how sure the match is, what matched."""

    __slots__ = ("memory", "score", "sure", "words")

    def __init__(
        self, memory: "Memory", score: float, sure: float, words: dict[str, float]
    ) -> None:
        self.memory = memory
        self.score = score
        self.sure = sure  # comparable between prompts and stores; `score` is not
        self.words = words  # what each matched word added to the score


class Found:
    """The answer of a search: every memory with a score, best first, and what went wrong."""

    __slots__ = ("findings", "hits", "searched")

    def __init__(self, hits: list[Hit], searched: int, findings: "list[Finding]") -> None:
        self.hits = hits
        self.searched = searched  # how many memories there were to choose from
        self.findings = findings


# Which memories belong to a prompt: BM25 over weighted fields, and how sure the match is.
#
# The constants were chosen on memory directories from the wild (docs/decisions/0004); none of them
# depends on the store, so that a catalog made at once and one made in steps answer alike. Hot path.

SATURATION = 1.6  # the k1 of BM25
STEPS = 64  # weights are kept as whole numbers of 64ths: the same in memory and in the catalog
HEAVIEST = 65_535
RULES = ("feedback", "user")  # what applies to a kind of task, whatever its words
RULE_SHARE, RULE_START = 1.05, 0.2
SURE = 0.5  # below it, nothing fits the prompt
MAX_TERMS = 40  # of a prompt; the rarest ones count
_RARITY: dict[str, float] = {}
MOST_KNOWN = 10_000  # words whose rarity is kept
FIRST, LAST = 6000, 2000  # characters of an endless prompt: a question stands before or after


def read_prompt(prompt: str, words: Words) -> dict[str, float]:
    """The terms of a prompt and how much each counts; nothing for a prompt without words."""
    if len(prompt) > FIRST + LAST:
        prompt = f"{prompt[:FIRST]}\n{prompt[-LAST:]}"
    counts, _ = words.count(prompt)
    terms = {term: 1.0 if count >= 1 else PIECE for term, count in counts.items()}
    for term in implied(prompt):
        terms[term] = max(terms.get(term, 0.0), IMPLIED)
    if len(terms) <= MAX_TERMS:
        return terms
    rarest = sorted(terms, key=lambda term: (-rarity_ranking(term) * terms[term], term))
    return {term: terms[term] for term in rarest[:MAX_TERMS]}


def rarity_ranking(term: str) -> float:
    """How rare a word is in memories at large."""
    known = _RARITY.get(term)
    if known is None:
        if len(_RARITY) > MOST_KNOWN:
            _RARITY.clear()
        known = _RARITY[term] = rarity(term)
    return known


def gain(share: float, holders: int, count: int) -> float:
    """What a term is worth in a store of `count` memories, `holders` of which have it."""
    return share * log(1 + (count - holders + 0.5) / (holders + 0.5))


class Matches:
    """Who holds the terms of a prompt, and what that is worth."""

    __slots__ = ("gains", "held", "scores", "wanted", "worths")

    def __init__(
        self,
        terms: "Mapping[str, float]",
        count: int,
        look_up: "Callable[[str], tuple[int, dict[int, int]]]",
    ) -> None:
        self.gains: dict[str, float] = {}
        self.held: dict[str, dict[int, int]] = {}  # weights by term and memory
        for term, share in terms.items():
            holders, weights = look_up(term)
            if weights:
                self.gains[term] = gain(share, holders, count)
                self.held[term] = weights
        self.scores = self._add_up()
        self.worths = {term: rarity_ranking(term) * share for term, share in terms.items()}
        self.wanted = sum([worth for term, worth in self.worths.items() if not term.isdigit()])

    def _add_up(self) -> dict[int, float]:
        scores: dict[int, float] = {}
        get = scores.get
        rounding = SATURATION * STEPS
        for term, holders in self.held.items():
            worth = self.gains[term] * (SATURATION + 1)
            for number, weight in holders.items():
                scores[number] = get(number, 0.0) + worth * weight / (rounding + weight)
        return scores

    def best(self, count: int) -> list[int]:
        """The memories with the highest scores, and those as good as the last of them."""
        scores = self.scores
        if len(scores) <= count:
            return list(scores)
        least = sorted(scores.values(), reverse=True)[count - 1]
        return [number for number, score in scores.items() if score >= least]

    def words(self, number: int) -> dict[str, float]:
        """What each term of the prompt added to a memory's score, the best first."""
        rounding = SATURATION * STEPS
        found = []
        for term, holders in self.held.items():
            weight = holders.get(number)
            if weight:
                gained = self.gains[term] * (SATURATION + 1) * weight / (rounding + weight)
                found.append((-gained, term))
        found.sort()
        return {term: -gained for gained, term in found}

    def sure(self, number: int) -> float:
        """How well a memory fits, comparable between stores: what matched times the share of it.

        A number that nothing holds does not count against it: ids are arbitrary.
        """
        mass = matched = 0.0
        total = self.wanted
        rounding = SATURATION * STEPS
        for term, holders in self.held.items():
            weight = holders.get(number)
            if weight:
                worth = self.worths[term]
                mass += worth * weight / (rounding + weight)
                matched += worth
                if term.isdigit():
                    total += worth
        return mass * matched / total if total else 0.0


def final(score: float, is_rule: bool) -> float:
    """The score with what the type adds: rules apply to a kind of task, whatever its words."""
    return round(score * RULE_SHARE + RULE_START if is_rule else score, 6)


# How much each term says about a memory, for whoever makes or updates a catalog.

# How much a word counts by where it stands: file name, name, description, line of the index, body.
WEIGHTS = (2, 2, 3, 1, 1)
LENGTH, USUAL_LENGTH = 0.6, 80  # how much a body's length counts, and a body that is not long


class _Rounded(dict[float, int]):
    """The weight for each count of a word in a body: few counts, so looked up, not computed."""

    __slots__ = ("share",)

    def __init__(self, share: float) -> None:
        self.share = share

    def __missing__(self, count: float) -> int:
        weight = self[count] = _rounded(count * self.share)
        return weight


def _rounded(weight: float) -> int:
    whole = int(weight + 0.5)
    return (whole if whole < HEAVIEST else HEAVIEST) or 1  # one word, hundreds of times


def weights(words: Words, fields: "Sequence[str]") -> tuple[list[str], list[int]]:
    """The terms of a memory, and how much each says; `fields` in the order of WEIGHTS."""
    *short, body = fields
    counts, length = words.count(body)
    share = WEIGHTS[-1] * STEPS / (1 - LENGTH + LENGTH * length / USUAL_LENGTH)
    said: list[str] = []
    for text, times in zip(short, WEIGHTS, strict=False):
        said += split(text) * times
    terms, found = [], []
    for term, count in words.tally(said)[0].items():
        terms.append(term)
        found.append(_rounded(count * STEPS + counts.pop(term, 0) * share))
    terms += counts
    found += map(_Rounded(share).__getitem__, counts.values())
    return terms, found


# recall: the few memories that belong to a prompt, from every scope; nothing where none fits.
#
# Hot path. Given as bodies where the match is sure, as pointers where it may be.

BODIES = 5
POINTERS = 15
MORE = 8  # candidates beyond those that can be given: twins fall out
MOST_SURFACED = 2000  # of those told already that a search is asked to look beyond
LEADERS = 3  # one of the first must be a sure match, else nothing fits
TEAM = "team"
SAME = 0.8  # share of words in common from which on two memories say the same
COMPARED = 16_384  # characters of a memory whose words are compared


class Place:
    """A store in its scope, and the search over it."""

    __slots__ = ("real", "scope", "search", "source", "store")

    def __init__(
        self,
        scope: str,
        store: "Store",
        search: "Search",
        source: "Callable[[str], str] | None" = None,
    ) -> None:
        self.scope = scope
        self.store = store
        self.search = search
        self.source = source  # who else wrote the memory at a path
        self.real = os.path.realpath(store.root)  # a session may reach it by several spellings

    def recalled(self, memory: "Memory") -> Recalled:
        """One of its memories."""
        one = Recalled(memory, self.scope, self.store.root)
        one.real = self.real
        one.giver = self.source(memory.path) if self.source else ""
        return one


class Recollection:
    """What came back: bodies and pointers, best first, and why there is nothing if so."""

    __slots__ = ("abstained", "bodies", "findings", "near", "pointers", "reason", "searched")

    def __init__(self) -> None:
        self.bodies: list[Recalled] = []
        self.pointers: list[Recalled] = []
        self.near: list[Recalled] = []  # what came closest, where nothing fits
        self.abstained = False
        self.reason = ""
        self.searched = 0
        self.findings: list[Finding] = []

    def nothing(self, reason: str) -> "Recollection":
        """The same without any memory."""
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
    """Search every place, leave out what was told already, and choose."""
    recollection = Recollection()
    reason = wants_nothing(prompt) if abstain else ""
    if reason:
        return recollection.nothing(reason)
    wanted = limit + pointers + MORE + min(len(state.surfaced), MOST_SURFACED)
    every = _search(places, prompt, wanted, recollection)
    found = [one for one in every if one.version not in state.surfaced]
    if abstain:
        found = [one for one in found if one.words]  # rules for any task are told at the start
        if not _fits(found):
            recollection.near = found[:LEADERS]
            return recollection.nothing(_why(every, found))
    reader = Reader(places, recollection.findings)
    found = private_wins(found, reader)
    for one in found:
        sure = one.sure >= SURE or not abstain
        if sure and len(recollection.bodies) < limit:
            if reader.read(one) and not reader.has_twin(one, recollection.bodies):
                recollection.bodies.append(one)
        elif len(recollection.pointers) < pointers:
            recollection.pointers.append(one)
    for given in (recollection.bodies, recollection.pointers):
        given.sort(key=lambda one: bool(one.giver))  # the user's own come first
    return recollection


def _fits(found: list[Recalled]) -> bool:
    """True where one of the first is a sure match."""
    return max([one.sure for one in found[:LEADERS]], default=0.0) >= SURE


def _why(every: list[Recalled], found: list[Recalled]) -> str:
    if _fits(every):
        return "what fits was told already in this session"
    return "nothing fits well enough" if found else "nothing matches"


def _search(
    places: "Sequence[Place]", prompt: str, limit: int, recollection: Recollection
) -> list[Recalled]:
    """What every place found: in its own order, and among the places the surest next."""
    waiting: list[list[Recalled]] = []
    for place in places:
        try:
            found = place.search.find(prompt, limit)
        except _broken() as error:  # one store that cannot be opened hides no other
            recollection.findings.append(_finding(error))
            continue
        recollection.searched += found.searched
        recollection.findings += found.findings
        waiting.append([_recalled(place, hit) for hit in reversed(found.hits)])
    merged = []
    while waiting := [rest for rest in waiting if rest]:
        merged.append(max(waiting, key=lambda rest: rest[-1].sure).pop())
    return merged


def _recalled(place: Place, hit: "Hit") -> Recalled:
    one = place.recalled(hit.memory)
    one.score, one.sure, one.words = hit.score, hit.sure, hit.words
    return one


def _broken() -> "type[MemdirError]":
    """What a store says that cannot be read; a prompt that goes well does not import it."""
    from memdir.errors import MemdirError

    return MemdirError


def _finding(error: "MemdirError") -> "Finding":
    from memdir.errors import Finding

    return Finding(error.code, error.path, error.message, error.next)


class Reader:
    """Reads the text of a memory when it is needed; one that cannot be read is reported."""

    def __init__(self, places: "Sequence[Place]", findings: "list[Finding]") -> None:
        self.stores = {place.scope: place.store for place in places}
        self.findings = findings
        self.words: dict[Recalled, frozenset[str]] = {}  # of each memory that was compared

    def read(self, one: Recalled) -> bool:
        """Fill in its text; False where that is impossible."""
        if one.text:
            return True
        try:
            one.text = decode(self.stores[one.scope].view(one.memory.path))
        except _broken() as error:
            found = _finding(error)
            self.findings += [found] if found not in self.findings else []
            return False
        return True

    def has_twin(self, one: Recalled, others: list[Recalled]) -> bool:
        """Does one of the others say the same?"""
        return any(self.say_same(one, other) for other in others)

    def say_same(self, one: Recalled, other: Recalled) -> bool:
        """Have two memories that were read most of their words in common?"""
        shorter, longer = sorted((len(one.text), len(other.text)))
        if shorter < SAME / 2 * longer:
            return False  # too different in size, whatever the words
        ours, theirs = self._words(one), self._words(other)
        return len(ours & theirs) >= SAME * len(ours | theirs)

    def _words(self, one: Recalled) -> frozenset[str]:
        if one not in self.words:
            self.words[one] = frozenset(split(one.text[:COMPARED].lower()))
        return self.words[one]


def private_wins(found: list[Recalled], reader: Reader) -> list[Recalled]:
    """Where the team and the user have a memory of the same name, the user's; it says so."""
    own = {_label(one): one for one in reversed(found) if one.scope != TEAM}
    kept = []
    for one in found:
        mine = own.get(_label(one)) if one.scope == TEAM else None
        if mine is None or not reader.read(mine):
            kept.append(one)
        elif reader.read(one) and not reader.say_same(one, mine):
            mine.note = f"the team's {one.memory.path} says something else; yours counts more"
    return kept


def _label(one: Recalled) -> str:
    return stem(one.memory.path).lower().replace("_", "-")

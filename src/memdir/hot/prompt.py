"""The prompt hook: memories that match the user's prompt."""

import os
from time import time

from memdir.hot.catalog import open_search
from memdir.hot.disk import read_end_of_file
from memdir.hot.inject import inject_once
from memdir.hot.layout import Markdown
from memdir.hot.place import BUILT_IN, MODEL, SCAN, SHARED, is_below, origin_of_scope, store_key
from memdir.hot.recall import INDEX_CHARACTERS, Place, recall, why_prompt_gets_no_memory
from memdir.hot.run import LOADED, PAUSE_SECONDS, STAMP, Sessions
from memdir.hot.verdicts import Verdicts, tell_dates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.hot.inject import Recalled
    from memdir.hot.place import Here
    from memdir.hot.run import Event, Work
    from memdir.store.ports import Search, Store

NAME = "UserPromptSubmit"
NOTICE = "<task-notification>"  # the client reports that a task has ended; not a question
NONCE_BYTES = 4
PROJECT = "project"
TRANSCRIPT_BYTES, CALL_BYTES = 64 * 1024, 200  # of the conversation's end, of a call up to its name
TOLD_INDEX_CHARACTERS = 2_000  # of an index that surely fit into the start of the session

# Whether a prompt asks to remember something: a quick look; capture looks closely later and saves
# what is not saved by the end of the turn. So this stays silent when in doubt.
MAX_PROMPT_CHARACTERS = 3_000  # longer ones are mostly pasted
# After these a text may be pasted or quoted; who wrote it must not ask the agent to save it.
NOT_TYPED = (*':："“„«‘「`', " '", "\n'", ",\n", *(f"\n{char}" for char in "\n\t >#|<$~"))
CLAUSE_ENDS = (". ", "! ", "? ", ", ", "; ", "。", "！", "？", "，", "、")
LEADS = ("please", "also", "and", "ok", "okay", "but", "bitte", "und", "por", "favor", "per", "et")
PHRASES = (
    *("remember that", "remember:", "remember this", "please remember ", "keep in mind"),
    *("keep this in mind", "keep that in mind", "keep it in mind", "make a note", "from now on"),
    *("don't forget that", "do not forget that", "note this down", "save this to your memory"),
    *("recuerda que", "ten en cuenta", "no olvides que", "a partir de ahora", "ricorda che"),
    *("ricordati", "tieni presente", "tieni a mente", "d'ora in poi", "souviens-toi"),
    *("retiens que", "n'oublie pas que", "désormais", "merk dir", "merke dir", "vergiss nicht"),
    *("denk daran", "ab jetzt", "ab sofort", "lembre-se", "tenha em mente", "a partir de agora"),
    *("запомни", "имей в виду", "отныне", "记住", "記住", "请记住", "請記住", "别忘了", "从现在"),
)
LAST_PHRASES = ("覚えて", "忘れないで", "念頭に置いて", "기억해", "잊지", "명심해")  # end sentences
SAVE_IT = (
    "<memdir-note>The user seems to ask you to remember something. If it is to outlast this task, "
    "save it now, once, in their words: as a memory, or with `memdir remember TEXT`.</memdir-note>"
)


def answer_prompt_hook(event: str, asked: "Event", here: "Here") -> "tuple[str, Work | None]":
    if not asked.prompt or asked.prompt.lstrip().startswith(NOTICE):
        return "", None
    places, caches, max_records = _open_places(here)
    sessions = Sessions(here.state)
    state = sessions.load(asked.session)
    state.tools = _tools_in_use(asked.transcript)
    for place in places:
        if place.scope == PROJECT and BUILT_IN in here.holds:
            place.index = sessions.section(asked.session, LOADED)
    result = recall(places, asked.prompt, state)
    if MODEL in here.holds and not why_prompt_gets_no_memory(asked.prompt):
        from memdir.recall.choose import choose_recalled

        result = choose_recalled(asked.cwd, places, asked.prompt, state, result, asked.session)
    if max_records:
        from memdir.records.hook import limit_records

        limit_records(result, max_records)
    for place in places:
        told = [it for it in (*result.bodies, *result.pointers) if it.scope == place.scope]
        tell_dates(caches[place.scope], told, is_below(place.store.root, here.checkout))
    outdated = _confirm(result.bodies, here.checkout, caches)
    nonce = os.urandom(NONCE_BYTES).hex()
    chosen = result.bodies, result.pointers
    injected = inject_once(*chosen, sessions, asked.session, state, now=time(), nonce=nonce)
    if injected.text and (folder := here.told_folder()):
        asked.told = folder, len(injected.text), injected.bodies, injected.pointers
    parts = [injected.text, SAVE_IT if prompt_asks_to_remember(asked.prompt) else ""]
    text = "\n\n".join(part for part in parts if part)
    if not text:
        return "", None
    work = None
    if outdated:  # checked for the next prompts; this one does not wait
        work = outdated[0].folder + STAMP, outdated[0].root, PAUSE_SECONDS
    return asked.context(NAME, text), work


def _tools_in_use(transcript: str) -> frozenset[str]:
    data = read_end_of_file(transcript, TRANSCRIPT_BYTES)[0] if transcript[:1] == "/" else b""
    calls = data.split(b'"type":"tool_use"')[1:]
    names = [call[:CALL_BYTES].partition(b'"name":"')[2].partition(b'"')[0] for call in calls]
    return frozenset(name.decode("utf-8", "replace") for name in names if name)


def _open_places(here: "Here") -> tuple[list[Place], dict[str, str], int]:
    places, caches = [], {}
    for scope, root in here.stores():
        store = Markdown(root, here.max_file_bytes)
        caches[scope] = os.path.join(here.cache, "stores", store_key(os.path.realpath(root)))
        theirs = scope == PROJECT and BUILT_IN in here.holds  # else we told it at the start
        loaded = INDEX_CHARACTERS if theirs else TOLD_INDEX_CHARACTERS
        search = _open_search(store, caches[scope], here)
        places.append(Place(scope, store, search, index_loaded=loaded))
    max_records = 0
    if root := here.records():  # few projects have records, so their reader is imported here
        from memdir.records.hook import records_place

        place, folder, max_records = records_place(root, here, _open_search)
        if max_records:
            places.append(place)
            caches[place.scope] = folder
    return [_accepted(place, here) for place in places], caches, max_records


def _accepted(place: Place, here: "Here") -> Place:
    if not origin_of_scope(place.scope, place.store.root, here.checkout, SHARED in here.holds):
        return place
    from memdir.hot.acceptance import hook_view_without_waiting
    from memdir.store.accepted import AcceptanceSearch

    view = hook_view_without_waiting(place.scope, place.store, here)
    assert view is not None
    search = AcceptanceSearch(place.search, view)
    return Place(place.scope, view, search, view.source, place.index_loaded)


def _open_search(store: "Store", folder: str, here: "Here") -> "Search":
    if SCAN in here.holds:
        from memdir.recall import scan

        return scan.open_search(store, folder)
    return open_search(store, folder)


def _confirm(bodies: "list[Recalled]", code: str, caches: dict[str, str]) -> list[Verdicts]:
    """Returns the verdicts that the worker should check again."""
    outdated = []
    for scope, folder in caches.items():
        some = [memory for memory in bodies if memory.scope == scope]
        if code and some and scope != "user":  # the user's memories do not belong to a repository
            verdicts = Verdicts(folder, code)
            outdated += [verdicts] if verdicts.tell(some) else []
    return outdated


def prompt_asks_to_remember(prompt: str) -> bool:
    if len(prompt) > MAX_PROMPT_CHARACTERS or prompt.lstrip()[:1] in ("/", "!", "<"):
        return False
    low = "\n" + prompt.strip().lower().replace("’", "'").replace("\r\n", "\n")
    for mark in NOT_TYPED:
        low = "".join(low.partition(mark)[:2])
    for mark in CLAUSE_ENDS:
        low = low.replace(mark, "\n")
    for clause in low.split("\n"):
        while clause.partition(" ")[0] in LEADS and not clause.startswith(PHRASES):
            clause = clause.partition(" ")[2]
        if clause.startswith(PHRASES) or any(phrase in clause for phrase in LAST_PHRASES):
            return True
    return False

"""Memdir in your own agent: `from memdir import Memdir`."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar

from memdir.audit import ages
from memdir.audit.ages import Detail, read_memory_detail
from memdir.capture import review
from memdir.claims import verify
from memdir.claims.verify import Checked
from memdir.config.config import read_config
from memdir.errors import BadInput, Missing
from memdir.format.draft import Draft, Revision, Wishes, check_expected_hash, check_memory_type
from memdir.format.names import check_memory_name
from memdir.hot.behaviour import MODES
from memdir.hot.memory import UNKNOWN
from memdir.hot.place import MAIN_SCOPES, RECORDS
from memdir.recall import answer
from memdir.recall.answer import Prompt, Recall, RecalledMemory, recalled_memory
from memdir.store import changes, look
from memdir.store.accept import hide_unaccepted
from memdir.store.writer import App, Done, open_app

if TYPE_CHECKING:
    from memdir.audit.audit import Audit
    from memdir.capture.plan import Outcome
    from memdir.store.ports import Logged

Place = str | PathLike[str]
P = ParamSpec("P")
R = TypeVar("R")
ALL, PROJECT = "all", "project"
ACTOR = "library"
MAX_FOUND = 1_000  # of a search
_PINS = {None: None, True: "true", False: "false"}  # nothing else pins: not "no", not 5


def known_scopes(scopes: Mapping[str, str]) -> list[str]:
    """Those that are searched together: the main ones that are there, and the records."""
    return [it for it in (*MAIN_SCOPES, RECORDS) if os.path.isdir(scopes.get(it, ""))]


class Prefetch:
    """A recall that runs in the background."""

    def __init__(self, run: Callable[[], Recall]) -> None:
        self._answer: Recall | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._fill, args=(run,), daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        return f"<Prefetch: {self._answer or ('failed' if self._error else 'on its way')}>"

    def _fill(self, run: Callable[[], Recall]) -> None:
        try:
            self._answer = run()
        except BaseException as error:  # told to whoever asks for the answer
            self._error = error

    @property
    def ready(self) -> bool:
        return not self._thread.is_alive()

    def result(self, timeout: float | None = None) -> Recall | None:
        """The answer, or None while there is none; `timeout=0` never waits."""
        self._thread.join(timeout)
        if self._error is not None:
            raise self._error
        return self._answer


class Memdir:
    """The memories of a project, and those of every other scope that applies to it.

    All of them are recalled; what is saved, verified, audited and undone is the project's, or that
    of the one scope that was asked for.
    """

    def __init__(self, apps: Sequence[tuple[str, App]], open_scope: Callable[[str], App]) -> None:
        self._every, self._own = apps, apps[0]
        self._open_scope = open_scope

    @classmethod
    def open(
        cls,
        project: Place | None = None,
        *,
        scope: str = ALL,
        dir: Place | None = None,
        environ: Mapping[str, str] | None = None,
        now: Callable[[], float] = time.time,
        tell: Callable[[str], None] = lambda text: None,
    ) -> Memdir:
        """Open the store of a project directory (default: the current one) or of `dir`.

        `scope` names one of `memdir where`; `all` recalls from every one that applies. `environ`
        and `now` are the world that it sees, `tell` hears what a person should know meanwhile.
        """
        project, dir = (None if path is None else os.fspath(path) for path in (project, dir))
        env = os.environ if environ is None else environ

        def open_scope(name: str) -> App:
            config = read_config(env, here, project=project, dir=dir, scope=name)
            return open_app(config, now=now, tell=tell, actor=ACTOR)

        try:
            here = os.getcwd()
        except OSError as error:
            message = f"the current directory is gone: {error.strerror}"
            raise Missing(message, next="change into one that exists, or name a project") from None
        own = PROJECT if scope == ALL else scope
        app = open_scope(own)
        names = known_scopes(app.config.scopes) if scope == ALL and dir is None else ()
        others = [(name, open_scope(name)) for name in names if name != own]
        return cls([(own, app), *others], open_scope)

    def close(self) -> None:
        """Nothing stays open between two calls; this is for `with Memdir.open() as memory:`."""

    def __enter__(self) -> Memdir:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Memdir {self.app.store.root}: {', '.join(self.scopes()) or 'nothing yet'}>"

    @property
    def _apps(self) -> list[tuple[str, App]]:
        """What is recalled from; the written store once it is there."""
        apps = [*self._every]
        return apps if os.path.isdir(self.app.store.root) else apps[1:]

    def at(self, scope: str = "", actor: str = ACTOR) -> App:
        """One scope, by default the one that is written, for a surface or an actor of your own."""
        known = dict(self._every)
        app = known.get(scope or self._own[0]) or self._open_scope(scope)
        return replace(app, actor=actor)

    def scopes(self) -> list[str]:
        """Those that are recalled from, the one that is written first."""
        return [scope for scope, _ in self._apps]

    @property
    def app(self) -> App:
        """The store that is written, for a surface of your own."""
        return self._own[1]

    @property
    def aio(self) -> AsyncMemdir:
        """The same methods to be awaited: each runs in a thread, so that nothing else waits."""
        return AsyncMemdir(self)

    def prompt(self, mode: str = "", *, indexes: bool = True) -> Prompt:
        """How an agent is to use its memory, as `.text`; empty where memory is switched off."""
        if mode not in ("", *MODES):
            raise BadInput(f"there is no mode {mode!r}", next=f"use one of {', '.join(MODES)}")
        others = [item for item in self._apps if item[0] != self._own[0]]
        return answer.render_memory_prompt([self._own, *others], mode, indexes=indexes)

    def recall(
        self, prompt: str, *, session: str = "", limit: int = 5, model: bool | None = None
    ) -> Recall:
        """What belongs to a prompt: `.text` is what to show the agent, empty if nothing fits.

        A model chooses if `model` is True, or the setting `recall.model` says so.
        """
        from memdir.audit.ages import find_age_starts

        return answer.recall(
            self._apps, prompt, session=session, limit=limit, model=model, ages=find_age_starts
        )

    def prefetch(
        self, prompt: str, *, session: str = "", limit: int = 5, model: bool | None = None
    ) -> Prefetch:
        """The same in the background, so that no answer waits for it."""
        return Prefetch(lambda: self.recall(prompt, session=session, limit=limit, model=model))

    def search(self, words: str, *, limit: int = 20) -> list[RecalledMemory]:
        """What has one of these words, best first, also where recall would rather say nothing."""
        found = answer.recall(self._apps, words, limit=0, pointers=MAX_FOUND, abstain=False)
        items = [item for item in found.found.pointers if item.words]
        return [recalled_memory(item, found.now) for item in items[:limit]]

    def get(self, name: str) -> Detail:
        """One memory by its name, path or `name@change`, whole: `.text` holds header and body."""
        missing = Missing("there is no memory yet", next="memory.add(TEXT) makes the first one")
        for scope, app in self._apps:
            app = hide_unaccepted(app)
            try:
                return read_memory_detail(app, scope, *look.show_in_store(app, name))
            except Missing as error:
                missing = error
        raise missing

    def save(
        self,
        text: str,
        *,
        type: str = "",
        name: str = "",
        description: str = "",
        why: str = "",
        how: str = "",
        pinned: bool = False,
        if_hash: str | None = None,
        anyway: bool = False,
        allow_secret: bool = False,
    ) -> Done:
        """Keep a memory; `.change` says what became of it: created, updated, or skipped and why.

        Without a type it is a rule (`feedback`) if worded as one, else a fact of the `project`; a
        name that is there already updates that memory, with `if_hash` only this version of it.
        `anyway` saves what the rules advise against, `allow_secret` what looks like a password.
        """
        named = check_memory_name(name) if name else ""
        given = (text, type or UNKNOWN, named, description, why, how, _PINS[pinned] == _PINS[True])
        draft = Draft(*given, source=ACTOR, expected=if_hash)
        return changes.save_memory(self.app, draft, Wishes(anyway, allow_secret is True))

    add = save

    def update(
        self,
        name: str,
        text: str | None = None,
        *,
        type: str | None = None,
        description: str | None = None,
        why: str = "",
        how: str = "",
        pinned: bool | None = None,
        if_hash: str | None = None,
        allow_secret: bool = False,
    ) -> Done:
        """Change a memory: its text, type, description, …; the rest stays as it is.

        With `if_hash` only this version; one that was changed meanwhile is a `Conflict`.
        """
        check_expected_hash(if_hash)
        fields = [("type", type), ("description", description), ("pinned", _PINS[pinned])]
        given = tuple((key, value) for key, value in fields if value is not None)
        revision = Revision("", given, text, if_hash or "", why, how)
        return changes.edit_memory(self.app, name, revision, Wishes(secret=allow_secret is True))

    def forget(self, *names: str, reason: str = "") -> Done:
        """Retire memories; `undo` brings them back."""
        return changes.retire_memories(self.app, names, reason=reason)

    def history(self, name: str = "", limit: int = 20) -> list[Logged]:
        """The changes of the store or of one memory, newest first, whoever made them."""
        return [replace(it, scope=self._own[0]) for it in look.store_log(self.app, name, limit)]

    def verify(self, *names: str) -> Checked:
        """What memories say of the code, checked now: these, or all of them with their index."""
        return verify.verify_memories(self.app, names)

    def audit(self, *, deep: bool = False) -> Audit:
        """What has aged, doubled or lost its place; `deep` checks claims too. Only looks."""
        from memdir.audit.audit import audit  # half of the modules there are

        return audit(self.app, deep=deep)

    def capture(
        self,
        conversation: str | PathLike[str] | Sequence[Mapping[str, object]],
        *,
        session: str = "",
        client: str = "",
        model: bool | str = False,
    ) -> Outcome:
        """Learn from a conversation what is new since the last time it was handed over.

        It is a list of messages (`role`, `content`), or the path of a transcript that a `client`
        wrote down (default: Claude Code). What a person asked to remember is saved, what was only
        noticed is held for `memdir review`; `.decided` says which. No model is asked, unless
        `model` is True (the one of the settings) or names one: then within the budget.
        """
        from memdir.capture.capture import hand_over_messages  # a quarter of the modules there are

        if isinstance(conversation, PathLike):
            conversation = os.fspath(conversation)
        asked = model if isinstance(model, str) else None if model else ""
        outcome = hand_over_messages(
            self.app, conversation, session=session, client=client, model=asked
        )
        return replace(outcome, store=self.app.store.root)

    def undo(self, change: str = "") -> Done:
        """Take back one change by its id, or the last one, whoever made it."""
        return review.undo_and_hold_again(self.app, "" + change)  # None: not the last one

    def section(self, *, session: str = "", full: bool = False) -> str:
        """What a session starts with: indexes and standing rules, with `full` all they name."""
        return answer.render_session_section(self._apps, session=session, full=full)

    def begin_anew(self, session: str) -> None:
        """After a clear or a compact: the session may be told everything again."""
        answer.begin_recall_session_anew(self._apps, session)

    def standing(self) -> str:
        """The rules that hold whatever the prompt is, for the start of a session."""
        return answer.recall_standing_rules(self._apps)[0]

    def list(self, type: str = "") -> list[ages.Listed]:
        """Every memory, most recently confirmed first."""  # last: it hides the type `list`
        check_memory_type(type or UNKNOWN)
        apps = (hide_unaccepted(app) for _, app in self._apps)
        rows = (row for app in apps for row in ages.list_memory_ages(app)[0])
        return [row for row in rows if type in ("", row.type)]


class _Awaited(Generic[P, R]):
    """A method whose call is awaited; its arguments and its answer are those of the method."""

    def __init__(self, method: Callable[Concatenate[Memdir, P], R]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(
        self, instance: AsyncMemdir, owner: type[AsyncMemdir]
    ) -> Callable[P, Coroutine[Any, Any, R]]:
        import asyncio  # a twentieth of a second that others need not wait

        async def call(*args: P.args, **kwargs: P.kwargs) -> R:
            return await asyncio.to_thread(self._method, instance.memory, *args, **kwargs)

        return call


class AsyncMemdir:
    """`await memory.aio.recall(…)`: no twin of the code, only of the calls."""

    def __init__(self, memory: Memdir) -> None:
        self.memory = memory

    def __repr__(self) -> str:
        return repr(self.memory).replace("<Memdir", "<AsyncMemdir", 1)

    prompt = _Awaited(Memdir.prompt)
    recall = _Awaited(Memdir.recall)
    search = _Awaited(Memdir.search)
    list = _Awaited(Memdir.list)
    get = _Awaited(Memdir.get)
    capture = _Awaited(Memdir.capture)
    save = _Awaited(Memdir.save)
    add = save
    update = _Awaited(Memdir.update)
    forget = _Awaited(Memdir.forget)
    history = _Awaited(Memdir.history)
    verify = _Awaited(Memdir.verify)
    audit = _Awaited(Memdir.audit)
    undo = _Awaited(Memdir.undo)
    section = _Awaited(Memdir.section)
    begin_anew = _Awaited(Memdir.begin_anew)
    standing = _Awaited(Memdir.standing)

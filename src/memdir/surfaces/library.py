"""memdir in your own agent: `from memdir import Memdir`."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping

from memdir import flows
from memdir.app import App, open_app
from memdir.config import read_config
from memdir.core.scope import MAIN_SCOPES
from memdir.flows.recalling import Recall

ALL = "all"


def _silent(text: str) -> None:
    """A library says nothing on its own; pass `tell` to hear it."""


class Prefetch:
    """A recall under way in the background, while the agent does something else."""

    def __init__(self, run: Callable[[], Recall]) -> None:
        self._answer: Recall | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._fill, args=(run,), daemon=True)
        self._thread.start()

    def _fill(self, run: Callable[[], Recall]) -> None:
        try:
            self._answer = run()
        except BaseException as error:  # told to whoever asks for the answer
            self._error = error

    @property
    def ready(self) -> bool:
        """True once there is an answer, or an error."""
        return not self._thread.is_alive()

    def result(self, timeout: float | None = None) -> Recall | None:
        """The answer, or None while there is none; `timeout=0` never waits."""
        self._thread.join(timeout)
        if self._error is not None:
            raise self._error
        return self._answer


class Memdir:
    """The memories of a project, and those of every other scope that applies to it."""

    def __init__(self, apps: list[tuple[str, App]]) -> None:
        self._apps = apps

    @classmethod
    def open(
        cls,
        project: str | None = None,
        *,
        scope: str = ALL,
        dir: str | None = None,
        environ: Mapping[str, str] | None = None,
        now: Callable[[], float] = time.time,
        tell: Callable[[str], None] = _silent,
    ) -> Memdir:
        """Open the store of a project directory (default: the current one) or of `dir`."""
        env = os.environ if environ is None else environ
        found: list[tuple[str, App]] = []
        known = read_config(env, os.getcwd(), project=project, dir=dir, scope=scope).scopes
        names = [scope] if scope != ALL else [name for name in known if name in MAIN_SCOPES]
        for name in names if dir is None or scope != ALL else ("project",):
            config = read_config(env, os.getcwd(), project=project, dir=dir, scope=name)
            if scope != ALL or os.path.isdir(config.store):
                app = open_app(config, now=now, tell=tell, actor="library")
                found.append((name, app))
        return cls(found)

    def recall(
        self, prompt: str, *, session: str = "", limit: int = 5, model: bool = False
    ) -> Recall:
        """What belongs to a prompt: `.text` is what to show the agent, empty if nothing fits."""
        return flows.recall(self._apps, prompt, session=session, limit=limit, model=model)

    def prefetch(
        self, prompt: str, *, session: str = "", limit: int = 5, model: bool = False
    ) -> Prefetch:
        """The same in the background, so that no answer waits for it."""
        return Prefetch(lambda: self.recall(prompt, session=session, limit=limit, model=model))

    def section(self, *, session: str = "", full: bool = False) -> str:
        """What a session starts with: indexes and standing rules, with `full` all they name."""
        return flows.section(self._apps, session=session, full=full)

    def begin_anew(self, session: str) -> None:
        """After a clear or a compact: the session may be told everything again."""
        flows.begin_anew(self._apps, session)

    def standing(self) -> str:
        """The rules that hold whatever the prompt is, for the start of a session."""
        return flows.standing(self._apps)[0]

"""The stores of the project, opened anew for each call: settings and directories may change."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memdir.app import App
    from memdir.config import Config

ALL, PROJECT = "all", "project"
ACTOR = "mcp"


class Stores:
    """Where the server stands. `scope` is the one it was started for; `all` for every one."""

    def __init__(
        self,
        environ: "Mapping[str, str]",
        cwd: str,
        now: "Callable[[], float]",
        project: str | None = None,
        dir: str | None = None,
        scope: str = ALL,
    ) -> None:
        self.environ = environ
        self.cwd = cwd
        self.now = now
        self.project = project
        self.dir = dir
        self.scope = scope
        self.heard: list[str] = []  # what the person would be told on a terminal
        self._looked: list[App] = []

    def app(self, scope: str = "", client: str = "") -> "App":
        """One store; the project's where nobody says which."""
        from memdir.core.errors import BadInput
        from memdir.core.scope import MAIN_SCOPES

        if scope == ALL:
            what = "scope all means several stores; this works on one"
            raise BadInput(what, next=f"choose one of {', '.join(MAIN_SCOPES)}")
        default = PROJECT if self.scope == ALL else self.scope
        return self._open(scope or default, client)

    def apps(self, scope: str = "") -> "list[tuple[str, App]]":
        """Every store that applies and is there, or the one that was asked for."""
        from memdir.core.scope import MAIN_SCOPES

        wanted = scope or self.scope
        if wanted != ALL:
            return [(wanted, self.app(wanted))]
        known = self.config(PROJECT).scopes
        names = [PROJECT, *(() if self.dir else [one for one in known if one in MAIN_SCOPES])]
        found = [(name, self._open(name, "")) for name in dict.fromkeys(names)]
        return [(name, app) for name, app in found if os.path.isdir(app.store.root)]

    def config(self, scope: str) -> "Config":
        """What files and environment say of a scope now."""
        from memdir.config import read_config

        return read_config(self.environ, self.cwd, project=self.project, dir=self.dir, scope=scope)

    def keep_what_others_did(self) -> None:
        """Commit what a client or a person wrote past us, if nobody is writing."""
        while self._looked:
            self._looked.pop().snapshot()
        self.heard.clear()

    def log(self, what: str) -> None:
        """A mistake of ours, for whoever looks for it; nothing of what was sent."""
        from memdir.adapters.log_file import log
        from memdir.core.errors import MemdirError

        try:
            log(self.config(PROJECT).state_dir, ACTOR, what)
        except MemdirError:
            return  # without a home there is no log

    def _open(self, scope: str, client: str) -> "App":
        from memdir.app import open_app

        actor = f"{ACTOR}:{client}" if client else ACTOR
        app = open_app(self.config(scope), now=self.now, tell=self.heard.append, actor=actor)
        self._looked.append(app)
        return app

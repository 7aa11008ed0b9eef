"""Addresses of the page and what stands there; `views` shows, `posts` acts."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from urllib.parse import unquote, urlencode

from markupsafe import Markup
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from memdir.capture.inbox import Held, held_title, open_inbox, write_held_draft
from memdir.errors import Conflict, MemdirError, Missing
from memdir.format.draft import content_hash
from memdir.hot.memory import decode, encode
from memdir.hot.place import RECORDS
from memdir.store.accept import Source, Waiting, find_source_in_store
from memdir.store.writer import App
from memdir.text.secrets import text_before_secrets
from memdir.ui import page
from memdir.ui.findings import Audits
from memdir.ui.gate import FORM
from memdir.ui.workspace import Census, Spot, Workspace, state_of_page_files

MAX_NOTICES = 200
Undecided = tuple[App, Held | Waiting]  # a held draft, or what others wrote and nobody accepted


@dataclass(frozen=True)
class Outcome:
    """What an act did, in words; `take_back` undoes it and says so."""

    message: str
    details: tuple[str, ...] = ()
    take_back: Callable[[], Outcome] | None = None
    refused: bool = False


def new_ui_batch() -> str:
    """Of everything that one request changes, in the history."""
    return f"ui-{secrets.token_hex(6)}"


@dataclass
class Ui:
    workspace: Workspace
    form_token: str
    audits: Audits = field(default_factory=Audits)
    notices: dict[str, Outcome] = field(default_factory=dict)


class Visit:
    """One request: the store that it is about, opened once."""

    def __init__(self, ui: Ui, spot: Spot, request: Request, base: str, place: str = "") -> None:
        self.ui, self.spot, self.request, self.base, self.place = ui, spot, request, base, place
        self.form: dict[str, str] = request.scope.get(FORM, {})
        self.remarks: list[str] = []

    @cached_property
    def app(self) -> App:
        return self.open_scope(self.spot)

    @property
    def last_census(self) -> Census:
        return self.ui.workspace.census(self.app)

    @cached_property
    def census(self) -> Census:
        """Looked at once; changes from outside come into the history with it."""
        self.last_census.look(self.app)
        return self.last_census

    def asked(self, name: str) -> str:
        return self.request.query_params.get(name, "")

    def open_scope(self, spot: Spot) -> App:
        return self.ui.workspace.open(spot, self.remarks.append, new_ui_batch())

    def undecided(self, census: Census) -> list[Undecided]:
        """What others wrote in the stores of this project, then drafts."""
        others: dict[str, Source] = {}
        for spot in self.ui.workspace.scopes(self.spot):
            with suppress(MemdirError):  # its own page says why
                app = self.open_scope(spot)
                if app.config.origin and app.store.root not in others:
                    others[app.store.root] = find_source_in_store(spot.scope, app)
        inbox = open_inbox(self.app)
        held, findings = census.once("drafts", inbox.look, state_of_page_files(inbox.folder))
        self.remarks += [it.message for it in findings]
        foreign = [(source.app, it) for source in others.values() for it in source.waiting]
        return [*foreign, *((self.app, it) for it in held)]

    def url(self, place: str = "", **query: str) -> str:
        tail = f"?{urlencode(query, errors='surrogateescape')}" if query else ""
        return f"{self.base}{place}{tail}"

    def render(self, name: str, title: str, **values: Any) -> Response:
        id, readonly = self.asked("notice"), self.spot.scope == RECORDS
        frame = {"title": title, "readonly": readonly, "static": False, "refresh": False}
        frame |= {"notice_id": id, "notice": self.ui.notices.get(id)}
        template = page.page_environment().get_template(name)
        html = template.render(vars(self) | frame | values).encode("utf-8", "backslashreplace")
        return Response(html, values.get("status", 200), media_type="text/html; charset=utf-8")

    def done(self, outcome: Outcome, place: str = "", **query: str) -> Response:
        """Back to a page, with the banner of what was done there."""
        self.last_census.forget()
        details = dict.fromkeys((*outcome.details, *self.remarks))
        id, notices = new_ui_batch(), self.ui.notices
        notices[id] = replace(outcome, details=tuple(details))
        if len(notices) > MAX_NOTICES:
            del notices[next(iter(notices))]
        return RedirectResponse(self.url(place, notice=id, **query), 303)

    def failed(self, error: MemdirError, status: int = 422) -> Response:
        if isinstance(error, Conflict):
            texts = {"ours": decode(error.ours), "theirs": decode(error.theirs)}
            texts["typed"] = self.form.get("body", "")
            name, title = "conflict.html", "Changed meanwhile"
            return self.render(name, title, status=409, error=error, **texts)
        status = 404 if isinstance(error, Missing) else status
        return self.render("error.html", "That did not work", status=status, error=error)


def find_undecided(undecided: Iterable[Undecided], id: str, version: str = "") -> Undecided:
    """As the page has shown it, if a version is given."""
    found = next((it for it in undecided if it[1].id == id), None)
    if found is None:
        raise Missing("this was decided on already, or changed", next="look at what waits now")
    item = show_item_on_page(*found)
    if version not in ("", item["version"]):
        message = "this draft was changed since the page was made; nothing was decided"
        now = encode(item["text"] or item["title"])
        raise Conflict(message, path=id, next="look at it again", ours=b"", theirs=now)
    return found


def show_item_on_page(app: App, thing: Held | Waiting) -> dict[str, Any]:
    """For the templates, which word it; `version` is what the page has shown."""
    shown = {"app": app, "thing": thing, "id": thing.id, "kind": "memory", "version": thing.id}
    if isinstance(thing, Waiting):
        memory, text = thing.memory, decode(thing.data)
        title = memory.description or memory.name
        return shown | {"title": title, "type": memory.type, "text": text, "time": memory.clock}
    draft, title = thing.catch.draft, held_title(thing.catch)
    text, type = (text_before_secrets(draft.body), draft.type) if draft else ("", "forget")
    shown |= {"kind": "draft", "version": content_hash(write_held_draft(thing))}
    return shown | {"title": title, "type": type, "text": text, "time": thing.time}


Handler = Callable[[Visit], Response]


def open_page(ui: Ui) -> Starlette:
    from memdir.ui.views import VIEWS

    def endpoint(handler: Handler, place: str = "") -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            spot = ui.workspace.find(request.path_params["spot"])
            if spot is None:
                return RedirectResponse("/", 303)
            visit = Visit(ui, spot, request, f"/s/{spot.id}/", place)
            try:
                return handler(visit)
            except MemdirError as error:
                return visit.failed(error)
            except Exception as error:  # the one broad net: the page goes on
                message = f"this is a bug in memdir: {type(error).__name__}"
                return visit.failed(MemdirError(message, next="please report it"), 500)

        return answer

    def go(request: Request) -> Response:
        spot = ui.workspace.find(request.query_params.get("to", "")) or ui.workspace.first
        return RedirectResponse(f"/s/{spot.id}/", 303)

    views = [Route(f"/s/{{spot}}/{name}", endpoint(view, name)) for name, view in VIEWS.items()]
    act = Route("/s/{spot}/do/{act}", endpoint(_act, "do"), methods=["POST"])
    static = Mount("/static", StaticFiles(directory=page.STATIC))
    return Starlette(routes=[Route("/", go), Route("/go", go), static, *views, act])


def draw_home_page_file(ui: Ui) -> bytes:
    """The first screen as one file, to be sent around: it links to nothing and asks for nothing."""
    from memdir.ui.views import home_page_values

    visit = Visit(ui, ui.workspace.first, Request({"type": "http", "query_string": b""}), "")
    more = home_page_values(visit) | {"static": True, "job": None}
    more |= {"css": Markup((page.STATIC / "style.css").read_text("utf-8")), "readonly": True}
    return bytes(visit.render("home.html", "Overview", **more).body)


def _act(visit: Visit) -> Response:
    from memdir.ui.posts import POSTS  # half of the modules there are; the first screen spares them

    act = visit.request.path_params["act"]
    if act not in POSTS:
        raise Missing("there is no such act", next="load the page again")
    return POSTS[act](visit)


def form_path(key: str) -> str:
    return unquote(key, errors="surrogateescape")

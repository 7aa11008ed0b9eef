"""Addresses of the page and what stands there; `views` shows, `posts` acts."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from urllib.parse import unquote, urlencode

from markupsafe import Markup
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from memdir.errors import Conflict, MemdirError, Missing
from memdir.hot.memory import decode
from memdir.hot.place import RECORDS
from memdir.store.accept import Source
from memdir.store.writer import App
from memdir.ui import page
from memdir.ui.decisions import Item, find_others, list_items
from memdir.ui.findings import Audits
from memdir.ui.gate import FORM
from memdir.ui.workspace import Census, Spot, Workspace

MAX_NOTICES = 200
NAV = (
    ("", "Overview"),
    ("memories", "Memories"),
    ("waiting", "Waiting"),
    ("told", "Told"),
    ("lab", "Recall lab"),
    ("restructure", "Restructure"),
    ("budget", "Budget"),
    ("doctor", "Doctor"),
)


@dataclass(frozen=True)
class Outcome:
    """What an act did, in words; `take_back` undoes it and says so."""

    message: str
    details: tuple[str, ...] = ()
    take_back: Callable[[], Outcome] | None = None
    refused: bool = False


def new_batch() -> str:
    """Of everything that one request changes, in the history."""
    return f"ui-{secrets.token_hex(6)}"


@dataclass
class Ui:
    workspace: Workspace
    form_token: str
    audits: Audits = field(default_factory=Audits)
    notices: OrderedDict[str, Outcome] = field(default_factory=OrderedDict)

    def keep(self, outcome: Outcome) -> str:
        id = new_batch()
        self.notices[id] = outcome
        while len(self.notices) > MAX_NOTICES:
            self.notices.popitem(last=False)
        return id


class Visit:
    """One request: the store that it is about, opened once."""

    def __init__(self, ui: Ui, spot: Spot, request: Request, base: str, place: str = "") -> None:
        self.ui, self.spot, self.request, self.base, self.place = ui, spot, request, base, place
        self.remarks: list[str] = []

    @cached_property
    def app(self) -> App:
        return self.ui.workspace.open(self.spot, self.remarks.append, batch=new_batch())

    @property
    def last_census(self) -> Census:
        return self.ui.workspace.census(self.app)

    @cached_property
    def census(self) -> Census:
        """Looked at once; changes from outside come into the history with it."""
        self.last_census.look(self.app)
        return self.last_census

    @property
    def form(self) -> dict[str, str]:
        fields: dict[str, str] = self.request.scope.get(FORM, {})
        return fields

    def asked(self, name: str, default: str = "") -> str:
        return self.request.query_params.get(name, default)

    def number(self, name: str) -> int:
        text = self.asked(name)
        return int(text) if text.isdecimal() and len(text) < 9 else 0

    def open_scope(self, spot: Spot) -> App:
        tell = self.remarks.append
        return self.ui.workspace.open(spot, tell, batch=new_batch())

    @cached_property
    def others(self) -> list[Source]:
        """What others wrote in the stores of this project."""
        spots = self.ui.workspace.scopes(self.spot)
        scopes = [(spot.scope, lambda spot=spot: self.open_scope(spot)) for spot in spots]
        return find_others(scopes)

    def items(self, census: Census) -> tuple[list[Item], list[str]]:
        return list_items(self.app, census, self.others)

    def url(self, place: str = "", **query: str) -> str:
        tail = f"?{urlencode(query, errors='surrogateescape')}" if query else ""
        return f"{self.base}{place}{tail}"

    def render(self, name: str, title: str, **values: Any) -> Response:
        values = {**self.frame(), "title": title, **values}
        html = page.render(name, values, self.ui.workspace.cache_dir)
        return Response(html, values.get("status", 200), media_type=HTML)

    def frame(self) -> dict[str, Any]:
        notice = self.asked("notice")
        return {
            "nav": NAV,
            "here": self.place,
            "base": self.base,
            "spot": self.spot,
            "spots": self.ui.workspace.scopes(self.spot),
            "projects": self.ui.workspace.projects(),
            "form_token": self.ui.form_token,
            "notice": self.ui.notices.get(notice),
            "notice_id": notice,
            "remarks": list(dict.fromkeys(self.remarks)),
            "readonly": self.spot.scope == RECORDS,
            "static": False,
            "refresh": False,
        }

    def done(self, outcome: Outcome, place: str = "", **query: str) -> Response:
        """Back to a page, with the banner of what was done there."""
        self.last_census.forget()
        details = dict.fromkeys((*outcome.details, *self.remarks))
        notice = self.ui.keep(replace(outcome, details=tuple(details)))
        return RedirectResponse(self.url(place, notice=notice, **query), 303)

    def failed(self, error: MemdirError, status: int = 0) -> Response:
        if isinstance(error, Conflict):
            texts = {"ours": decode(error.ours), "theirs": decode(error.theirs)}
            texts["typed"] = self.form.get("body", "")
            return self.render(
                "conflict.html", "Changed meanwhile", status=409, error=error, **texts
            )
        status = status or (404 if error.code == "missing" else 422)
        return self.render("error.html", "That did not work", status=status, error=error)


HTML = "text/html; charset=utf-8"
Handler = Callable[[Visit], Response]


def open_page(ui: Ui) -> Starlette:
    from memdir.ui.views import VIEWS

    def endpoint(handler: Handler, place: str = "") -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            id = request.path_params["spot"]
            spot = ui.workspace.find(id)
            if spot is None:
                return RedirectResponse("/", 303)
            visit = Visit(ui, spot, request, f"/s/{id}/", place)
            try:
                return handler(visit)
            except MemdirError as error:
                return visit.failed(error)
            except Exception as error:  # the one broad net: the page goes on
                message = f"this is a bug in memdir: {type(error).__name__}"
                return visit.failed(MemdirError(message, next="please report it"), 500)

        return answer

    def first(request: Request) -> Response:
        return RedirectResponse(f"/s/{ui.workspace.first.id}/", 303)

    def go(request: Request) -> Response:
        spot = ui.workspace.find(request.query_params.get("to", ""))
        return RedirectResponse(f"/s/{(spot or ui.workspace.first).id}/", 303)

    def static(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in page.STATIC:
            return Response("memdir: no such page\n", 404, media_type="text/plain")
        return Response(page.static_file(name), media_type=page.STATIC[name])

    routes = [Route("/", first), Route("/go", go), Route("/static/{name}", static)]
    for name, handler in VIEWS.items():
        routes.append(Route(f"/s/{{spot}}/{name}", endpoint(handler, name)))
    routes.append(Route("/s/{spot}/do/{act}", endpoint(_act), methods=["POST"]))
    return Starlette(routes=routes)


def draw_first_screen(ui: Ui) -> bytes:
    """The first screen as one file, to be sent around: it links to nothing and asks for nothing."""
    from memdir.ui.views import first_screen

    visit = Visit(ui, ui.workspace.first, Request({"type": "http", "query_string": b""}), "")
    values = first_screen(visit)
    css = page.static_file("style.css").decode()
    more = {"title": "Overview", "static": True, "css": Markup(css), "job": None, "readonly": True}
    return page.render("home.html", {**visit.frame(), **values, **more}, ui.workspace.cache_dir)


def _act(visit: Visit) -> Response:
    from memdir.ui.posts import POSTS  # half of the modules there are; the first screen spares them

    act = visit.request.path_params["act"]
    if act not in POSTS:
        raise Missing("there is no such act", next="load the page again")
    return POSTS[act](visit)


def paginate(items: Sequence[Any], number: int, size: int) -> dict[str, Any]:
    pages = max(-(-len(items) // size), 1)
    number = min(max(number, 1), pages)
    part = items[(number - 1) * size : number * size]
    return {"items": part, "page": number, "pages": pages, "total": len(items)}


def path_of_key(key: str) -> str:
    return unquote(key, errors="surrogateescape")

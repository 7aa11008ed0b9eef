"""Templates to HTML: every value is made visible and escaped; nothing is trusted for its source."""

from __future__ import annotations

import datetime
import posixpath
import time
from functools import cache
from pathlib import Path
from urllib.parse import quote, unquote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from memdir.hot import safe
from memdir.hot.memory import INDEX, RECORD_INDEX
from memdir.text.terminal import plural, visible_text
from memdir.ui.overview import short_day_on_page, tokens
from memdir.ui.prose import diff_rows, render_prose

HERE = Path(__file__).parent
STATIC = HERE / "static"


@cache
def page_environment() -> Environment:
    env = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
        auto_reload=False,
    )
    env.filters |= {
        "moment": format_page_moment,
        "age": lambda it: safe.age_words(safe.age_days(it, time.time())) if it else "never",
        "day": lambda seconds: short_day_on_page(datetime.datetime.fromtimestamp(seconds)),
        "key": form_key,
        "prose": _prose,
        # For a field that is sent back: what it holds stays; browsers drop the first line end.
        "exact": lambda text: Markup("\n") + escape(text),
        "number": lambda value: f"{value:,}",
        "query": lambda values: urlencode(values, errors="replace"),
        "tokens": tokens,
    }
    env.globals |= {"plural": plural, "diff_rows": diff_rows, "indexes": (INDEX, RECORD_INDEX)}
    return env


def _prose(text: str, base: str, path: str) -> Markup:
    """Of the memory at `path`: its links lead to the pages of the others."""

    def to(target: str) -> str:
        target = unquote(target.partition("#")[0], errors="surrogateescape")
        if not target.endswith(".md") or target.startswith("/") or ":" in target:
            return ""
        there = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        return "" if there.startswith("..") else f"{base}memory?path={quote(form_key(there))}"

    return render_prose(text, to)


def _visible(value: object) -> object:
    """No hidden character, override of direction or half of one reaches the page."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible_text(value)
    return value


def form_key(path: str) -> str:
    """A path as it can stand in a form: names may hold any byte."""
    return quote(path, errors="surrogateescape")


def format_page_moment(seconds: float) -> str:
    """`today 14:02`, `yesterday 14:02`, `16 Nov 14:02`, `16 Nov 2025`; in this machine's zone."""
    if not seconds:
        return "never"
    then, now = datetime.datetime.fromtimestamp(seconds), datetime.datetime.now()
    days = (now.date() - then.date()).days
    if days in (0, 1):
        return f"{'yesterday' if days else 'today'} {then:%H:%M}"
    return f"{then.day} {then:%b %H:%M}" if then.year == now.year else f"{then.day} {then:%b %Y}"

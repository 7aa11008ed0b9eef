"""Every page as a person sees it: widths, colours, contrast, names, and the way of the Tab key."""

import subprocess
from pathlib import Path

from tests.helpers.served import COMMAND

CHECKS = (Path(__file__).parent / "checks.js").read_text("utf-8")
LEAST_CONTRAST = 4.5
SIGHTS = [(360, "light"), (1_600, "dark")]
PLACES = [
    *("", "memories", "memories?q=fare&type=project", "memories?state=stale", "waiting", "told"),
    *("lab?prompt=how+is+a+fare+computed&memory=ada", "restructure?plan=1", "budget", "shelf"),
    *("doctor?run=1", "changes", "findings"),
    *("memory?path=fare-rules.md", "memory?path=deploy-window.md"),
]


def check(browser, what, *given):
    """The value of an expression with the functions of checks.js."""
    call = what if "(" in what else f"{what}(...arguments)"
    return browser.run(f"{CHECKS}; return {call}", *given)


def places(browser):
    """What stands above, what the first screen leads to, and an error."""
    yield from PLACES
    for css in ('[data-item] a[href*="item?"]', "#changes .part a"):
        yield browser.run("return document.querySelector(arguments[0])?.href", css)
    yield "memory?path=no-such.md"


def prepare(browser, base):
    """Something of everything: findings, a memory in the trash."""
    browser.follow('form[action$="do/audit"] button')
    browser.wait(lambda: "Checked" in browser.text("#look") and not browser.count("[data-poll]"))
    assert "src/tariff/fares.py" in browser.text("#look")
    browser.go(base + "memory?path=dashboards.md")
    browser.follow('form[action$="do/retire"] button')
    browser.go(base)


def open_everything(browser):
    browser.run("document.querySelectorAll('details').forEach((it) => { it.open = true; })")
    is_open = "return !document.querySelector('details .part:not(:has(pre))')"
    browser.wait(lambda: browser.run(is_open))


def test_every_page_fits_is_readable_and_complains_of_nothing(shown, tmp_path):
    base = shown.url
    prepare(shown, base)
    found = list(places(shown))
    assert None not in found, found
    linked = shown.run(
        "return [...document.querySelectorAll('nav a, footer a')].map((a) => a.href)"
    )
    assert {link.removeprefix(base) for link in linked} <= {it.partition("?")[0] for it in found}
    wrong = {}
    for number, place in enumerate(found):
        shown.go(place if place.startswith("http") else base + place)
        open_everything(shown)
        for width, scheme in SIGHTS:
            shown.size(width, 900)
            shown.colours(scheme)
            (tmp_path / f"{number:02}-{width}-{scheme}.png").write_bytes(shown.picture())
            wrong[place, width, "does not fit"] = check(shown, "tooWide")
            wrong[place, scheme, "contrast"] = check(shown, "lowContrast", LEAST_CONTRAST)
        wrong[place, "", "names"] = check(shown, "withoutName")
        wrong[place, "", "markup"] = check(shown, "foreign", base[: base.index("/s/")])
    assert {key: value for key, value in wrong.items() if value} == {}
    assert all("404" in complaint for complaint in shown.complaints())


def test_tab_reaches_everything_in_order_and_shows_where_it_is(shown):
    base, wrong = shown.url, {}
    shown.press("Tab", "Enter", "Tab")  # the first leads to the content
    assert shown.run("return document.querySelector('main').contains(document.activeElement)")
    for place in ("", "memories", "memory?path=ada.md", "waiting", "lab?prompt=fare", "changes"):
        shown.go(base + place)
        wanted = check(shown, "listenForFocus")
        assert wanted > 10
        shown.press(*["Tab"] * (wanted + 3))
        wrong[place] = check(shown, "missedByTab")
    assert {key: value for key, value in wrong.items() if value} == {}


def test_each_check_finds_what_it_looks_for(shown):
    """A control: what is wrong on purpose is reported."""
    wrong = {
        "lowContrast": '<font color="#aaa">x</font>',
        "tooWide": '<div class="strip"></div><pre>' + "x" * 2_000 + "</pre>",
        "withoutName": '<button id="main"></button><h1>x</h1>',
        "foreign": '<iframe></iframe><p class="x" onclick="x()"></p>',
    }
    given = {"lowContrast": [LEAST_CONTRAST], "foreign": [shown.url.partition("/s/")[0]]}
    for name, markup in wrong.items():
        assert check(shown, name, *given.get(name, [])) == [], name
        shown.run("document.body.insertAdjacentHTML('beforeend', arguments[0])", markup)
        assert check(shown, name, *given.get(name, [])), name
    shown.complaints()  # of the inline handler


def test_the_page_as_one_file_needs_nothing_else(store, chromium, tmp_path):
    file = tmp_path / "page.html"
    subprocess.run([*COMMAND, "--html", file], check=True, capture_output=True)
    chromium.requests()
    chromium.go(file.as_uri())
    assert "Waiting for you" in chromium.text() and chromium.count("form, script, [href]") == 0
    for width, scheme in SIGHTS:
        chromium.size(width, 900)
        chromium.colours(scheme)
        assert check(chromium, "tooWide") + check(chromium, "lowContrast", LEAST_CONTRAST) == []
    chromium.go("about:blank")
    assert [it for it in chromium.requests() if it != "about:blank"] == [file.as_uri()]
    assert chromium.complaints() == []

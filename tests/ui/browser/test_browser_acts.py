"""Every act of the page and its undo, in a real browser: by mouse, by keys, without script."""

from tests.helpers.served import files_of

UNDO = "#undo-notice"
MINE = "Mine, typed on the page."
THEIRS = "Theirs, written meanwhile."


def button(act, having=""):
    return f'main form[action$="do/{act}"]{having} button'


ARCHIVE, TEAM, SHARED = ":has([value=archive])", ":has([value=team])", "team/migrations.md"
# Where, what is pressed there, what the banner says, the file that is concerned, and what it holds
# afterwards (None: it is gone).
ACTS = [
    ("memory?path=ada.md", button("retire"), "in the trash", "ada.md", None),
    ("memory?path=ada.md", button("retire", ARCHIVE), "in the archive", "ada.md", None),
    ("memory?path=ada.md", button("confirm"), "still holds", "ada.md", "last_verified"),
    (
        "memory?path=migrations.md",
        button("share", TEAM),
        "in the scope team",
        SHARED,
        "down script",
    ),
    ("", button("undo"), "Taken back", "deploy-window.md", "between 10:00 and 12:00"),
    ("waiting", button("approve", ":has([value=draft])"), "Approved", "", "Cabin codes"),
    ("waiting", button("reject", ":has([value=draft])"), "Rejected", "", ""),
    ("waiting", button("approve", ":has([value=memory])"), "Accepted", "", ""),
    ("waiting", button("reject", ":has([value=memory])"), "Rejected", "", ""),
    ("restructure?plan=1", button("restructure"), "Restructured", "quays.md", "two ramps"),
]
TYPED = [
    ("memory?path=ada.md", "#body", 'button[name="save"]', "Saved", "ada.md"),
    ("memories", "#n-body", button("remember"), "Saved", ""),
]


def all_text(store):
    return "\n".join(data.decode() for data in files_of(store).values())


def press(browser, css, says):
    browser.follow(css)
    assert says in browser.text("#banner"), css


def take_back(browser, store, before):
    browser.follow(UNDO)
    assert "Nothing" not in browser.text("#banner")
    assert files_of(store) == before
    assert browser.count("[data-item]") in (0, 3)  # three wait, on the pages that show them


def act_and_undo(browser, store):
    """All of the table; the store is the same after each."""
    base = browser.url.partition("#")[0]
    index = store / "MEMORY.md"
    index.write_text(index.read_text() + "\n## Quays\n\nThe north quay has two ramps.\n")
    before = files_of(store)
    for place, css, says, file, holds in ACTS:
        browser.go(base + place)
        press(browser, css, says)
        if file:
            assert (store / file).exists() == (holds is not None), css
        assert (holds or "") in ((store / file).read_text() if holds and file else all_text(store))
        take_back(browser, store, before)
    for place, field, css, says, file in TYPED:
        browser.go(base + place)
        browser.type(field, MINE)
        press(browser, css, says)
        assert MINE in ((store / file).read_text() if file else all_text(store))
        take_back(browser, store, before)


def test_every_act_and_its_undo(shown, store):
    act_and_undo(shown, store)


def test_every_act_and_its_undo_without_script(shown_without_script, store):
    act_and_undo(shown_without_script, store)


def test_what_was_put_away_is_restored_and_what_is_edited_was_previewed(shown, store):
    base, before = shown.url, files_of(store)
    shown.go(base + "memory?path=ada.md")
    press(shown, button("retire"), "trash")
    shown.go(base + "shelf")
    press(shown, button("restore"), "is back")
    assert files_of(store).keys() == before.keys()
    shown.go(base + "memory?path=ada.md")
    shown.type("#body", MINE)
    shown.follow('button[name="preview"]')
    assert MINE in shown.text("#preview") and MINE not in (store / "ada.md").read_text()
    press(shown, 'button[name="save"]', "Saved")
    assert MINE in (store / "ada.md").read_text()


def test_a_draft_is_edited_and_approved(shown, store):
    shown.follow('[data-item]:has([value=draft]) [data-key="e"]')
    shown.type("#body", MINE)
    press(shown, button("edit-draft"), "it still waits")
    press(shown, button("approve", ":has([value=draft])"), "Approved")
    assert MINE in all_text(store)


def is_conflict(browser, *texts):
    """Both texts are there; the console tells of the status, which is meant."""
    assert all("409" in complaint for complaint in browser.complaints())
    return all(text in browser.text("#conflict") for text in texts)


def test_two_tabs_cannot_overwrite_each_other(shown, store):
    place = shown.url + "memory?path=ada.md"
    first = shown.tabs()[0]
    shown.go(place)
    shown.new_tab()
    shown.go(place)
    shown.type("#body", THEIRS)
    press(shown, 'button[name="save"]', "Saved")
    shown.use(first)
    shown.type("#body", MINE)
    shown.follow('button[name="save"]')
    assert is_conflict(shown, MINE, THEIRS) and shown.text("#typed") == MINE
    assert THEIRS in (store / "ada.md").read_text()
    shown.follow("main .acts a.button")
    assert THEIRS in shown.text(".prose")


def has_focus(browser):
    return browser.run("return document.activeElement.id || document.activeElement.className")


def tab_to(browser, id):
    for _ in range(100):
        if has_focus(browser) == id:
            return
        browser.press("Tab")
    raise AssertionError(f"Tab does not reach #{id}")


def test_what_waits_is_decided_on_with_keys_alone(shown, store):
    before = files_of(store)
    shown.press("a", "r")  # nothing is chosen yet
    assert shown.count("#banner") == 0
    shown.press("j", "j", "k", "j")
    assert "Cabin codes" in shown.text("[data-item]:focus")
    with shown.leaving():
        shown.press("a")
    assert "Approved" in shown.text("#banner") and "Cabin codes" in all_text(store)
    tab_to(shown, "undo-notice")
    with shown.leaving():
        shown.press("Enter")
    assert files_of(store) == before
    shown.go(shown.url.partition("?")[0])
    with shown.leaving():
        shown.press("j", "j", "j", "r")
    assert "Rejected" in shown.text("#banner") and shown.count("[data-item]") == 2
    with shown.leaving():
        shown.press("j", "j", "e")
    tab_to(shown, "body")
    shown.press("e", "r", "a")  # letters of a text now
    assert shown.run("return document.activeElement.value").startswith("era")


def test_without_script_parts_are_links_and_the_check_still_runs(shown_without_script):
    shown = shown_without_script
    base = shown.url
    assert shown.count("[data-noscript]:not([hidden])") == 1
    shown.click("#changes details summary")
    shown.follow("#changes details[open] .part a")
    assert "at any time" in shown.text(".ins")
    shown.go(base)
    shown.follow(button("audit"))
    shown.wait(lambda: "Checked" in shown.text("#look"))
    assert "src/tariff/fares.py" in shown.text("#look")
    shown.follow(".switch button")
    assert shown.url == base

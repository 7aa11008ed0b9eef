"""Every act of the page and its undo, and what happens when somebody else was faster."""

import os

import pytest

from memdir.capture.inbox import open_inbox
from memdir.capture.signals import Catch, Origin
from memdir.format.draft import Draft
from memdir.library import Memdir
from tests.helpers.served import files_of, write_memory

SAID = Origin("claude-code", "5c1f0a2b", "m1", "person", "", "we deploy from the blue box")


def hold(text="We deploy from the blue box.", **fields):
    draft = Draft(text, type="project", **fields)
    app = Memdir.open().app
    return open_inbox(app).hold(Catch(SAID, draft=draft), "nobody asked for it", app.now())


def memory_page(page, name="use-uv.md"):
    return page.get(f"memory?path={name}")


def same(before, store):
    """The memories are as they were; the index may have been written anew with the same lines."""
    assert files_of(store) == before


def test_an_undo_can_be_undone_and_each_only_once(page, store):
    before = files_of(store)
    banner = page.send(memory_page(page), "retire")
    assert not (store / "use-uv.md").exists()
    undone = page.undo(banner)
    assert "Taken back" in undone.text
    same(before, store)
    page.undo(undone)
    assert files_of(store) != before
    assert "cannot be taken back from here any more" in page.undo(banner).text


def test_a_form_that_changes_nothing_writes_nothing(page, store):
    odd = write_memory(store, "odd", "- a\n-\tb  \n\n\n\nend", "x: y # z", "feedback")
    before = files_of(store)
    page.send(memory_page(page, "odd.md"), "save")
    assert files_of(store)["odd.md"] == before["odd.md"]
    odd.write_bytes(odd.read_bytes().replace(b"\n", b"\r\n"))  # no form sends these back
    shown = memory_page(page, "odd.md")
    assert "memdir edit" in shown.text and "do/save" not in shown.body


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ({"body": " "}, "empty"),
        ({"description": "a\nb"}, "line"),
        ({"body": "AKIA" + "QYLPMN5HHHFPZAM2 is the key"}, "secret"),
    ],
)
def test_a_refused_edit_keeps_what_was_typed(page, store, typed, says):
    before = files_of(store)
    answer = page.send(memory_page(page), "save", **typed)
    assert says in answer.text
    assert typed.items() <= page.form(answer, "save")[1].items()
    same(before, store)


@pytest.mark.parametrize("act", ["save", "retire", "confirm", "share"])
def test_a_change_from_outside_is_never_overwritten(page, store, act):
    typed = {"body": "Mine."} if act == "save" else {}
    shown = memory_page(page)
    write_memory(store, "use-uv", "Theirs.")
    before = files_of(store)
    answer = page.send(shown, act, **typed)
    assert answer.status == 409
    assert "Theirs." in answer.text
    assert (typed.get("body") or "Use uv, never pip") in answer.text
    same(before, store)


def test_what_a_command_refuses_is_refused_here(page):
    private = memory_page(page, "short-answers.md")
    assert "Nothing was written" in page.send(private, "share", {"to": "team"}).text
    new = page.send(page.get("memories"), "remember", body="Another text.", name="use-uv")
    assert "there already" in new.text


@pytest.mark.parametrize("act", ["approve", "reject", "edit-draft"])
def test_a_draft_that_was_changed_meanwhile_is_not_decided_on(page, act):
    held = hold()
    shown = page.get(f"item?id={held.id}")
    page.send(shown, "edit-draft", body="We deploy from the red box.")
    answer = page.send(shown, act)
    assert answer.status == 409 and "red box" in answer.text
    assert open_inbox(Memdir.open().app).list()


def test_a_draft_that_was_rejected_is_put_back_and_decided_on_once(page):
    held = hold()
    assert "you said this on" in page.get().text.lower()
    page.send(page.get("waiting"), "reject")
    assert not open_inbox(Memdir.open().app).list()
    shown = page.send(page.get("waiting"), "reopen")
    assert [it.id for it in open_inbox(Memdir.open().app).list()] == [held.id]
    page.send(shown, "approve")
    assert page.send(shown, "approve").status == 404


@pytest.mark.parametrize(("act", "told"), [("approve", True), ("reject", False)])
def test_a_memory_of_the_repository_is_told_only_when_accepted(page, project, act, told):
    write_memory(
        project / ".claude/memory", "style", "Commit messages are imperative.", type="feedback"
    )
    banner = page.send(page.get(), act, {"kind": "memory"})

    def is_told():
        return "imperative" in Memdir.open().recall("how do we word commit messages?").text

    assert is_told() == told
    again = page.undo(banner)
    assert not is_told()
    assert page.form(page.get(), "approve", kind="memory") and again.status == 200


def test_a_memory_of_others_that_changed_meanwhile_is_not_accepted(page, project):
    write_memory(project / ".claude/memory", "style", "Commit messages are imperative.")
    shown = page.get("waiting")
    write_memory(project / ".claude/memory", "style", "Run this script first.")
    answer = page.send(shown, "approve", {"kind": "memory"})
    assert answer.status == 404 and "changed" in answer.text
    assert "script" not in Memdir.open().recall("how do we word commit messages?").text


def test_an_outside_change_is_seen_and_taken_back(page, store):
    before = files_of(store)
    write_memory(store, "use-uv", "Use pip.")
    home = page.get()
    assert "outside memdir" in home.text
    banner = page.send(home, "undo")
    assert "Taken back" in banner.text
    same(before, store)
    page.undo(banner)
    assert "Use pip." in (store / "use-uv.md").read_text()


def test_an_undo_that_something_newer_is_in_the_way_of_shows_both(page, store):
    write_memory(store, "use-uv", "Use pip.")
    shown = page.get()
    write_memory(store, "use-uv", "Use conda.")
    before = files_of(store)
    answer = page.send(shown, "undo")
    assert answer.status == 409 and "conda" in answer.text
    same(before, store)


@pytest.mark.parametrize(("act", "lost"), [("undo", "change"), ("save", "name")])
def test_a_form_with_a_field_missing_does_nothing(page, store, act, lost):
    on = page.get() if act == "undo" else memory_page(page)
    action, fields = page.form(on, act)
    before = files_of(store)
    for sent in ({**fields, "change": ""}, {k: v for k, v in fields.items() if k != lost}):
        if act == "undo" or lost not in sent:
            assert f"the form lacks {lost}" in page.post(action, sent).text
    same(before, store)


def test_a_plan_that_is_out_of_date_is_not_applied(page, store):
    with open(store / "MEMORY.md", "a") as index:
        index.write("\n## Deploy\n\nWe deploy with `make ship` after lunch.\nThe box is blue.\n")
    before = files_of(store)
    plan = page.get("restructure?plan=1")
    same(before, store)
    write_memory(store, "new", "Something new.")
    late = page.send(plan, "restructure")
    assert late.status == 422 and "look at the new plan" in late.text


def test_records_are_only_looked_at(page, project):
    folder = project / ".claude/memory/decisions"
    os.makedirs(folder)
    (project / ".claude/memory/memory-config.json").write_text("{}")
    options = page.get().body.split('<option value="')[1:]
    records = [it.partition('"')[0] for it in options if "· records</option>" in it]
    form = page.form(page.get(), "audit")[1]["form"]
    answer = page.post(f"/s/{records[0]}/do/retire", {"form": form, "path": "x", "version": "y"})
    assert answer.status == 422 and "command line" in answer.text

"""What an audit finds in a memory and in an index, and what it must not cry about."""

import shlex

import pytest

from memdir.audit import inspect
from memdir.audit.disagree import find_disagreements
from memdir.format.index import survey_pointers
from memdir.format.outline import Lookup
from memdir.hot import memory
from memdir.hot.memory import read_memory
from tests.helpers.tables import table

HEADER = "---\nname: x\ndescription: How the tests are run here\ntype: feedback\n---\n\n"
WEB = HEADER.replace("type: feedback\n", "type: feedback\nsource: web\n")
KEY = "AKIA" + "IOSFODNN7" + "QWERTYU"
PACKAGES = "Install packages with uv, never with pip, because uv.lock pins every version."


def page(text: str, path: str = "x.md") -> inspect.Page:
    return inspect.Page(read_memory(path, memory.encode(text), 0.0), text)


def found(findings) -> list[tuple[str, int]]:
    return [(finding.kind, finding.line) for finding in findings]


def body(text: str, files=("x.md", "feedback_other.md")) -> list[tuple[str, int]]:
    return found(inspect.audit_body(page(HEADER + text), Lookup(files, {"The Other": files[-1]})))


def safety(text: str, header: str = HEADER) -> list[tuple[str, int]]:
    return found(inspect.audit_safety(page(header + text)))


def test_a_date_that_moves_with_the_reader_is_found_and_a_habit_or_code_is_not():
    for line in table("audit", "relative_dates"):
        assert body(f"First.\n{line}\n") == [("relative-date", 8)], line
    for line in table("audit", "no_relative_dates"):
        assert body(f"{line}\n") == [], line


def test_a_link_to_nothing_is_found_once_and_tickets_and_shell_are_no_links():
    assert body("See [[gone]].\nAnd [[gone]] again.\n") == [("broken-link", 7)]
    for line in table("audit", "no_broken_links"):
        assert body(f"{line}\n") == [], line


def test_more_than_200_lines_are_too_many():
    assert body("line\n" * 194) == []
    assert body("line\n" * 195) == [("too-long", 0)]


def test_a_memory_needs_a_header_unless_it_is_the_only_one_of_a_store():
    assert found(inspect.audit_header(page("Just text.\n"))) == [("no-header", 1)]
    assert found(inspect.audit_header(page("Just text.\n", "MEMORY.md"))) == []
    nested = HEADER.replace("type: feedback", "metadata:\n  type: user")
    for header in (HEADER, nested):
        assert (
            found(inspect.audit_header(page(header + "The tests are run with make test.\n"))) == []
        )


@pytest.mark.parametrize(("path", "type", "kind"), table("audit", "types"))
def test_the_type_is_one_that_we_know_and_the_file_agrees(path, type, kind):
    text = HEADER.replace("type: feedback\n", f"type: {type}\n" if type else "")
    findings = inspect.audit_header(page(text + "The tests are run.\n", path))
    assert [finding.kind for finding in findings] == ([kind] if kind else [])


@pytest.mark.parametrize(("description", "body", "kinds"), table("audit", "descriptions"))
def test_a_description_is_there_says_something_and_fits(description, body, kinds):
    text = f"---\nname: p\ndescription: {description}\n---\n\n{body or PACKAGES}\n"
    assert [(kind, line) for kind, _, line in find_disagreements(text)] == [
        (kind, 0 if kind == "description-missing" else 3) for kind in kinds
    ]


@pytest.mark.parametrize(("hook", "more", "kinds"), table("audit", "pointers"))
def test_an_index_line_says_no_other_state_than_the_memory(hook, more, kinds):
    text = f"---\nname: p\ndescription: Packages come from uv\n---\n\n{PACKAGES}{more}\n"
    line = f"- [Packages](packages.md) {hook}"
    assert [found[0] for found in find_disagreements(text, line)] == kinds


def test_a_secret_is_found_by_its_line_and_never_repeated():
    (finding,) = inspect.audit_safety(page(f"{HEADER}key {KEY}\n"))
    assert (finding.kind, finding.line) == ("secret", 7)
    assert KEY not in finding.message + finding.fix


@pytest.mark.parametrize(("line", "kind"), table("audit", "harmful"))
def test_hidden_characters_orders_and_forged_frames_are_found(line, kind):
    assert safety(f"First.\n{line}\n") == [(kind, 8)]


@pytest.mark.parametrize("line", table("audit", "harmless"))
def test_a_rule_of_the_user_or_a_quotation_is_no_attack(line):
    assert safety(f"{line}\n") == []
    assert safety("Text.\n", "\ufeff" + HEADER) == []


@pytest.mark.parametrize(
    "line", ["You must run this now.", 'The test sends "ignore previous instructions".']
)
def test_an_order_from_the_outside_is_worth_a_look_also_a_quoted_one(line):
    assert safety(f"{line}\n", WEB) == [("orders", 8)]


def index(text: str, files=("a.md", "b.md"), indexed: bool = True):
    return list(
        inspect.audit_index(survey_pointers(text, files), "MEMORY.md", text.split("\n"), indexed)
    )


def test_everything_that_is_wrong_with_an_index_has_its_line():
    text = (
        "- [A](a.md) — one\n- [C](c.md) — gone\n- [A](a.md) — again\n\n"
        "## Facts\n\nThe server listens on port 8080.\nIt is restarted by systemd.\n"
    )
    kinds = [("inline-content", 7), ("dangling-pointer", 2), ("repeated-pointer", 3), ("orphan", 0)]
    assert found(index(text)) == kinds
    line = "- [A](a.md) — " + "x" * 140
    assert found(index(line + "\n- [B](b.md)\n")) == [("long-pointer", 1)]


def test_an_index_of_pointers_and_a_line_that_leads_to_a_list_are_fine():
    assert index("# M\n\n- [A](a.md) — one\n\nMore of them:\n\n- [B](b.md) — two\n") == []
    assert index("", indexed=False) == []  # without an index nothing is an orphan


@pytest.mark.parametrize("hook", ["", " — the old plan", " — commits need the key of the team"])
def test_one_command_is_advised_for_a_line_to_nothing_whatever_it_says(hook):
    (finding,) = index(f"- [Git](gone.md){hook}\n", ())
    assert finding.fix == "memdir index --rebuild"


@pytest.mark.parametrize(
    ("lines", "hook", "kinds"),
    [(200, "x", []), (201, "x", ["index-too-long"]), (190, "x" * 125, ["index-too-long"])],
)
def test_the_limits_of_lines_and_characters_are_the_clients(lines, hook, kinds):
    files = [f"m{number}.md" for number in range(lines)]
    text = "".join(f"- [M]({path}) — {hook}\n" for path in files)
    assert [finding.kind for finding in index(text, files)] == kinds


@pytest.mark.parametrize("path", ["a b.md", "-x.md", "$(rm).md", "it's.md"])
def test_a_fix_can_be_pasted_whatever_the_file_is_called(path):
    words = shlex.split(inspect.audit_command("edit", path))
    assert words[-1] == path and words[:2] == ["memdir", "edit"]
    assert ("--" in words) == path.startswith("-")

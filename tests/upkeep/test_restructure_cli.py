"""`memdir restructure`: what a person sees, what a program gets."""

import pytest

from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")

INDEX = """# Memory

## Build rules

- Run make before every push
- Never skip the tests
- Always read the log

## Deploy targets

- The staging cluster is called pelican
- The production cluster is called heron
- Both are reached over the bastion
"""


@pytest.fixture
def overgrown(store):
    store.mkdir(parents=True)
    (store / "MEMORY.md").write_text(INDEX, encoding="utf-8")
    return store


def test_the_report_fits_the_screen_and_says_how_to_go_back(overgrown):
    answer = memdir("restructure")
    assert answer.code == 0
    assert max(map(len, answer.text.split("\n"))) <= 80
    assert "lines of content          6        0" in answer.text
    assert "ok no line of knowledge is lost" in answer.text
    assert answer.text.endswith("Undo all of it: memdir undo\n")


LINE = "- [Licence](feedback_licence.md) — Apache-2.0, the announcement is for humans only\n"
UNFIT = f"""# Memory

{LINE}- [Role](role.md) — my background
- [Rule](rule.md) — one
- [The rule](rule.md) — another hook about the rule

## Old approach (superseded)

We used Kafka with three brokers.

## Implementation steps

1. Create the table users
2. Add the column email
3. Run the migration

## Release steps

1. Bump the version
2. Tag the commit
3. Tell the channel

We decided last week to use NATS.
"""
RULE = "---\nname: rule\ndescription: about pushes\ntype: feedback\nmodified: {}\n---\n\n{}\n"


@pytest.fixture
def unfit(store):
    store.mkdir(parents=True)
    (store / "MEMORY.md").write_text(UNFIT, encoding="utf-8")
    text = RULE.format("2026-03-20", "Never push on Friday. We agreed on it last week.")
    (store / "rule.md").write_text(text, encoding="utf-8")
    return store


def test_what_makes_no_memory_is_proposed_and_stays(unfit):
    answer = memdir("restructure", "--json").json
    made = {path.name for path in unfit.glob("*.md")}
    assert made == {"MEMORY.md", "rule.md", "release-steps.md"}
    proposed = {item["what"]: item["command"] for item in answer["proposals"]}
    assert proposed == {
        '"Old approach" stays in the index; take it out?': "",
        '"Implementation steps" stays in the index; take it out?': "",
        "the line of feedback_licence.md leads nowhere; a rebuild keeps its words": (
            "memdir index --rebuild"
        ),
        "the line of role.md leads nowhere; a rebuild keeps its words": "memdir index --rebuild",
    }
    assert all(check["ok"] for check in answer["checks"])
    index = (unfit / "MEMORY.md").read_text("utf-8")
    assert LINE in index and "three brokers" in index and "Add the column" in index
    assert memdir("restructure", "--json").json["changes"] == []  # it rests


PASSWORD = "Hunter2-xK9mQ"
STAYS = {
    "a secret": (f"## Access\n\nThe host is db1.\nThe admin password is {PASSWORD}\n", "db1"),
    "superseded below its heading": (
        "## Queue\n\nSuperseded by NATS.\nKafka has 3 brokers.\n",
        "3 b",
    ),
    "superseded in brackets": ("## Queue [obsolete]\n\nKafka has 3 brokers.\n", "3 brokers"),
    "tasks": ("## TODO\n\n- [ ] rename the table\n- [ ] test\n- [x] write\n", "rename the table"),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_makes_no_memory_stays_in_the_index_and_is_asked_about(store, name):
    section, words = STAYS[name]
    store.mkdir(parents=True)
    (store / "MEMORY.md").write_text(f"# Memory\n\n{section}", encoding="utf-8")
    answer = memdir("restructure")
    assert words in (store / "MEMORY.md").read_text("utf-8")
    assert not any(words in path.read_text("utf-8") for path in store.glob("[a-z]*.md"))
    assert "take it out?" in answer.text and PASSWORD not in answer.text
    assert ("line 6 looks like a secret" in " ".join(answer.text.split())) == (name == "a secret")


@pytest.mark.parametrize("command", ["restructure", "dream"])
@pytest.mark.parametrize(
    "data", ["\ufeffThe importer reads CSV.".encode("utf-16-le"), b"The importer reads \0\xff CSV."]
)
def test_a_file_that_is_no_text_is_named_and_left_as_it_is(overgrown, command, data):
    (overgrown / "wide.md").write_bytes(data)
    answer = memdir(command)
    assert "wide.md is left alone: save it as UTF-8" in " ".join(answer.text.split())
    assert (overgrown / "wide.md").read_bytes() == data
    (overgrown / "MEMORY.md").write_bytes(data)
    answer = memdir(command)
    assert answer.code and "MEMORY.md is UTF-16 or no text" in answer.stderr
    assert (overgrown / "MEMORY.md").read_bytes() == data


def test_two_lines_for_one_file_become_one_as_the_audit_advises(unfit):
    (finding,) = [
        item
        for item in memdir("audit", "--json").json["findings"]
        if item["kind"] == "repeated-pointer"
    ]
    assert finding["fix"] == "memdir restructure --dry-run"
    memdir("restructure")
    assert (unfit / "MEMORY.md").read_text("utf-8").count("(rule.md)") == 1
    assert "another hook about the rule" in (unfit / "rule.md").read_text("utf-8")
    kinds = [item["kind"] for item in memdir("audit", "--json").json["findings"]]
    assert "repeated-pointer" not in kinds


def test_last_week_gets_the_day_it_counts_from_and_a_missing_reason_is_reported(unfit):
    answer = memdir("restructure", "--json").json
    assert "last week (as of 2026-03-20)" in (unfit / "rule.md").read_text("utf-8")
    remarks = " ".join(answer["remarks"])
    assert "no Why in release-steps.md, rule.md" in remarks
    assert "no How to apply in release-steps.md, rule.md" in remarks


@pytest.mark.parametrize("repair", [("index", "--rebuild"), ("doctor", "--fix")])
def test_a_repair_keeps_the_words_of_a_line_whose_file_is_gone(unfit, repair):
    memdir(*repair)
    index = (unfit / "MEMORY.md").read_text("utf-8")
    assert "feedback_licence.md" not in index and "(lines-without-file.md)" in index
    kept = (unfit / "lines-without-file.md").read_text("utf-8")
    assert LINE in kept and "my background" in kept
    before = contents(unfit)
    memdir(*repair)
    assert contents(unfit) == before


def test_a_line_of_a_memory_that_is_kept_elsewhere_goes_with_it(unfit):
    memdir("remember", "The importer reads CSV files of partners.", "--name", "importer")
    (unfit / "importer.md").unlink()
    memdir("index", "--rebuild")
    assert "importer" not in (unfit / "lines-without-file.md").read_text("utf-8")
    assert "(importer.md)" not in (unfit / "MEMORY.md").read_text("utf-8")


def contents(store):
    return {path.name: path.read_bytes() for path in store.glob("*.md")}


def test_a_dry_run_is_a_summary_and_the_diff_is_asked_for(store):
    sections = "\n".join(f"## Part {n}\n\n" + "Words of this part. " * 9 + "\n" for n in range(40))
    store.mkdir(parents=True)
    (store / "MEMORY.md").write_text(f"# Notes\n\n{sections}")
    short = memdir("restructure", "--dry-run").text
    assert short.endswith("dry run: nothing was written; --diff shows every line\n")
    assert "+++ b/" not in short and short.count("\n") < 100
    long = memdir("restructure", "--dry-run", "--diff").text
    assert long.count("\n-") > 100 and long.endswith("\ndry run: nothing was written\n")
    assert memdir("dream", "--dry-run").text.endswith("--diff shows every line\n")

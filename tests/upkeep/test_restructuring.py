"""The plan of a restructuring: which content becomes which memory, and what the index keeps."""

from memdir.format.draft import Style
from memdir.upkeep.restructure import Plan, plan_restructure
from memdir.upkeep.worksheet import Given, Page

NOON = 1_772_452_800.0  # 2026-03-02T12:00:00Z, a Monday
TEXT = "---\nname: {}\ndescription: {}\ntype: {}\n---\n\n{}\n"

SAME = (
    "Use uv for packages in this project, also in the build containers.",
    "The lock file is checked in, and every change of it is reviewed by Ana.",
    "Never call pip here: it installs into the wrong environment without a word.",
    "The mirror in Frankfurt serves wheels; when it is slow, ask the platform team.",
)


def is_at_rest(plan: Plan) -> bool:
    return not plan.texts and not plan.gone and plan.index is None


def page(text: str, dated: bool = False) -> Page:
    return Page(text, NOON, dated)


def memory(name: str, description: str, body: str, type: str = "project") -> Page:
    return page(TEXT.format(name, description, type, body))


def planned(index: str, pages: dict[str, Page] | None = None, **more: object) -> Plan:
    found = plan_restructure(Given(pages or {}, page(index), **more))
    assert found.lost == ()
    return found


def new(found: Plan) -> dict[str, str]:
    """The bodies of the new memories."""
    given = found.work.given.pages
    return {
        path: page.document.body.strip()
        for path, page in found.work.pages.items()
        if path not in given
    }


def failed(found: Plan) -> list[str]:
    return [check.name for check in found.checks if not check.ok]


def test_pointers_and_content_in_one_section_part_and_the_heading_stays():
    pointer, content = "- [uv](uv.md) — the packages", "- ruff formats the code\n- mypy is strict"
    index = f"# Memory\n\n## Tools\n\n{pointer}\n{content}\n"
    found = planned(index, {"uv.md": memory("uv", "the packages", "Use uv.")})
    assert new(found) == {"tools.md": "- ruff formats the code\n- mypy is strict"}
    assert found.work.index == (
        "# Memory\n\n## Tools\n\n- [uv](uv.md) — the packages\n"
        "- [Tools](tools.md) — ruff formats the code; mypy is strict\n"
    )


def test_an_introduction_of_the_index_stays_and_a_fact_above_it_does_not():
    pages = {"uv.md": memory("uv", "the packages", "Use uv.")}
    kept = "# Memory\n\nOne line per memory; read first.\n\n- [uv](uv.md) — the packages\n"
    assert is_at_rest(planned(kept, pages))
    found = planned(kept.replace("One line per memory; read first.", "We ship on Friday."), pages)
    assert list(new(found).values()) == ["We ship on Friday."]


def test_a_label_above_a_list_of_pointers_becomes_its_heading():
    index = "- [uv](uv.md) — the packages\n\nOlder ones:\n\n- [pip](pip.md) — once\n"
    pages = {
        name: memory(name[:-3], "the packages", f"Text {name}.") for name in ("uv.md", "pip.md")
    }
    assert "\n## Older ones:\n\n- [pip](pip.md) — once\n" in planned(index, pages).work.index


RULES = "## Always-on\n\n- verify state before you claim it\n- never group risky writes\n"


def test_rules_that_must_stay_in_view_stay_in_an_index_that_fits_and_else_are_feedback():
    found = planned(f"# Memory\n\n{RULES}\n## API\n\n- x\n- y\n- z\n")
    assert RULES in found.work.index
    assert (list(new(found)), failed(found)) == (["api.md"], [])
    assert any('"Always-on" stays in the index' in text for text in found.work.remarks)
    more = "".join(f"- fact number {n}\n" for n in range(300))
    found = planned(f"# Memory\n\n{RULES}\n## API\n\n{more}")
    assert found.work.memory("always-on.md").type == "feedback"


def test_a_pointer_too_long_is_cut_and_its_words_go_to_the_memory():
    hook = "words that matter " * 12 + "to the very end"
    pages = {"uv.md": memory("uv", "the packages", "Use uv.")}
    found = planned(f"- [uv](uv.md) — {hook}\n", pages)
    (line,) = found.work.index.strip().split("\n")
    assert len(line) <= 150 and line.endswith("…")
    assert f"**In the index:** {hook}" in found.texts["uv.md"]
    said = {"uv.md": memory("uv", hook, "Use uv.")}
    assert planned(f"- [uv](uv.md) — {hook}\n", said).texts == {}


def test_dates_count_from_the_day_of_the_memory_and_stay_where_there_is_none():
    text = TEXT.format(
        "a", "b c d", "project\nmetadata:\n  created: 2026-03-02", "Broken since yesterday."
    )
    found = planned("- [a](a.md) — b c d\n", {"a.md": page(text)})
    assert "Broken since 2026-03-01." in found.texts["a.md"]
    (told,) = found.work.accounted
    assert (told.text, told.path) == ("Broken since yesterday.", "a.md")
    undated = {"a.md": memory("a", "b c d", "Broken since yesterday.")}
    found = planned("- [a](a.md) — b c d\n", undated)
    assert found.texts == {}
    assert any("relative dates stay in a.md" in text for text in found.work.remarks)


def test_two_memories_that_say_the_same_become_one_with_every_line_of_both():
    body = "\n".join(SAME)
    pages = {
        "uv.md": memory("uv", "uv for packages in this project", body + "\nA line of its own."),
        "packages.md": memory("uv", "uv for packages in this project", body),
    }
    found = planned("- [uv](uv.md) — x\n- [uv 2](packages.md) — x\n", pages)
    assert found.gone == ("packages.md",)
    assert found.work.pages["uv.md"].document.get("metadata.merged_from") == "packages.md"
    assert found.work.index == "- [uv](uv.md) — x\n"
    assert all(line in found.work.pages["uv.md"].text for line in body.split("\n"))


def test_new_files_follow_the_names_of_the_store_and_never_collide():
    style = Style("metadata.type", prefix=True)
    taken = frozenset(("FEEDBACK_Build_Rules.md",))
    found = planned("## Build rules\n\n- run make\n- always\n- never\n", taken=taken, style=style)
    assert list(new(found)) == ["feedback_build_rules_2.md"]
    assert found.work.memory("feedback_build_rules_2.md").values["metadata.type"] == "feedback"


def test_a_section_becomes_one_memory_with_its_heading():
    found = planned(
        "# Memory\n\n## Build rules\n\n- run make\n- never skip tests\n\n## API\n\n- x\n- y\n- z\n"
    )
    assert new(found) == {
        "build-rules.md": "## Build rules\n\n- run make\n- never skip tests",
        "api.md": "## API\n\n- x\n- y\n- z",
    }
    assert found.work.index.startswith("# Memory\n\n## Feedback\n\n- [Build rules](build-rules.md)")
    assert "- [API](api.md) — x; y; z" in found.work.index
    assert failed(found) == []


def test_an_index_keeps_its_order_and_each_memory_one_pointer():
    types = ("project", "feedback", "reference")
    pages = {
        f"m{n}.md": memory(f"m{n}", f"what m{n} is", f"Only m{n} {n * 7919}.", types[n % 3])
        for n in range(9)
    }
    lines = [f"- [M{n}](m{n}.md) — what m{n} is" for n in range(9)]
    tidy = "\n".join(lines) + "\n"
    for index in (tidy, f"## Mine\n\n{tidy}", f"{tidy}\n## Project\n\n- *(add as needed)*\n"):
        assert is_at_rest(planned(index, pages))
    more = [*lines[:8], "- [M1](m1.md) — other words"]
    found = planned("\n".join(more) + "\n", pages)
    assert found.work.index == tidy
    assert "**In the index:** other words" in found.texts["m1.md"]


def test_the_same_memory_of_two_types_is_put_before_a_person_and_only_one_may_go():
    text = "\n".join(SAME)
    pages = {
        name: memory("uv", "uv for packages in this project", text, type)
        for name, type in (("uv.md", "project"), ("pip.md", "feedback"), ("uv-2.md", "user"))
    }
    found = planned("".join(f"- [{name}]({name}) — x\n" for name in pages), pages)
    (proposal,) = found.work.proposals
    assert {proposal.path, proposal.what.removeprefix("says the same as ")} < {*pages}
    assert proposal.evidence == ("every sentence of it is there already", "their types differ")
    assert proposal.command == f"memdir retire {proposal.path}"
    assert (found.gone, failed(found)) == ((), [])


def test_a_byte_order_mark_stays_in_front_of_a_new_header():
    pages = {"a.md": page("\ufeffThe gateway deploys at noon.\n")}
    found = planned("- [A](a.md) — when the gateway deploys\n", pages)
    assert found.texts["a.md"].startswith("\ufeff---\nname: ")

"""What a store can be asked without anybody, and what is said about its state."""

import pytest

from memdir.audit.ages import Listed
from memdir.errors import Finding
from memdir.evals import own as own_module
from memdir.evals.own import MOST, ask_descriptions, ask_links, paraphrase, sample
from memdir.evals.recall_sets import Query
from memdir.hot import memory
from memdir.hot.memory import Memory
from tests.helpers.made import STORES, write_store
from tests.helpers.terminal import memdir, tree

TEXT = "Use the uv tool to install packages and never pip for the parser project"


def documents(**bodies: str) -> dict:
    texts = {path: f"---\nname: {path}\n---\n{body}\n" for path, body in bodies.items()}
    return {f"{path}.md": memory.read(text) for path, text in texts.items()}


def test_a_paraphrase_drops_stop_words_and_every_third_word_and_is_always_the_same():
    said = paraphrase(TEXT, "x")
    # use uv (tool) install packages (never) pip parser (project)
    assert sorted(said.split()) == ["Use", "install", "packages", "parser", "pip", "uv"]
    assert said == paraphrase(TEXT, "x") != paraphrase(TEXT, "y")


def test_a_text_without_spaces_is_asked_in_parts_and_a_short_one_not_at_all():
    assert len(paraphrase("我们总是在周五下午部署绝不在周一早上部署", "x").split()) >= 2
    assert paraphrase("uv", "x") == "" and paraphrase("", "x") == ""


def test_descriptions_ask_for_their_memory():
    head = f"---\nname: uv\ndescription: {TEXT}\n---\n"
    (query,) = ask_descriptions([Memory("uv.md", head, 0, 0), Memory("no.md", "", 0, 0)])
    assert query.gold == ("uv.md",)


def test_links_ask_for_what_they_lead_to_and_those_to_nothing_are_named():
    found, dangling = ask_links(
        documents(
            one="See [[two]] for honey.\n```\n[[three]]\n```\n[[gone]] and [[one]], [[two]]",
            two="if [[ -f x ]]; then",
        ),
        {},
    )
    assert [(query.id, query.gold) for query in found] == [("one.md", ("two.md",))]
    assert found[0].prompt.split() == ["See", "two", "for", "honey."]
    assert dangling == [("one.md", "gone")]


def test_a_large_store_is_sampled_the_same_way_every_time():
    queries = [Query(str(at), "p", "", ("x",)) for at in range(MOST + 1)]
    assert len(sample(queries)) == MOST and sample(queries) == sample(queries)


@pytest.mark.parametrize(
    ("days", "band"),
    [(0, "up to a week"), (7, "up to a week"), (8, "up to a month"), (365, "up to a year")],
)
def test_ages_are_counted_in_bands(days, band):
    section = own_module.evaluate_ages([Listed(Memory("x.md", "", 0, 0), days, 0, "keep")])
    assert dict(section.charts[0].bars)[band] == 1
    assert [figure.value for figure in section.figures] == [1, 0, 0]


def test_hygiene_counts_all_and_shows_some():
    findings = [Finding("odd", f"{at}.md", "is odd") for at in range(30)]
    section = own_module.evaluate_hygiene(findings, [("a.md", "gone"), ("a.md", "gone")])
    assert section.figures[0].value == 31
    assert len(section.tables[0].rows) == own_module.ROWS
    assert section.remarks == ("Shown: 20 of 31.",)


@pytest.fixture
def own(tmp_path):
    store = write_store(tmp_path / "memory", STORES["ann/shop"])
    (store / "copy.md").write_text(
        (store / "uv.md").read_text().replace("\n\n", "\n\nSee [[no]]. ")
    )
    return store


def test_the_own_store_is_measured_and_nothing_in_it_changes(own):
    before = tree(own)
    given = memdir("eval", "--dir", str(own), "--json").json
    assert tree(own) == before
    figures = given["figures"]
    assert (given["set"], given["data"]) == ("own", str(own))
    assert figures["self-recall R@5"]["value"] == 1
    assert figures["self-recall R@5"]["n"] >= 2
    assert figures["near-duplicate pairs"]["value"] == 1
    assert figures["links that lead somewhere"]["value"] == 0
    assert figures["memories without a pointer"]["value"] == 1
    assert figures["index lines"] | {"value": 3, "goal": 200, "met": True} == figures["index lines"]
    assert figures["findings"]["value"] == 1
    assert figures["recall, ms, median"]["value"] > 0
    tokens = [figures[f"{name}, tokens"]["value"] for name in ("index", "standing rules")]
    assert figures["per session, tokens"]["value"] == sum(tokens)
    text = " ".join(given["remarks"])
    assert "comes with capture" in text and figures["claims unknown"]["value"] is not None


def test_an_empty_store_and_none_at_all_are_measured(tmp_path):
    (tmp_path / "empty").mkdir()
    for folder in ("empty", "none"):
        answer = memdir("eval", "own", "--dir", str(tmp_path / folder))
        assert answer.code == 0, answer.stderr
        assert "there was nothing to measure" in answer.text
    assert not (tmp_path / "none").exists()


def test_a_broken_memory_is_a_finding_and_hides_no_other(own):
    (own / "odd.md").write_text("---\nname: odd\nno colon\n---\nodd\n")
    (own / "link.md").symlink_to("nowhere")
    answer = memdir("eval", "--dir", str(own), "--json")
    assert answer.code == 0
    kinds = {row["kind"] for row in answer.json["tables"]["findings"]}
    assert {"malformed-header", "special-file", "dangling-link"} <= kinds

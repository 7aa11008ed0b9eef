"""What is found in a memory's text: kind, names and why not, one row per form."""

import pytest

from memdir.claims.claim import Claim
from memdir.claims.find import find_claims

CLAIM = ""


def found(text: str, place: str = "") -> dict[str, Claim]:
    return {claim.text: claim for claim in find_claims(text, place)}


# text in backticks, kind, names that are looked up, aside
FORMS = [
    ("src/auth/session.py", "path", ("src/auth/session.py",), CLAIM),
    ("session.py", "path", ("session.py",), CLAIM),
    ("./docs/api.md", "path", ("docs/api.md",), CLAIM),
    ("docs/", "path", ("docs",), CLAIM),
    ("Makefile", "path", ("Makefile",), CLAIM),
    (".github/workflows/ci.yml", "path", (".github/workflows/ci.yml",), CLAIM),
    ("docs/Mobile Guide/", "path", ("docs/Mobile Guide",), CLAIM),
    ("write/mod.rs:73-77", "path", ("write/mod.rs",), CLAIM),
    ("smoke.sh:213", "path", ("smoke.sh",), CLAIM),
    ("a.sh:111-117,133", "path", ("a.sh",), CLAIM),
    ("docs/api.md#errors", "path", ("docs/api.md",), CLAIM),
    ("tests/test_auth.py::test_login", "path", ("tests/test_auth.py",), CLAIM),
    ("src/{api,cli}.py", "path", ("src/api.py", "src/cli.py"), CLAIM),
    ("{a,b}/{c,d}.ts", "path", ("a/c.ts", "a/d.ts", "b/c.ts", "b/d.ts"), CLAIM),
    ("doc/*.md", "path", ("doc/*.md",), CLAIM),
    ("src/<name>.ts", "path", (), "placeholder"),
    ("docs/…/x.md", "path", (), "placeholder"),
    ("YYYY-MM-DD.md", "path", (), "placeholder"),
    ("src/{name}.ts", "path", (), "placeholder"),
    ("~/.config/tool.toml", "path", (), "outside the repository"),
    ("$HOME/work/x.py", "path", (), "outside the repository"),
    ("/Users/ann/shop/src", "path", (), "outside the repository"),
    ("/etc/passwd", "path", (), "outside the repository"),
    ("C:\\Users\\ann", "path", (), "outside the repository"),
    ("../../etc/passwd", "path", (), "outside the repository"),
    (".md", "extension", (), "file ending"),
    ("*.mod", "extension", (), "file ending"),
    (".gitignore", "path", (".gitignore",), CLAIM),
    ("node.js", "path", ("node.js",), "name of an outside project"),
    ("--verbose", "flag", (), "option of a command"),
    ("-s", "flag", (), "option of a command"),
    ("git add -A", "command", (), "general command"),
    ("mktemp -d", "command", (), "general command"),
    ("rm -rf build/cache/x.py", "command", (), "general command"),
    ("npm run verify:batch", "command", ("verify:batch",), CLAIM),
    ("make lint", "command", ("lint",), CLAIM),
    ("from shop.utils import retry", "symbol", ("shop", "utils", "retry"), CLAIM),
    ("v0.1.0", "version", ("v0.1.0",), "version"),
    ("3f2c1e9", "commit", ("3f2c1e9",), CLAIM),
    ("https://example.org/x", "url", (), CLAIM),
    ("#69", "number", (), "number on a server"),
    ("owner/name#69", "number", (), "number on a server"),
    ("@scope/pkg", "package", ("@scope/pkg",), CLAIM),
    ("@shared/schemas/<name>", "package", ("@shared/schemas/<name>",), "placeholder"),
    ("left-pad", "package", ("left-pad",), CLAIM),
    ("feat/login", "branch", ("feat/login",), CLAIM),
    ("main", "branch", ("main",), CLAIM),
    ("origin/main", "branch", ("origin/main",), CLAIM),
    ("resetKeyCache()", "symbol", ("resetKeyCache",), CLAIM),
    ("FilterAction::Rewrite", "symbol", ("FilterAction", "Rewrite"), CLAIM),
    ("Provider.inspect(_:)", "symbol", ("Provider", "inspect"), CLAIM),
    ("Vec<String>", "symbol", ("Vec",), CLAIM),
    ("routes!()", "symbol", ("routes",), CLAIM),
    ("/api/settings", "route", (), CLAIM),
    ("/api/<id>", "route", (), "placeholder"),
    ("GET /logout", "route", (), CLAIM),
    ("{ a: 1 }", "text", (), "quoted code"),
]


@pytest.mark.parametrize(("span", "kind", "names", "aside"), FORMS, ids=[row[0] for row in FORMS])
def test_a_span_in_backticks_has_a_form(span, kind, names, aside):
    claim = found(f"See `{span}` for it.")[span]
    assert (claim.kind, claim.names, claim.aside) == (kind, names, aside)


BARE = [
    ("The encryption.test.ts file does this.", "encryption.test.ts", "path"),
    ("Content lives in docs/.", "docs/", "path"),
    ("See src/server/schema.ts, please.", "src/server/schema.ts", "path"),
    ("Templates (.github/ISSUE_TEMPLATE/bug.md) exist.", ".github/ISSUE_TEMPLATE/bug.md", "path"),
    ("It caches ENCRYPTION_KEY there.", "ENCRYPTION_KEY", "symbol"),
    ("Applied to (DhcpConfig, DhcpLease).", "DhcpConfig", "symbol"),
    ("Then call resetKeyCache() again.", "resetKeyCache()", "symbol"),
    ("Never reach for Process()/URLSession/daemon.js.", "daemon.js", "path"),
    ("Merged in PR #69 on Monday.", "PR #69", "number"),
    ("utoipa 5.4 does not provide it.", "utoipa 5.4", "version"),
    ("All closed at v0.1.0.", "v0.1.0", "version"),
    ("See https://example.org/x.", "https://example.org/x", "url"),
    ("Broken since 37c46e7 landed.", "37c46e7", "commit"),
    ("[guide](docs/guide.md)", "docs/guide.md", "path"),
]


@pytest.mark.parametrize(("text", "span", "kind"), BARE, ids=[row[1] for row in BARE])
def test_prose_without_backticks_is_read_too(text, span, kind):
    claim = found(text)[span]
    assert (claim.kind, claim.bare) == (kind, True)


@pytest.mark.parametrize(
    "text",
    [
        "An ordinary sentence, and/or nothing else: e.g. this one, i.e. prose.",
        "Scores of 5.4 and 2026-03-02 at 10:30, about 95 %.",
        "[[linked-memory]] and [[other_memory]] are links, not code.",
        "",
        "\n\n\n",
    ],
)
def test_ordinary_prose_makes_no_claim(text):
    assert find_claims(text) == []


# sentence, span, aside
ASIDES = [
    ("`old/x.py` does not exist any more.", "old/x.py", "denied"),
    ("The dead `make_sum()` method was removed.", "make_sum()", "denied"),
    ("Save it in `./notes`, not in `docs/x.md`.", "docs/x.md", "denied"),
    ("There is no `lib/x.py`.", "lib/x.py", "denied"),
    ("~~Look at `lib/x.py`.~~", "lib/x.py", "denied"),
    ("~~x/y.sh~~", "x/y.sh", "denied"),
    ("~~Run x/y.sh. Then wait.~~", "x/y.sh", "denied"),
    ("保存到 `a/b.md`，而不是 `docs/x.md`。", "docs/x.md", "denied"),
    ("`a/old.py` → `a/new.py`", "a/old.py", "old name"),
    ("`a/old.py` -> `a/new.py`", "a/old.py", "old name"),
    (
        "Two references to `x/y.js`, a node removed in May.",
        "x/y.js",
        "its sentence speaks of a change",
    ),
    ("We renamed `x/y.js` to something better.", "x/y.js", "its sentence speaks of a change"),
    ("`x/y.js` broke (fixed in commit `00dff1a`).", "x/y.js", "its sentence speaks of a change"),
    ("We moved away from `x/y.py`.", "x/y.py", "its sentence speaks of a change"),
    ("- `99b870d` — mends `x/y.js`", "x/y.js", "its sentence speaks of a change"),
    ("`x/y.js` was the way in.", "x/y.js", "past"),
    ("`x/y.js`'s own list (of ten) was wrong.", "x/y.js", "past"),
    ("- [ ] write `x/y.js`", "x/y.js", "planned"),
    ("`x/y.js` will be created for it.", "x/y.js", "planned"),
    ("## Removed\n\n- `x/y.js`", "x/y.js", "past"),
    ("These went away, all deleted:\n\n- `x/y.js`", "x/y.js", "past"),
    ("- Deleted files:\n  - `x/y.js`", "x/y.js", "past"),
    ("**SUPERSEDED** by another memory.\n\nUse `x/y.js`.", "x/y.js", "past"),
    ("| Old | New |\n|---|---|\n| `x/y.js` | `x/z.js` |", "x/y.js", "old name"),
    (
        "| file | state |\n|---|---|\n| `x/y.js` | deleted |",
        "x/y.js",
        "its sentence speaks of a change",
    ),
    ("```sh\ngit rm x/y.js\n```", "x/y.js", "its sentence speaks of a change"),
]


@pytest.mark.parametrize(("text", "span", "aside"), ASIDES, ids=[row[0][:40] for row in ASIDES])
def test_the_words_around_a_span_decide_whether_it_is_a_claim(text, span, aside):
    assert found(text)[span].aside == aside


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("`doc/testing.md` → over 90 % coverage", "doc/testing.md"),  # what it is about, not where
        ("Old things were removed. Use `x/y.js` now.", "x/y.js"),
        ("| file | state |\n|---|---|\n| `a.js` | deleted |\n| `x/y.js` | fine |", "x/y.js"),
        ("| Old | New |\n|---|---|\n| `x/z.js` | `x/y.js` |", "x/y.js"),
        ("`a/old.py` → `x/y.js`", "x/y.js"),
        ("## Removed\n\n## Kept\n\n- `x/y.js`", "x/y.js"),
        ("- Deleted files:\n  - `a.js`\n- `x/y.js`", "x/y.js"),
        ("The legacy `x/y.js` still runs.", "x/y.js"),
        ("It is not only `x/y.js` that runs.", "x/y.js"),
        ("`x/y.js` does exist.", "x/y.js"),
        ("[No poll loop](x/y.md)", "x/y.md"),
        ("Run `x/y.js` to recreate the fixtures.", "x/y.js"),
        ("The fixtures are restored from `x/y.js`.", "x/y.js"),
        ("Wait until CI is green, then run `x/y.js`.", "x/y.js"),
        ("In this repo `x/y.js` is the entry.", "x/y.js"),
        ("In the resolved project dir `x/y.js` runs.", "x/y.js"),
        ("On branch `main` the file `x/y.js` builds.", "x/y.js"),
        ("As of 2026-05: `x/y.js` is the entry.", "x/y.js"),
        ("`x/y.js` is now 400 lines long.", "x/y.js"),
        ("Antes de ejecutar, lee `x/y.js`.", "x/y.js"),
        ("Switch off the lamp with `x/y.js`.", "x/y.js"),
        ("See `x/y.js` for the history of prices.", "x/y.js"),
        ("`x/y.js` brings back the cursor.", "x/y.js"),
    ],
)
def test_words_about_something_else_do_not_decide(text, span):
    assert found(text)[span].aside == CLAIM


def test_a_link_that_is_called_like_its_memory_names_no_symbol():
    assert set(found("- [cancel2](cancel2.md) — how to cancel")) == {"cancel2.md"}
    assert "makeSum" in found("- [makeSum is slow](sums.md)")


@pytest.mark.parametrize("span", ["old-exp", "exp", "ann/exp"])
def test_what_is_called_a_branch_is_one(span):
    assert found(f"The experiment lives on branch `{span}`.")[span].kind == "branch"


def test_a_memory_that_knows_that_something_is_gone_knows_it_everywhere():
    text = "`lib/x.py` was removed.\n\nLook for `x.py` before you begin, and for `lib/y.py`."
    assert [one.aside for one in find_claims(text)] == [
        "denied",
        "said to be gone elsewhere in this memory",
        CLAIM,
    ]


def test_lines_are_those_of_the_file_and_the_header_gives_only_its_description():
    text = (
        "---\nname: x\ndescription: uses `a/b.py` and\n  lib/c.py\n"
        "originSessionId: 334ab2b5-e8b4\n---\n\nFirst.\n\nSee `d.py`\nand `e.py`.\n"
    )
    assert [(one.text, one.line) for one in find_claims(text)] == [
        ("a/b.py", 3),
        ("lib/c.py", 4),
        ("d.py", 10),
        ("e.py", 11),
    ]


def test_a_span_may_run_over_the_end_of_a_line():
    claim = found("stops it (`POST\n/rw/stop`) before")["POST /rw/stop"]
    assert (claim.kind, claim.line) == ("route", 1)


def test_a_path_that_climbs_is_resolved_from_where_the_memory_lies():
    place = ".claude/memory/x.md"
    assert found("`../../docs/a.md`", place)["../../docs/a.md"].names == ("docs/a.md",)
    assert found("`../../../a.md`", place)["../../../a.md"].aside == "outside the repository"
    assert found("`../a.md`")["../a.md"].aside == "outside the repository"


def test_a_code_block_is_read_but_only_a_whole_path_in_it_tells():
    claim = found("```sh\npython3 tests/test_x.py all\n```")["tests/test_x.py"]
    assert (claim.line, claim.loose) == (2, True)


def test_a_command_is_judged_by_the_files_that_it_is_given():
    assert found("Run `python tools/gen.py --all`.")["python tools/gen.py --all"].parts == (
        "tools/gen.py",
    )
    claim = found("`pytest tests/a.py::test_b -q`")["pytest tests/a.py::test_b -q"]
    assert claim.parts == ("tests/a.py", "::test_b")


def test_a_symbol_knows_the_code_file_that_its_sentence_names():
    text = "`pendCount` in `src/queue.js` counts. Elsewhere `otherCount` does."
    assert found(text)["pendCount"].near == ("src/queue.js",)
    assert found(text)["otherCount"].near == ()

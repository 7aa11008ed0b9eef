"""A pointer is read in every form met in the wild, and written in one that reads back."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memdir.format.pointer import one_line, read_pointers, write_pointer
from memdir.hot.memory import POINTER_AIM


def read(line: str) -> list[tuple[str, str, str, str]]:
    return [(p.form, p.target, p.title, p.hook) for p in read_pointers(line, 1)]


FORMS = [
    # line, form, target, title, hook
    ("- [Title](file.md) — hook", "link", "file.md", "Title", "hook"),
    ("- [Title](file.md) - hook", "link", "file.md", "Title", "hook"),
    ("- [Title](file.md) -- hook", "link", "file.md", "Title", "hook"),
    ("- [Title](file.md) – hook", "link", "file.md", "Title", "hook"),
    ("- [Title](file.md): hook", "link", "file.md", "Title", "hook"),
    ("- [Title](file.md) no sign", "link", "file.md", "Title", "no sign"),
    ("- [Title](file.md)", "link", "file.md", "Title", ""),
    ("* [Title](file.md) — hook", "link", "file.md", "Title", "hook"),
    ("1. [Title](file.md) — hook", "link", "file.md", "Title", "hook"),
    ("[Title](file.md) — hook", "link", "file.md", "Title", "hook"),
    ("## [Title](file.md)", "link", "file.md", "Title", ""),
    ("- **[Title](file.md)** — hook", "link", "file.md", "Title", "hook"),
    ("- [file.md](file.md) — hook", "link", "file.md", "file.md", "hook"),
    ("- [`file.md`](./file.md) — hook", "link", "file.md", "`file.md`", "hook"),
    ("- [T](./file.md)", "link", "file.md", "T", ""),
    ("- [T](a/./b//file.md)", "link", "a/b/file.md", "T", ""),
    ("- [T](a/../file.md)", "link", "file.md", "T", ""),
    ("- [T](file.md#part)", "link", "file.md", "T", ""),
    ("- [T](c#.md)", "link", "c#.md", "T", ""),
    ("- [T](<my file.md>) — hook", "link", "my file.md", "T", "hook"),
    ("- [T](my file.md) — hook", "link", "my file.md", "T", "hook"),
    ("- [T](my%20file.md)", "link", "my%20file.md", "T", ""),
    ("- [T](a(1).md)", "link", "a(1).md", "T", ""),
    ("- [T](a\\_b.md)", "link", "a_b.md", "T", ""),
    ('- [T](file.md "tip") — hook', "link", "file.md", "T", "hook"),
    ("- [a \\[b\\] c](file.md) — hook", "link", "file.md", "a [b] c", "hook"),
    ("- [a [b] c](file.md) — hook", "link", "file.md", "a [b] c", "hook"),
    ("- [open [T](file.md) — hook", "link", "file.md", "T", "hook"),
    (
        "- [T](f.md) — `x[0]`, [u](https://e.test/)",
        "link",
        "f.md",
        "T",
        "`x[0]`, [u](https://e.test/)",
    ),
    ("- [T](file.md) — replaces `old.md`", "link", "file.md", "T", "replaces `old.md`"),
    ("- [StopMove \\Quick](file.md)", "link", "file.md", "StopMove \\Quick", ""),
    ("- [中文](记忆.md) — 钩子", "link", "记忆.md", "中文", "钩子"),
    ("- Use slog, never printf [log.md]", "bracket", "log.md", "log.md", "Use slog, never printf"),
    ("- [log.md] — hook", "bracket", "log.md", "log.md", "hook"),
    ("words [log.md]", "bracket", "log.md", "log.md", "words"),
    ("- `log.md` — hook", "backtick", "log.md", "log.md", "hook"),
    ("- Logging: see `log.md`", "backtick", "log.md", "log.md", ""),
    ("- [[log]] — hook", "wikilink", "log", "log", "hook"),
    ("- [[log.md]]", "wikilink", "log.md", "log.md", ""),
    ("- [[log|Logging]] — hook", "wikilink", "log", "Logging", "hook"),
    ("- [[log#part]]", "wikilink", "log", "log", ""),
    ("Text that mentions [[log]].", "wikilink", "log", "log", "."),
    ("| [T](file.md) | hook |", "link", "file.md", "T", "hook"),
    ("| `file.md` | hook |", "backtick", "file.md", "file.md", "hook"),
    ("| file.md | hook |", "table", "file.md", "file.md", "hook"),
    ("| [[log]] | hook |", "wikilink", "log", "log", "hook"),
]


@pytest.mark.parametrize(("line", "form", "target", "title", "hook"), FORMS)
def test_every_form_is_read(line, form, target, title, hook):
    assert read(line) == [(form, target, title, hook)]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "- plain words",
        "- [x](https://example.test/a.md) — url",
        "- [x](HTTP://example.test/a.md)",
        "- [x](mailto:a.md)",
        "- [x](/etc/a.md)",
        "- [x](//host/a.md)",
        "- [x](\\\\host\\a.md)",
        "- [x](C:\\a.md)",
        "- [x](~/a.md)",
        "- [x](../a.md)",
        "- [x](../../docs/a.md)",
        "- [x](a/../../b.md)",
        "- [x](..\\a.md)",
        "- [x](file.txt)",
        "- [x](file.mdx)",
        "- [x](.md)",
        "- [x](a\x00.md)",
        "- ![picture](file.md)",
        "- [x] done",
        "- [ ] to do",
        "- the form is `[Title](file.md)`",
        "- the form is ``[[wikilink]]``",
        "Plain words that mention `file.md`.",
        "- run `cat file.md`",
        "- [[ -f file ]] && echo",
        "- [[]]",
        "- [[../x]]",
        "\\[T](file.md)",
        "- [file.md",
        "- [T](file.md",
    ],
)
def test_what_is_no_pointer_is_left_alone(line):
    assert read(line) == []


def test_a_line_may_hold_several_pointers():
    line = "- [A](a.md) — by [B](b.md), replaces [[c]]"
    found = [(p.target, p.hook) for p in read_pointers(line, 7)]
    assert found == [("a.md", "by"), ("b.md", ", replaces"), ("c", "")]
    assert {p.line for p in read_pointers(line, 7)} == {7}


@pytest.mark.parametrize(
    ("title", "target", "hook", "line"),
    [
        ("Title", "file.md", "hook", "- [Title](file.md) — hook"),
        ("Title", "file.md", "", "- [Title](file.md)"),
        ("", "a/file.md", "hook", "- [file](a/file.md) — hook"),
        ("Title", "my file.md", "h", "- [Title](<my file.md>) — h"),
        ("Title", "a(1).md", "h", "- [Title](<a(1).md>) — h"),
        ("Title", "a:b.md", "h", "- [Title](./a:b.md) — h"),
        ("two\nlines", "f.md", "\r\nmore\u2028of\x85them", "- [two lines](f.md) — more of them"),
        ("a ] b [ c", "f.md", "", "- [a \\] b \\[ c](f.md)"),
        ("use `x[0]`", "f.md", "`y[1]`", "- [use `x[0]`](f.md) — `y[1]`"),
        ("end\\", "f.md", "", "- [end\\\\](f.md)"),
        ("C:\\path", "f.md", "", "- [C:\\path](f.md)"),
        ("tick `", "f.md", "tick `", "- [tick \\`](f.md) — tick `"),
        ("T", "f.md", "# Heading", "- [T](f.md) — # Heading"),
        ("T", "f.md", "[confidence: high]", "- [T](f.md) — [confidence: high]"),
        ("T", "f.md", "see [x](x.md)", "- [T](f.md) — see \\[x\\](x.md)"),
        ("T", "f.md", "see [[x]]", "- [T](f.md) — see \\[\\[x\\]\\]"),
        ("T", "f.md", "ends --> here", "- [T](f.md) — ends --\\> here"),
    ],
)
def test_a_pointer_is_written_plainly_where_it_can_be(title, target, hook, line):
    assert write_pointer(title, target, hook) == line


WORDS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=60)
MARKS = st.text("[]()<>`\\!|*_-—:#. ab\u3000😀", max_size=30)
TARGETS = st.from_regex(r"[a-z0-9_\-]{1,20}\.md", fullmatch=True)


@settings(deadline=None)  # a busy machine is no finding
@given(WORDS | MARKS, TARGETS, WORDS | MARKS)
@example("![", "a.md", "](b.md)")
@example("`", "a.md", "`` ` [x](b.md)")
@example("a\\", "a.md", "\\")
@example("", "a.md", "(")
@example("`-->`", "a.md", "`-->`")
def test_reading_is_the_inverse_of_writing(title, target, hook):
    line = write_pointer(title, target, hook)
    (pointer,) = read_pointers(line, 1)
    assert pointer.target == target
    assert pointer.title == (one_line(title) or target.removesuffix(".md"))
    assert pointer.form == "link"
    cut = one_line(hook)
    assert pointer.hook == cut or (
        len(line) > POINTER_AIM / 2 and (not pointer.hook or pointer.hook.endswith("…"))
    )
    assert "-->" not in line


@settings(deadline=None)  # a busy machine is no finding
@given(MARKS | WORDS, MARKS | TARGETS, MARKS | WORDS)
@example("T", "a.md", ") — `x` [")
@example("T", "a.md", "** — hook")
@example("", "a.md", "")
def test_the_common_form_is_read_like_any_other(title, target, rest):
    # Only `- ` takes the short way through the reader; `* ` says the same.
    common, other = (read_pointers(f"{mark} [{title}]({target}){rest}", 1) for mark in "-*")
    assert common == other
    assert [(p.start, p.end) for p in common] == [(p.start, p.end) for p in other]


@settings(deadline=None)  # a busy machine is no finding
@given(st.text(), st.text(), st.text())
def test_a_pointer_is_one_line_whatever_comes_in(title, target, hook):
    assert len(write_pointer(title, target, hook).splitlines()) == 1


def test_a_long_hook_is_cut_at_a_word():
    line = write_pointer("Title", "file.md", "word " * 100)
    assert POINTER_AIM - 6 <= len(line) <= POINTER_AIM
    assert line.endswith(" word…")


def test_an_escaped_hook_still_fits():
    line = write_pointer("Title", "file.md", "[x](y.md) " * 60)
    assert len(line) <= POINTER_AIM
    assert [pointer.target for pointer in read_pointers(line, 1)] == ["file.md"]


def test_the_link_is_never_cut():
    title, target = "T" * 120, "t" * 80 + ".md"
    assert write_pointer(title, target, "hook") == f"- [{title}]({target})"


HOSTILE = [
    "[" * 100_000,
    "]" * 100_000,
    "[" * 50_000 + "]" * 50_000 + ".md",
    "[[" * 50_000 + ".md",
    "- " + "[a](" * 50_000 + ".md",
    "- " + "[a](<" * 40_000 + ".md",
    "- " + '[a](b "' * 30_000 + ".md",
    "- " + "[a](b.md) " * 20_000,
    "- " + "[a](b c" * 30_000 + ".md",
    "- " + "`" * 200_000 + ".md",
    "- .md " + " ".join("`" * n for n in range(1, 600)),
    "- .md " + "\\" * 200_000,
    "- .md " + "x" * 200_000,
    "- [x](" + "a/../" * 40_000 + "b.md)",
    "|" + " a.md |" * 30_000,
    "- " + "`a.md` " * 30_000,
    "- " + "[[a]] " * 30_000,
    "- " + "![a](b.md)" * 20_000,
]


@pytest.mark.parametrize("line", HOSTILE, ids=[f"{h[:12]!r}x{len(h)}" for h in HOSTILE])
def test_hostile_lines_are_read_to_their_end(line):
    assert all(pointer.end <= len(line) for pointer in read_pointers(line, 1))
    written = write_pointer(line, "file.md", line)
    assert [pointer.target for pointer in read_pointers(written, 1)] == ["file.md"]

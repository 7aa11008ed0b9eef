"""Pure rules of sync: who a project is, what three versions give, which names may come in."""

from memdir.store.git import identity_folder, identity_of_address
from memdir.sync.border import why_not_taken
from memdir.sync.path_merge import merge_path
from tests.helpers.tables import table, toml_cases


@toml_cases("sync")
def test_a_project_is_the_same_however_its_origin_is_spelt(url, identity):
    assert identity_of_address(url) == identity


def test_different_projects_never_share_a_folder():
    rows = table("sync", "a_project_is_the_same_however_its_origin_is_spelt")["rows"]
    known = {identity for _, identity in rows} | {"a/b+c", "a+b/c", "a/b/c", "a++b/c", "a/b%2Fc"}
    assert len({identity_folder(identity) for identity in known}) == len(known)
    assert not any("/" in identity_folder(identity) for identity in known)


def lines(text: str) -> bytes | None:
    return None if text == "-" else text.replace("/", "\n").encode()


@toml_cases("sync")
def test_three_versions_give_one(base, ours, theirs, result, variant):
    merged = merge_path("n.md", lines(base), lines(ours), lines(theirs))
    assert (merged.data, merged.variant) == (lines(result), lines(ours) if variant else None)


def test_an_index_keeps_the_lines_of_both_without_marks():
    base = b"# About\n\nOld words.\n\n- [A](a.md) - a\n"
    ours = b"# About\n\nOur words.\n\n- [A](a.md) - a\n- [B](b.md) - b\n"
    theirs = b"# About\n\nTheir words.\n\n- [A](a.md) - a\n- [C](c.md) - c\n"
    merged = merge_path("MEMORY.md", base, ours, theirs).data.decode()
    assert {"Our words.", "Their words.", "- [B](b.md) - b", "- [C](c.md) - c"} <= set(
        merged.split("\n")
    )
    assert not any(line.startswith(("<<<", "===", ">>>")) for line in merged.split("\n"))


@toml_cases("sync")
def test_a_name_of_the_remote_stays_inside_the_store(path, taken):
    assert (why_not_taken(path, {}) == "") is taken

"""What a look at a real git checkout answers."""

import pytest

from memdir.claims.claim import Past
from tests.helpers.repositories import TEXT, Checkout


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path / "code")


def test_a_folder_is_a_path_and_a_slash_at_the_end_means_a_folder(checkout):
    checkout.commit({"src/auth/session.py": TEXT, "tools/auth": TEXT})
    seen = checkout.look(paths=["auth", "auth/", "src", "session.py/"])
    assert set(seen.paths["auth"]) == {"src/auth", "tools/auth"}
    assert seen.paths["auth/"] == ("src/auth",)
    assert seen.paths["src"] == ("src",)
    assert "session.py/" not in seen.paths


def test_an_absolute_path_below_the_root_is_one_of_the_checkout(checkout):
    checkout.commit({"src/a.py": TEXT})
    name = f"{checkout.folder}/src/a.py"
    assert checkout.look(paths=[name]).paths == {name: ("src/a.py",)}


def test_an_untracked_file_is_there(checkout):
    checkout.commit({"a.py": TEXT})
    checkout.files({"local/b.py": TEXT})
    assert checkout.look(paths=["local/b.py", "local"]).paths == {
        "local/b.py": ("local/b.py",),
        "local": ("local",),
    }


def test_no_name_leads_out_of_the_checkout(checkout, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.txt").write_text("x")
    checkout.commit({"a.py": TEXT})
    (checkout.folder / "way").symlink_to(tmp_path / "outside")
    leading = ["../outside/secret.txt", "way/secret.txt", "/etc/passwd", "a.py/../../outside"]
    leading += ["", ".", "..", "/", "//", "a.py\0", ".git/config", "x" * 5000, "way/../a.py"]
    seen = checkout.look(paths=[*leading, "way", "a.py"])
    assert seen.paths == {"a.py": ("a.py",)}
    assert seen.ignored == frozenset()


def test_what_git_ignores_is_told_also_by_the_rules_of_a_folder(checkout):
    rules = "dist/\n*.log\n"
    checkout.commit({".gitignore": rules, "web/.gitignore": "/out\n", "web/a.ts": TEXT})
    names = ["dist", "dist/app.js", "deep/x.log", "out/page.html", "web/out", ":(top)y", "src"]
    seen = checkout.look(paths=names)
    assert seen.ignored == {"dist", "dist/app.js", "deep/x.log", "out/page.html", "web/out"}
    assert "ignored" in seen.known


def test_a_chain_of_renames_leads_to_the_path_of_today(checkout):
    checkout.commit({"a.py": TEXT})
    checkout.move("a.py", "b.py")
    first = checkout.commit()
    checkout.move("b.py", "lib/c.py")
    second = checkout.commit()
    seen = checkout.look(paths=["a.py", "b.py"])
    assert seen.past["a.py"] == (Past("a.py", first, "2026-01-02", "lib/c.py"),)
    assert seen.past["b.py"] == (Past("b.py", second, "2026-01-03", "lib/c.py"),)
    checkout.remove("lib/c.py")
    last = checkout.commit({"x": "y"})
    assert checkout.look(paths=["a.py"]).past["a.py"] == (Past("a.py", last, "2026-01-04"),)


def test_a_path_that_came_back_has_no_past(checkout):
    checkout.commit({"a.py": TEXT, "b.py": "x\n"})
    checkout.remove("a.py")
    checkout.commit()
    checkout.commit({"a.py": "other\n"})
    seen = checkout.look(paths=["a.py"])
    assert seen.paths == {"a.py": ("a.py",)} and seen.past == {}


def test_several_pasts_come_newest_first(checkout):
    checkout.commit({"one/x.py": "1\n", "two/x.py": "2\n", "keep": "k\n"})
    checkout.remove("one/x.py")
    older = checkout.commit()
    checkout.remove("two/x.py")
    newer = checkout.commit()
    assert [past.commit for past in checkout.look(paths=["x.py"]).past["x.py"]] == [newer, older]


def test_a_folder_that_moved_tells_its_new_path(checkout):
    checkout.commit({f"lib/core/{name}.py": TEXT + name for name in "abc"})
    checkout.move("lib/core", "packages/core")
    commit = checkout.commit()
    seen = checkout.look(paths=["lib/core", "lib", "lib/core/"])
    assert seen.past["lib/core"] == (Past("lib/core", commit, "2026-01-02", "packages/core"),)
    assert seen.past["lib/core/"] == seen.past["lib/core"]
    assert seen.past["lib"] == (Past("lib", commit, "2026-01-02", "packages"),)


def test_a_folder_that_was_removed_tells_the_last_commit(checkout):
    checkout.commit({"old/a.py": "1\n", "old/b.py": "2\n", "keep": "k\n"})
    checkout.remove("old/a.py")
    checkout.commit()
    checkout.remove("old")
    last = checkout.commit()
    assert checkout.look(paths=["old"]).past["old"] == (Past("old", last, "2026-01-03"),)


def test_a_file_that_is_gone_but_not_committed_is_neither_there_nor_past(checkout):
    checkout.commit({"a.py": "gone_too()\n", "b.py": TEXT, "c.py": TEXT + "c"})
    checkout.remove("a.py")
    checkout.git("rm", "-q", "--cached", "b.py")
    seen = checkout.look(paths=["a.py", "b.py", "c.py"], symbols=["gone_too"])
    assert seen.paths == {"b.py": ("b.py",), "c.py": ("c.py",)}
    assert seen.past == {} and seen.symbols == {} and seen.past_symbols == {}


def test_a_staged_file_is_found_by_its_end(checkout):
    checkout.commit({"a.py": TEXT})
    checkout.files({"src/new/b.py": "fresh_name()\n"})
    checkout.git("add", "src")
    seen = checkout.look(paths=["new/b.py"], symbols=["fresh_name"])
    assert seen.paths == {"new/b.py": ("src/new/b.py",)}
    assert seen.symbols["fresh_name"].places == ("src/new/b.py",)


def test_branches_remote_branches_and_tags_count(checkout, tmp_path):
    checkout.commit({"a.py": TEXT})
    checkout.git("branch", "feature/login")
    checkout.git("tag", "v1.0")
    clone = Checkout(tmp_path / "clone", init=False)
    checkout.git("clone", "-q", str(checkout.folder), str(tmp_path / "clone"))
    names = ["main", "feature/login", "origin/feature/login", "v1.0", "gone", "feature", ""]
    assert clone.look(branches=names).branches == set(names[:4])
    assert checkout.look(branches=names).branches == {"main", "feature/login", "v1.0"}


def test_commits_are_found_by_their_abbreviations(checkout):
    commit = checkout.commit({"a.py": TEXT})
    whole = checkout.git("rev-parse", "HEAD")
    tree = checkout.git("rev-parse", "HEAD^{tree}")
    names = [commit, whole, whole.upper(), tree[:9], "0000000", "HEAD", "main", "--all", "a\nb"]
    assert checkout.look(commits=names).commits == {commit, whole, whole.upper()}


def test_packages_and_commands_come_from_the_manifests(checkout):
    checkout.commit(
        {
            "web/package.json": '{"name": "web-app", "scripts": {"dev": "vite", "test:unit": "x"},'
            ' "dependencies": {"left-pad": "1"}, "devDependencies": {"@types/node": "2"}}',
            "pyproject.toml": '[project]\nname = "tool"\ndependencies = ["click>=8", "Foo_Bar"]\n'
            '[project.scripts]\ntoolbox = "x:y"\n[project.optional-dependencies]\nx = ["rich"]\n'
            '[dependency-groups]\ndev = ["pytest"]\n',
            "requirements-dev.txt": "# not-this\nrequests[socks]==2\n-r other.txt\n",
            "go.mod": "module example.org/app\n\nrequire (\n\tgithub.com/a/b v1.2.3\n)\n",
            "Cargo.toml": '[package]\nname = "crate"\n[dependencies]\nserde = { version = "1" }\n',
            "Gemfile": "gem 'rails', '~> 7'\n",
            "pom.xml": "<dependency><artifactId>guava</artifactId></dependency>",
            "app/build.gradle": "implementation 'com.squareup.okhttp3:okhttp:4.9'\n",
            "app/a.csproj": '<PackageReference Include="Newtonsoft.Json" Version="1" />',
            "Makefile": "FLAGS := -x\n.PHONY: all\nall: build\nbuild lint:\n\techo\nA::=b\n",
            "justfile": "set shell := ['x']\nrelease version='1':\n  echo\n",
            "broken/package.json": "{",
        }
    )
    there = ["web-app", "left-pad", "@types/node", "click", "foo-bar", "rich", "pytest", "requests"]
    there += ["github.com/a/b", "serde", "rails", "guava", "com.squareup.okhttp3:okhttp", "okhttp"]
    there += ["Newtonsoft.Json", "example.org/app", "crate"]
    seen = checkout.look(packages=[*there, "not-this", "react"])
    assert seen.packages == set(there)
    assert seen.commands == {"dev", "test:unit", "all", "build", "lint", "release"}


def test_a_changed_manifest_counts_as_it_is_on_disk(checkout):
    checkout.commit({"package.json": '{"scripts": {"old": "x"}}'})
    checkout.files({"package.json": '{"scripts": {"new": "x"}, "dependencies": {"a": "1"}}'})
    seen = checkout.look(packages=["a"])
    assert seen.commands == {"new"} and seen.packages == {"a"}

"""What a look at a git checkout answers: paths, past paths, branches, commits, manifests."""

from memdir.claims.claim import Past
from tests.helpers.repositories import TEXT, Checkout


def test_a_folder_is_a_path_and_a_slash_at_the_end_means_a_folder(checkout):
    checkout.commit({"src/auth/session.py": TEXT, "tools/auth": TEXT})
    seen = checkout.look(paths=["auth", "auth/", "session.py/", f"{checkout.folder}/tools/auth"])
    assert set(seen.paths.pop("auth")) == {"src/auth", "tools/auth"}
    assert seen.paths == {"auth/": ("src/auth",), f"{checkout.folder}/tools/auth": ("tools/auth",)}


def test_files_that_are_untracked_or_staged_are_there(checkout):
    checkout.commit({"a.py": TEXT})
    checkout.files({"local/b.py": TEXT, "src/new/c.py": "fresh_name()\n"})
    checkout.git("add", "src")
    seen = checkout.look(paths=["local/b.py", "local", "new/c.py"], symbols=["fresh_name"])
    assert seen.paths == {
        "local/b.py": ("local/b.py",),
        "local": ("local",),
        "new/c.py": ("src/new/c.py",),
    }
    assert seen.symbols["fresh_name"].places == ("src/new/c.py",)


def test_no_name_leads_out_of_the_checkout(checkout, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.txt").write_text("x")
    checkout.commit({"a.py": TEXT})
    (checkout.folder / "way").symlink_to(tmp_path / "outside")
    leading = ["../outside/secret.txt", "way/secret.txt", "/etc/passwd", "a.py/../../outside"]
    leading += ["", ".", "..", "/", "//", "a.py\0", ".git/config", "x" * 5000, "way/../a.py"]
    leading += ["d/" * 1_500 + "x.py"]
    seen = checkout.look(paths=[*leading, "way", "a.py"])
    assert seen.paths == {"a.py": ("a.py",)}
    assert seen.ignored == frozenset()


def test_what_git_ignores_is_told(checkout):
    rules = "dist/\n*.log\n"
    checkout.commit({".gitignore": rules, "web/.gitignore": "/out\n", "web/a.ts": TEXT})
    names = ["dist", "dist/app.js", "deep/x.log", "web/out", ":(top)y", "src"]
    assert checkout.look(paths=names).ignored == {*names[:4]}


def test_a_chain_of_renames_leads_to_the_path_of_today(checkout):
    checkout.commit({"a.py": TEXT})
    checkout.move("a.py", "b.py")
    checkout.commit()
    checkout.move("b.py", "lib/c.py")
    second = checkout.commit()
    seen = checkout.look(paths=["a.py", "b.py"])
    assert seen.past["a.py"] == (Past("a.py", second, "2026-01-03", "lib/c.py"),)
    assert seen.past["b.py"] == (Past("b.py", second, "2026-01-03", "lib/c.py"),)
    checkout.remove("lib/c.py")
    last = checkout.commit({"x": "y"})
    assert checkout.look(paths=["a.py"]).past["a.py"] == (Past("a.py", last, "2026-01-04"),)
    checkout.commit({"a.py": "other\n"})
    assert checkout.look(paths=["a.py"]).past == {}


def test_a_folder_tells_where_it_moved_or_the_commit_that_removed_the_last_file(checkout):
    files = {f"lib/core/{name}.py": TEXT + name for name in "abc"}
    checkout.commit({**files, "old/a.py": "1\n", "old/b.py": "2\n"})
    checkout.move("lib/core", "packages/core")
    checkout.remove("old/a.py")
    moved = checkout.commit()
    checkout.remove("old")
    last = checkout.commit()
    past = checkout.look(paths=["lib/core", "lib", "lib/core/", "old"]).past
    assert past["lib/core"] == (Past("lib/core", moved, "2026-01-02", "packages/core"),)
    assert past["lib/core/"] == past["lib/core"]
    assert past["lib"] == (Past("lib", moved, "2026-01-02", "packages"),)
    assert past["old"] == (Past("old", last, "2026-01-03"),)


def test_a_file_that_is_gone_but_not_committed_is_neither_there_nor_past(checkout):
    checkout.commit({"a.py": "gone_too()\n", "b.py": TEXT, "c.py": TEXT + "c"})
    checkout.remove("a.py")
    checkout.git("rm", "-q", "--cached", "b.py")
    seen = checkout.look(paths=["a.py", "b.py", "c.py"], symbols=["gone_too"])
    assert seen.paths == {"b.py": ("b.py",), "c.py": ("c.py",)}
    assert seen.past == {} and seen.symbols == {} and seen.past_symbols == {}


def with_submodule(checkout, tmp_path, text):
    library = Checkout(tmp_path / "library")
    library.commit({"src/moved.py": text})
    checkout.git("submodule", "--quiet", "add", str(library.folder), "lib")
    checkout.commit()


def test_what_may_be_in_a_submodule_has_no_past(checkout, tmp_path):
    files = {"old/moved.py": TEXT, "lib/inner.py": "old_name()\n", "keep": "k"}
    checkout.commit(files)
    for path in ("old", "lib"):
        checkout.remove(path)
    checkout.commit({"x": "x"})
    with_submodule(checkout, tmp_path, "old_name()\n")
    names = ["old/moved.py", "moved.py", "lib/inner.py"]
    seen = checkout.look(paths=names, symbols=["old_name"])
    assert set(seen.past) == {"old/moved.py"}
    assert seen.past_symbols == {} and "past_symbols" not in seen.known
    assert any("none is called removed" in remark for remark in seen.remarks)


def test_a_link_makes_a_path_present_only_if_it_stays_in_the_checkout(checkout, tmp_path):
    files = {path: TEXT + path for path in ("in/file.py", "out/config", "git/config")}
    checkout.commit(files)
    checkout.move("in", "new")
    for path in ("out", "git"):
        checkout.remove(path)
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs/config").write_text("x")
    links = {"in": "new", "git": ".git", "out": tmp_path / "theirs", "round": "round"}
    links |= {"dangling": "/nonexistent/zz"}
    for name, target in links.items():
        (checkout.folder / name).symlink_to(target)
    checkout.git("add", "in", "out", "git")
    checkout.git("commit", "-qm", "links")
    names = ["in/file.py", "in/", "in/none.py", "round", "dangling", *files]
    seen = checkout.look(paths=names)
    assert set(seen.paths) == {"in/file.py", "in/"}
    assert set(seen.past) == {"out/config", "git/config"}


def test_a_folder_that_is_ignored_since_and_still_on_disk_has_no_past(checkout):
    checkout.commit({"data_store/f.txt": TEXT, "pkg/mod.py": TEXT + "2"})
    checkout.git("rm", "-rq", "--cached", "data_store", "pkg")
    checkout.remove("pkg/mod.py")
    checkout.files({".gitignore": "data_store/\n__pycache__/\n", "pkg/__pycache__/x": "x"})
    checkout.commit()
    seen = checkout.look(paths=["data_store/", "data_store/f.txt", "f.txt", "pkg/"])
    assert set(seen.past) == {"pkg/"}  # a build left that behind
    assert "data_store/" in seen.ignored


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


def test_packages_and_commands_come_from_the_manifests_as_they_are_on_disk(checkout):
    checkout.commit(
        {
            "web/package.json": '{"name": "web-app", "scripts": {"dev": "vite", "test:unit": "x"},'
            ' "dependencies": {"left-pad": "1"}, "devDependencies": {"@types/node": "2"}}',
            "pyproject.toml": '[project]\nname = "tool"\ndependencies = ["click>=8", "Foo_Bar"]\n',
            "requirements-dev.txt": "# not-this\nrequests[socks]==2\n-r other.txt\n",
            "go.mod": "module example.org/app\n\nrequire (\n\tgithub.com/a/b v1.2.3\n)\n",
            "pom.xml": "<dependency><artifactId>guava</artifactId></dependency>",
            "app/build.gradle": "implementation 'com.squareup.okhttp3:okhttp:4.9'\n",
            "app/a.csproj": '<PackageReference Include="Newtonsoft.Json" Version="1" />',
            "Makefile": "FLAGS := -x\n.PHONY: all\nall: build\nbuild lint:\n\techo\nA::=b\n",
            "justfile": "set shell := ['x']\nrelease version='1':\n  echo\n",
            "broken/package.json": "{",
        }
    )
    there = ["web-app", "left-pad", "@types/node", "click", "foo-bar", "requests", "guava"]
    there += ["github.com/a/b", "com.squareup.okhttp3:okhttp", "okhttp", "Newtonsoft.Json"]
    seen = checkout.look(packages=[*there, "not-this", "react"])
    assert seen.packages == set(there)
    assert seen.commands == {"dev", "test:unit", "all", "build", "lint", "release"}
    checkout.files({"web/package.json": '{"scripts": {"new": "x"}, "dependencies": {"react": 1}}'})
    seen = checkout.look(packages=["react", "left-pad"])
    assert "new" in seen.commands and "dev" not in seen.commands and seen.packages == {"react"}

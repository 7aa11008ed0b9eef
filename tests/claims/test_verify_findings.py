"""`memdir verify` in a repository with a past: one row per thing that it once got wrong.

The rows are those of findings V1 to V9; each memory is one row, and all are judged in one run.
"""

from pathlib import Path

import pytest

from tests.helpers.repositories import TEXT, Checkout
from tests.helpers.tables import table
from tests.helpers.terminal import memdir, process

ROWS = table("claims", "findings")
CLI = 'import argparse\np = argparse.ArgumentParser()\np.add_argument("--dry-run")\n'
REMAINS = '''"""Once hashToken, as in:

    def shown_in_example(): ...
"""
TABLE = {"hash": "named_in_text"}  # hashToken(x)
'''
FILES: dict[str, str | bytes] = {
    "src/cli.py": CLI + 'p.add_argument("--legacy-mode")\n',
    "src/auth.py": "def handleAuth(user): ...\nclass Gate:\n    def open_gate(self): ...\n",
    "src/old_name.py": TEXT,
    "src/routes.py": "routes = 1\n",
    "packages/api/src/routes.py": "api_routes = 1\n",
    "helpers.py": TEXT + "helpers\n",
    "docs/rules.md": "Rules.\n" * 9,
    "docs/index.md": "Docs.\n",
    "web/index.md": "Web.\n",
    "api/index.md": "API.\n",
    "package-lock.json": '{"lockfileVersion": 3}\n',
    "web/package-lock.json": '{"lockfileVersion": 2}\n',
    "dist/bundle.js": "var bundle = 1\n",
    "local.cfg": "[local]\n",
    "merged.py": "merged = 1\n",
    "src/vault.ts": "export function openVault(key) {\n  return key\n}\n",
    "src/tokens.py": "".join(
        f"def {name}(): ...\n" for name in ("hashToken", "named_in_text", "shown_in_example")
    ),
    "requirements.txt": "requests==2.31.0\nsimplejson\ncoverage\n",
    "requirements/tests.in": "hypothesis>=6\n",
    "docker-compose.yml": "services:\n  db:\n    image: postgres:14-alpine\n",
    "pyproject.toml": '[project]\nname = "shop"\nrequires-python = ">=3.9"\n'
    '[project.optional-dependencies]\nserve = ["fastapi>=0.1"]\n',
    "docs/odd ü name.md": "odd\n",
    "docs/old/plan.md": "The old plan.\n",
    "docs/old/layout.css_t": "{}\n",
    "src/api.py": "class PriceBook:\n    def lookup(self): ...\n",
    "src/net.py": "def retry(): ...\nshow(pendCount)\n",
    "src/gate.py": "gate = 1\n",
    "tests/test_api.py": "def test_price(): ...\n",
    "gen/a_pb2.py": "a = 1\n",
    "gen/b_pb2.py": "b = 1\n",
    "daemon/crates/core/lib.rs": "core\n",
    "crates/types/lib.rs": TEXT + "types\n",
    ".claude/commands/ready.md": "Ready.\n",
    "package.json": '{"scripts": {"verify:batch": "x"}}',
}


def make_shop(folder: Path) -> Checkout:
    shop = Checkout(folder)
    shop.git("remote", "add", "origin", "git@github.com:acme/shop.git")
    shop.commit(FILES)
    shop.git("branch", "feature/login")
    shop.git("switch", "-qc", "exp-2")
    shop.commit({"exp.py": "exp = 1\n"})
    shop.git("switch", "-q", "main")
    shop.move("src/old_name.py", "src/middle_name.py")
    shop.commit()
    shop.git("merge", "--no-ff", "--no-commit", "exp-2")
    shop.git("rm", "-q", "merged.py")
    shop.git("commit", "-qm", "Merge branch 'exp-2'")
    shop.git("branch", "-D", "exp-2")
    shop.git("switch", "-qc", "spike")
    shop.git("switch", "-q", "main")
    shop.git("branch", "-D", "spike")
    shop.move("src/middle_name.py", "src/pricing/engine.py")
    shop.move("helpers.py", "shop/helpers.py")
    shop.move("crates/types", "daemon/crates/common")
    gone = ("docs/rules.md", "docs/index.md", "package-lock.json", "src/routes.py", "local.cfg")
    for path in (*gone, "dist", "docs/odd ü name.md", "docs/old", "src/gate.py"):
        shop.remove(path)
    shop.commit(
        {
            ".gitignore": "dist/\nlocal.cfg\nvar/\n",
            "src/cli.py": CLI,
            "src/gate/doors.py": "doors = 1\n",
            "src/net.py": "def retry(): ...\n",
            "src/auth.py": "def check_login(user): ...\n",
            "src/vault.ts": "// openVault was here\nclose() /* not openVault(key) */\n",
            "src/tokens.py": REMAINS,
            "requirements/tests.in": "coverage\n",
            "requirements.txt": "requests==2.32.1\n",
            "docker-compose.yml": "services:\n  db:\n    image: postgres:16-alpine\n",
            "pyproject.toml": '[project]\nname = "shop"\nrequires-python = ">=3.11"\n',
        }
    )
    return shop


@pytest.fixture(scope="module")
def claims(tmp_path_factory):
    """The claims of each memory, from one run of the command."""
    folder = tmp_path_factory.mktemp("findings")
    shop, store = make_shop(folder / "shop"), folder / "memory"
    store.mkdir()
    for number, (_, text, *_) in enumerate(ROWS):
        (store / f"m{number}.md").write_text(f"---\nname: m{number}\n---\n\n{text}\n", "utf-8")
    env = {"HOME": str(folder / "home"), "XDG_CACHE_HOME": str(folder / "cache")}
    words = ("verify", "--json", "--dir", str(store), "--project", str(shop.folder))
    answer = process(*words, **env)
    assert answer.code == 0, answer.stderr
    return answer.json["claims"]


@pytest.mark.parametrize(
    ("number", "row"), list(enumerate(ROWS)), ids=[f"{row[0]} {row[1][:50]}" for row in ROWS]
)
def test_each_finding_is_closed(claims, number, row):
    _, _, span, verdict, reason = row
    mine = [each for each in claims if each["path"] == f"m{number}.md"]
    judged = [(each["verdict"], each["reason"]) for each in mine if each["text"] == span]
    assert judged, [each["text"] for each in mine]
    assert judged[0][0] == verdict and reason in judged[0][1], judged


def test_a_sentence_that_names_no_version_in_use_makes_no_claim(claims):
    assert {each["text"] for each in claims if each["kind"] == "version"} == {
        *("postgres 14", "PostgreSQL 16", "Python 3.9", "Python 3.12", "requests==2.31.0"),
    }


def test_a_deleted_branch_raises_the_score_of_its_memory(project, store):
    (project / ".git").rmdir()
    make_shop(project)
    memdir("remember", "Work happens on branch `exp-2`.", "--name", "work")
    memdir("remember", "Work happens on branch `main`.", "--name", "rest")
    scores = {
        each["path"]: each["score"] for each in memdir("audit", "--deep", "--json").json["memories"]
    }
    assert scores["work.md"] - scores["rest.md"] == 15


@pytest.mark.parametrize("how", ["shallow", "sparse", "rewritten"])
def test_clones_and_rewritten_histories_say_only_what_they_can_prove(tmp_path, how):
    shop = make_shop(tmp_path / "shop")
    clone = Checkout(tmp_path / how, init=False)
    depth = ["--depth=1"] if how == "shallow" else ["--sparse"] if how == "sparse" else []
    shop.git("clone", "-q", *depth, f"file://{shop.folder}", str(clone.folder))
    if how == "rewritten":
        clone.git("checkout", "-q", "--orphan", "fresh")
        clone.git("commit", "-qm", "everything again")
        clone.git("branch", "-D", "main")
        clone.git("remote", "remove", "origin")
    store = tmp_path / "memory"
    store.mkdir()
    (store / "m.md").write_text("`docs/rules.md`, `packages/api/src/routes.py`, `check_login`\n")
    words = ("verify", "--json", "--dir", str(store), "--project", str(clone.folder))
    answer = process(*words, HOME=str(tmp_path / "home"))
    verdicts = {each["text"]: each["verdict"] for each in answer.json["claims"]}
    past = "stale" if how == "sparse" else "unknown"
    assert verdicts == {
        "docs/rules.md": past, "packages/api/src/routes.py": "true", "check_login": "true",
    }  # fmt: skip
    assert how != "sparse" or not (clone.folder / "src").exists()
    assert ("is a shallow clone" in "".join(answer.json["remarks"])) == (how == "shallow")

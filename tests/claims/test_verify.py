"""`memdir verify` and the look behind it: find, look once, judge; verdicts are kept for recall."""

import os

import pytest

from memdir.claims.verify import open_verdicts, refresh_verdicts, verify_claims
from memdir.config.config import read_config
from memdir.hot.inject import Recalled
from memdir.hot.verdicts import read_head_commit
from memdir.store.writer import open_app
from tests.cli.test_looks import too_wide
from tests.helpers.repositories import Checkout
from tests.helpers.searching import memory
from tests.helpers.terminal import memdir

RULES = "Rules are in `docs/rules.md`; the code is `src/api.py`, its plan `plans/later.md`."
FACT = "Prices are computed in `src/shop.py` by `special_price_calc`."
CODE = "def special_price_calc(order):\n    return 1\n"


@pytest.fixture
def shop(tmp_path) -> Checkout:
    shop = Checkout(tmp_path / "shop")
    shop.commit({"src/shop.py": CODE, "src/other.py": "other = 1\n"})
    return shop


def verdict(shop, span: str, **more: str) -> str:
    judged, _ = verify_claims([("x.md", f"[x]({span}) `{span}`")], shop.repo(), **more)
    return judged["x.md"][-1].verdict


def test_a_path_from_the_memory_is_resolved_where_the_store_lies(shop):
    assert verdict(shop, "../../src/shop.py") == "unknown"
    assert verdict(shop, "../../src/shop.py", folder=".claude/memory") == "true"
    assert verdict(shop, "../../../src/shop.py", folder=".claude/memory") == "unknown"


def test_what_a_memory_names_is_compared_never_opened(shop, tmp_path):
    """A path that leads out is no name of the repository, whatever lies there."""
    (tmp_path / "secret.txt").write_text("x")
    for span in (f"{tmp_path}/secret.txt", "../secret.txt", "a/../../secret.txt", "~/secret.txt"):
        assert verdict(shop, span, folder=".claude/memory") in ("unknown", "not_a_claim")


def test_a_hostile_or_unreadable_memory_hides_no_other(project, store):
    (project / ".git").rmdir()
    code = Checkout(project)
    code.commit({"docs/rules.md": "the text\n" * 5, "src/api.py": "x = 1\n"})
    code.move("docs/rules.md", "docs/style.md")
    code.commit()
    assert memdir("remember", RULES, "--name", "rules").code == 0
    (store / "bad.md").write_bytes(b"`a\0b.py` `\x1b[31m` `" + b"x/" * 5_000 + b"` \xff\xfe `")
    (store / "odd.md").mkdir()
    (store / "link.md").symlink_to("nowhere.md")
    answer = memdir("verify", "--all")
    assert answer.code == 0
    assert "\x1b" not in answer.text and "\0" not in answer.text
    assert "docs/rules.md" in answer.text
    assert too_wide(answer.text) == []


@pytest.fixture
def app(tmp_path, shop):
    root = os.path.realpath(shop.folder)
    environ = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
    app = open_app(read_config(environ, root), now=lambda: 0.0, tell=print)
    os.makedirs(app.store.root)
    with open(os.path.join(app.store.root, "prices.md"), "w", encoding="utf-8") as file:
        file.write(memory("Prices", FACT, FACT))
    return app


def told(app) -> tuple[int, tuple[str, ...]]:
    """How many should be looked at again, and what is said."""
    recalled = Recalled(app.store.scan().memories[0], "project", app.store.root)
    return open_verdicts(app).tell([recalled]), recalled.verdicts


def test_verdicts_are_kept_confirmed_by_a_glance_and_renewed_with_the_code(app, shop):
    assert told(app) == (1, ())  # before the first look nothing is said
    assert (refresh_verdicts(app), refresh_verdicts(app)) == (1, 0)
    assert told(app) == (0, ("src/shop.py, special_price_calc found",))
    shop.commit({"src/shop.py": "nothing = 1\n"})
    refresh_verdicts(app)
    again, said = told(app)
    assert (again, len(said)) == (0, 2)
    assert said[0].startswith("special_price_calc no longer in the code: removed in ")
    shop.commit({"src/shop.py": CODE})
    assert told(app) == (1, ("src/shop.py found",))  # a symbol that came back is not called gone
    os.unlink(os.path.join(app.store.root, "prices.md"))
    refresh_verdicts(app)
    assert os.listdir(open_verdicts(app).folder) == []


def test_the_commit_is_that_of_git_in_a_worktree_and_detached(shop, tmp_path):
    assert read_head_commit(str(shop.folder)) == shop.git("rev-parse", "HEAD")
    shop.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    side = Checkout(tmp_path / "side", init=False)
    side.commit({"src/more.py": "more = 1\n"})
    assert read_head_commit(str(side.folder)) == side.git("rev-parse", "HEAD")
    shop.git("checkout", "--quiet", "--detach")
    assert read_head_commit(str(shop.folder)) == shop.git("rev-parse", "HEAD")


@pytest.mark.parametrize("head", ["ref: refs/../../../etc/passwd", "ref: /etc/passwd", "\0", "x"])
def test_what_git_would_not_write_tells_nothing(shop, head):
    (shop.folder / ".git/HEAD").write_text(head)
    assert read_head_commit(str(shop.folder)) == ""


def test_packed_references_tell_nothing_and_nothing_is_held_back(app, shop):
    refresh_verdicts(app)
    shop.git("pack-refs", "--all")
    assert read_head_commit(str(shop.folder)) == ""
    assert told(app)[1] == ("src/shop.py, special_price_calc found",)

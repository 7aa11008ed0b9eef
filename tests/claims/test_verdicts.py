"""Verdicts that are kept and confirmed later: on real checkouts, as they move on."""

import os

import pytest

from memdir.claims.verify import open_verdicts, refresh_verdicts
from memdir.config.config import read_config
from memdir.hot.inject import Recalled
from memdir.hot.verdicts import read_head_commit
from memdir.store.writer import open_app
from tests.helpers.repositories import Checkout
from tests.helpers.searching import memory

FACT = "Prices are computed in `src/shop.py` by `special_price_calc`."
CODE = "def special_price_calc(order):\n    return 1\n"


@pytest.fixture
def shop(tmp_path) -> Checkout:
    shop = Checkout(tmp_path / "shop")
    shop.commit({"src/shop.py": CODE, "src/other.py": "other = 1\n"})
    return shop


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
    one = Recalled(app.store.scan().memories[0], "project", app.store.root)
    return open_verdicts(app).tell([one]), one.verdicts


def test_before_the_first_look_nothing_is_said(app):
    assert told(app) == (1, ())


def test_what_was_looked_at_is_confirmed_by_a_glance_and_not_looked_at_again(app):
    assert refresh_verdicts(app) == 1
    assert told(app) == (0, ("src/shop.py, special_price_calc found",))
    assert refresh_verdicts(app) == 0


def test_a_symbol_that_came_back_is_not_called_gone(app, shop):
    shop.commit({"src/shop.py": "nothing = 1\n"})
    refresh_verdicts(app)
    again, said = told(app)
    assert (again, len(said)) == (0, 2)
    assert said[0].startswith("special_price_calc no longer in the code: removed in ")
    shop.commit({"src/shop.py": CODE})
    assert told(app) == (1, ("src/shop.py found",))
    refresh_verdicts(app)
    assert told(app) == (0, ("src/shop.py, special_price_calc found",))


def test_a_memory_that_is_no_more_leaves_no_verdicts(app):
    refresh_verdicts(app)
    os.unlink(os.path.join(app.store.root, "prices.md"))
    refresh_verdicts(app)
    assert os.listdir(open_verdicts(app).folder) == []


def test_the_commit_is_that_of_git_in_a_worktree_and_detached(shop, tmp_path):
    assert read_head_commit(str(shop.folder)) == shop.git("rev-parse", "HEAD")
    shop.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    side = Checkout(tmp_path / "side", init=False)
    side.commit({"src/more.py": "more = 1\n"})
    assert (
        read_head_commit(str(side.folder))
        == side.git("rev-parse", "HEAD")
        != read_head_commit(str(shop.folder))
    )
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

"""A push stands or is refused as a whole, and nobody overwrites what they never saw."""

import hashlib

import pytest

from tests.server.test_feed import states

SECRET = "password: " + "hunter2" + "hunter2!!"


@pytest.fixture
def shop(team):
    return team.space(ann="writer", bob="writer", eve="reader", max="maintainer")


def of(team, person, space):
    return team.tokens[f"{person}@{space}"]


def test_a_memory_is_there_with_its_author_and_its_history(team, shop):
    ann, bob = of(team, "ann", shop), of(team, "bob", shop)
    assert team.push(ann, shop, ("auth.md", 0, "first")).json["items"][0]["version"] == 1
    assert team.push(bob, shop, ("auth.md", 1, "second")).status == 200
    now = team.ask(ann, f"/v1/spaces/{shop}/memories/auth.md").json
    assert (now["body"], now["author"], now["version"]) == ("second", "bob", 2)
    assert now["hash"] == hashlib.sha256(b"second").hexdigest()
    history = team.ask(ann, f"/v1/spaces/{shop}/history/auth.md").json
    assert [(v["version"], v["body"], v["author"]) for v in history] == [
        (2, "second", "bob"),
        (1, "first", "ann"),
    ]


def test_a_push_that_did_not_see_the_newest_gets_both_and_writes_nothing(team, shop):
    ann, bob = of(team, "ann", shop), of(team, "bob", shop)
    team.push(ann, shop, ("auth.md", 0, "of ann"))
    answer = team.push(bob, shop, ("new.md", 0, "beside it"), ("auth.md", 0, "of bob"))
    (conflict,) = answer.json["conflicts"]
    assert answer.status == 409
    assert conflict["yours"]["body"] == "of bob"
    assert conflict["theirs"]["body"] == "of ann"
    assert conflict["theirs"]["version"] == 1
    assert states(team, bob, shop) == {"auth.md": "of ann"}


def test_the_same_push_again_is_harmless(team, shop):
    ann = of(team, "ann", shop)
    first = team.push(ann, shop, ("auth.md", 0, "once"), id="push-1")
    again = team.push(ann, shop, ("auth.md", 0, "once"), id="push-1")
    assert [first.json["items"][0]["saved"], again.json["items"][0]["saved"]] == [True, False]
    assert again.json["seq"] == first.json["seq"]
    assert team.changes(ann, shop)["items"][0]["push"] == "push-1"


def test_a_removed_memory_is_told_and_can_come_back(team, shop):
    ann = of(team, "ann", shop)
    team.push(ann, shop, ("auth.md", 0, "text"))
    assert team.push(ann, shop, ("auth.md", 1, None)).status == 200
    (item,) = team.changes(ann, shop)["items"]
    assert (item["body"], item["version"], item["purged"]) == (None, 2, False)
    assert team.ask(ann, f"/v1/spaces/{shop}/memories/auth.md").status == 404
    assert team.push(ann, shop, ("auth.md", 2, "again")).status == 200
    assert states(team, ann, shop) == {"auth.md": "again"}


@pytest.mark.parametrize("one, other", [("Auth.md", "auth.md"), ("caf\u00e9.md", "cafe\u0301.md")])
def test_names_that_a_system_takes_for_one_are_one_and_a_rename_is_one_push(team, shop, one, other):
    ann = of(team, "ann", shop)
    team.push(ann, shop, (one, 0, "text"))
    beside = team.push(ann, shop, (other, 0, "text"))
    assert beside.status == 422
    assert "only in case or accents" in beside.error["message"]
    assert team.push(ann, shop, (other, 0, "text"), (one, 1, None)).status == 200


def test_a_reader_reads_and_does_not_push(team, shop):
    eve = of(team, "eve", shop)
    team.push(of(team, "ann", shop), shop, ("auth.md", 0, "text"))
    answer = team.push(eve, shop, ("auth.md", 1, "mine"))
    assert answer.status == 403
    assert "propose" in answer.error["next"]
    assert states(team, eve, shop) == {"auth.md": "text"}


def test_what_a_reader_proposes_a_maintainer_decides(team, shop):
    eve, ann, max = (of(team, name, shop) for name in ("eve", "ann", "max"))
    path = f"/v1/spaces/{shop}/proposals"
    wanted = {"items": [{"path": "auth.md", "version": 0, "body": "better"}]}
    number = team.ask(eve, path, wanted).json["id"]
    assert team.ask(eve, path, wanted).json["id"] == number, "sent again after a time-out"
    other = team.ask(eve, path, {"items": [{"path": "b.md", "version": 0, "body": "b"}]}).json["id"]
    (first, second) = team.ask(max, path).json["proposals"]
    assert (first["author"], first["items"][0]["body"], second["id"]) == ("eve", "better", other)
    assert team.ask(ann, f"{path}/{number}", {"accept": True}).status == 403
    assert team.ask(max, f"{path}/{number}", {"accept": True}).json["state"] == "accepted"
    assert team.ask(max, f"{path}/{number}", {"accept": False}).json["state"] == "accepted"
    assert team.ask(max, f"{path}/{other}", {"accept": False}).json["state"] == "rejected"
    assert team.ask(max, path).json["proposals"] == []
    assert states(team, eve, shop) == {"auth.md": "better"}


REFUSED = {
    "a secret in the text": (("a.md", 0, SECRET), 422, "a.md:1: holds a secret (password)"),
    "a secret in the path": (("AKIA" + "Q3EGRIZKQ5XYJ7TW" + ".md", 0, "x"), 422, "like a secret"),
    "a path that leaves": (("../a.md", 0, "x"), 422, "not a path of a memory"),
    "an absolute path": (("/etc/a.md", 0, "x"), 422, "not a path of a memory"),
    "something hidden": ((".git/a.md", 0, "x"), 422, "not a path of a memory"),
    "no memory": (("a.sh", 0, "x"), 422, "not a path of a memory"),
    "a device": (("con.md", 0, "x"), 422, "device"),
    "a direction mark": (("a\u202e.md", 0, "x"), 422, "hidden characters"),
    "two lines": (("a\nb.md", 0, "x"), 422, "no file name"),
    "a folder like a memory": (("a.md/b.md", 0, "x"), 422, "named like a memory"),
    "a long path": (("a" * 400 + ".md", 0, "x"), 422, "at most 400 bytes"),
    "a NUL": (("a.md", 0, "a\0b"), 422, "no text"),
    "half of a pair": (("a.md", 0, "a\ud800b"), 422, "no text"),
    "no version": (("a.md", None, "x"), 422, "version is not the number"),
    "a version that is true": (("a.md", True, "x"), 422, "version is not the number"),
    "a large memory": (("a.md", 0, "é" * 125_001), 413, "250,002 bytes"),
}


@pytest.mark.parametrize("item, status, message", REFUSED.values(), ids=REFUSED)
def test_what_no_store_takes_is_refused_with_the_reason(team, shop, item, status, message):
    answer = team.push(of(team, "ann", shop), shop, ("fine.md", 0, "fine"), item)
    assert answer.status == status
    assert message in answer.error["message"]
    assert answer.error["next"]
    assert "hunter" not in answer.bytes.decode()
    assert states(team, of(team, "ann", shop), shop) == {}


def test_a_path_twice_is_refused_and_a_memory_of_exactly_the_limit_is_taken(team, shop):
    ann = of(team, "ann", shop)
    assert team.push(ann, shop, ("a.md", 0, "x"), ("a.md", 0, "y")).status == 422
    assert team.push(ann, shop, ("a.md", 0, "word " * 50_000)).status == 200
    assert len(states(team, ann, shop)["a.md"]) == 250_000


def test_search_finds_words_in_the_named_space_only(team, shop):
    ann = of(team, "ann", shop)
    other = team.space(ann="writer")  # the same name there is no conflict
    team.push(ann, shop, ("merge.md", 0, "Merging the database migrations"), ("b.md", 0, "nothing"))
    foreign = team.push(of(team, "ann", other), other, ("merge.md", 0, "merge the database"))
    assert foreign.status == 200

    def found(query):
        answer = team.ask(ann, f"/v1/spaces/{shop}/search", q=query).json
        return [(item["space"], item["path"]) for item in answer["items"]]

    assert found("how to merge a migration") == [(shop, "merge.md")]
    assert found("x' OR '1'='1") == []
    assert found("%_%") == []
    assert found("the") == []
    assert found("back\\slash & 'quote' | database") == [(shop, "merge.md")]


def test_a_long_feed_comes_in_pages_of_a_bounded_size(team, shop):
    ann = of(team, "ann", shop)
    for number in range(9):
        assert team.push(ann, shop, (f"{number}.md", 0, f"{number}" * 240_000)).status == 200
    page = team.changes(ann, shop)
    assert 0 < len(page["items"]) < 9
    paths = [item["path"] for item in page["items"]]
    while page["next"] < page["newest"]:
        page = team.changes(ann, shop, page["next"])
        paths += [item["path"] for item in page["items"]]
    assert paths == [f"{number}.md" for number in range(9)]
    never = team.ask(ann, f"/v1/spaces/{shop}/changes", after=50)
    assert never.status == 410
    assert "after=0" in never.error["next"]

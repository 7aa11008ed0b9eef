"""A reader who follows the feed misses nothing, whoever writes at the same time."""

from tests.helpers.team import Team
from tests.server.load import run_load

WRITERS, READERS, WRITES = 8, 2, 600


def states(team: Team, token: str, space: str) -> dict[str, str]:
    """What a client that begins at 0 has in the end."""
    found, cursor = {}, 0
    while True:
        page = team.changes(token, space, cursor)
        found |= {item["path"]: item["body"] for item in page["items"]}
        if page["next"] == page["newest"]:
            return {path: body for path, body in found.items() if body is not None}
        cursor = page["next"]


def test_no_reader_of_the_feed_misses_a_write(team):
    tally = run_load(team, writers=WRITERS, readers=READERS, writes=WRITES)
    assert tally.writes >= WRITES
    assert (tally.missed, tally.lost) == (0, 0)


def test_the_numbers_of_a_space_have_no_gap_and_no_repeat(team):
    space, ann = team.member("writer")
    for number in range(5):
        team.push(ann, space, (f"{number}.md", 0, "x"), (f"b{number}.md", 0, "x"))
    team.push(ann, space, ("0.md", 0, "x"))  # nothing new
    page = team.changes(ann, space)
    assert [item["seq"] for item in page["items"]] == [*range(1, 11)]
    assert page["newest"] == 10


def test_every_member_has_the_same_feed(team):
    space = team.space(ann="writer", bob="writer", eve="reader")
    team.push(team.tokens[f"ann@{space}"], space, ("a.md", 0, "x"))
    for name in ("bob", "eve"):
        assert states(team, team.tokens[f"{name}@{space}"], space) == {"a.md": "x"}

"""`python -m evals guards`: rules of a corpus against real commands and public incidents."""

import json

from tests.evals.bench import figures


def test_it_counts_alarms_reminders_and_incidents(tmp_path):
    folder = tmp_path / "corpus/ann__tool/.claude/memory"
    folder.mkdir(parents=True)
    (folder / "rule.md").write_text("Never run `git push --force`.\n")
    (tmp_path / "conversations").mkdir()
    lines = [json.dumps(command) for command in ("ls -la", "git push --force")]
    (tmp_path / "conversations/commands.jsonl").write_text("\n".join(lines))
    given = figures("guards", tmp_path)
    assert given["rules"] == ["ann__tool/.claude/memory/rule.md\tforbid\tgit push --force\t"]
    assert given["figures"]["real commands that are stopped"]["value"] == 0.5
    assert given["figures"]["commands of incidents stopped"]["n"] >= 30
    assert given["figures"]["of incidents gathered later"]["n"] >= 60
    assert "1 rules have no label" in given["remarks"]

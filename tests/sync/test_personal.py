"""Two machines of one person over a plain git remote, from their commands."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from memdir.sync import git_transport
from memdir.sync.git_transport import GitTransport
from memdir.sync.transport import Unreachable
from tests.helpers.machines import SSH, Machine, bare, everything_in, said
from tests.helpers.serving_git import serve_git
from tests.sync.conftest import ORIGINS

SECRET = "gh" + "p_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"


def change(machine: Machine, name: str, old: str, new: str) -> None:
    path = machine.store() / f"{name}.md"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def sync(*machines: Machine) -> list[dict]:
    return [machine.json("sync") for machine in machines]


def test_a_second_machine_has_everything_after_the_same_command(ann, bob, remote):
    ann.remember("No merges in March.", "freeze")
    ann.remember("Ann is new to Rust.", "rust", "user", "--scope", "user")
    assert len(ann.json("sync", "--to", remote)["pushed"]) >= 2
    got = bob.json("sync", "--to", remote)
    assert {item["path"] for item in got["pulled"]} == {"freeze.md", "rust.md"}
    for scope in ("project", "user"):
        assert bob.files(scope) == ann.files(scope)
    assert "No merges in March." in bob("recall", "may I merge in March?").text


def test_changes_of_both_meet_by_lines_and_identical_files_are_not_touched(ann, bob, joined):
    ann.remember("Logs are in UTC.", "logs")
    sync(ann, bob)
    untouched = bob.store() / "logs.md"
    before = untouched.stat()
    change(ann, "freeze", "No merges in March.", "No merges in April.")
    change(bob, "freeze", "Since 2025.", "Since 2024.")
    sync(ann, bob, ann)
    text = ann.files()["freeze.md"]
    assert "No merges in April." in text and "Since 2024." in text
    assert ann.files() == bob.files()
    assert untouched.stat().st_mtime_ns == before.st_mtime_ns


def test_the_same_lines_stand_once_and_the_other_text_waits(ann, bob, joined):
    change(ann, "freeze", "Ask Ann.", "Ask Cora.")
    change(bob, "freeze", "Ask Ann.", "Ask Dan.")
    (_, got) = sync(ann, bob)
    assert [item["path"] for item in got["conflicts"]] == ["freeze.md"]
    assert "Ask Cora." in bob.files()["freeze.md"] and set(bob.files()) == set(ann.files())
    (held,) = bob.inbox()
    assert "Ask Dan." in held["draft"]["body"] and "Ann" in held["reason"]
    assert bob("review", "approve", held["id"], "--anyway").code == 0
    sync(bob, ann)
    assert any("Ask Dan." in text for text in ann.files().values())


def test_what_was_edited_stays_against_what_was_removed(ann, bob, joined):
    ann("forget", "freeze")
    change(bob, "freeze", "Ask Ann.", "Ask Bob.")
    sync(ann, bob, ann)
    assert "Ask Bob." in ann.files()["freeze.md"] == bob.files()["freeze.md"]
    bob("forget", "freeze")
    sync(bob, ann)
    assert "freeze.md" not in ann.files() and "freeze.md" not in ann.files()["MEMORY.md"]


def test_one_sync_is_one_undo(ann, bob, joined):
    for name in ("one", "two", "three"):
        ann.remember(f"Fact {name}.", name)
    sync(ann)
    before = bob.files()
    sync(bob)
    assert len(bob.files()) == len(before) + 3
    assert bob("undo").code == 0
    assert bob.files() == before


def test_secrets_and_what_says_so_stay_here_with_their_lines(ann, bob, joined):
    ann.remember(f"The token is {SECRET}", "key", "reference", "--allow-secret")
    path = ann.store() / "mine.md"
    path.write_text(
        "---\nname: mine\ndescription: a diary\ntype: project\nsync: no\n---\nDear me.\n"
    )
    ann("index", "--rebuild")
    (sent,) = sync(ann)
    stays = {item["path"]: item["reason"] for item in sent["stays"]}
    assert "github-token" in stays["key.md"] and "sync: no" in stays["mine.md"]
    assert SECRET not in str(sent)
    left = everything_in(joined)
    for text in (SECRET, "Dear me", "a diary", "key.md", "mine.md"):
        assert text not in left
    sync(bob)
    assert "key.md" not in bob.files() and "(key.md)" in ann.files()["MEMORY.md"]


def test_a_dry_run_tells_and_changes_nothing(ann, bob, joined):
    ann.remember("Logs are in UTC.", "logs")
    told = ann.json("sync", "--dry-run")
    assert [item["path"] for item in told["pushed"]] == ["logs.md"]
    sync(ann)
    before = bob.files()
    told = bob.json("sync", "--dry-run")
    assert [item["path"] for item in told["pulled"]] == ["logs.md"] and bob.files() == before


def test_a_project_that_git_cannot_name_is_asked_for_a_name_once(tmp_path, remote, monkeypatch):
    machine = Machine(tmp_path, "cora", "", monkeypatch)
    machine.remember("A fact.", "fact")
    answer = machine("sync", "--to", remote)
    assert answer.code == 1 and "memdir sync --name NAME" in said(answer)
    assert machine("sync", "--name", "shop").code == 0
    other = Machine(tmp_path, "dan", "", monkeypatch)
    other("sync", "--to", remote)
    assert other("sync", "--name", "shop").code == 0 and "fact.md" in other.files()


# -- what goes wrong ----


def test_an_address_that_is_none_or_gives_no_answer_or_is_that_of_the_code_is_not_kept(
    ann, tmp_path
):
    for address, reason in (
        *((it, "is not the address of a remote") for it in ("", "-x", "ext::sh -c true", "a\nb")),
        (str(tmp_path / "nowhere.git"), "does not appear to be a git repository"),
        ("https://example.invalid/o/shop", "remote of the code"),
        (str(ann.project), "remote of the code"),
    ):
        answer = ann("sync", "--to", address)
        assert answer.code == 1 and reason in said(answer)
    assert "memdir sync --to URL" in said(ann("sync"))


def test_a_store_or_a_remote_that_is_gone_loses_nothing_and_status_says_since_when(
    ann, bob, joined
):
    shutil.rmtree(bob.store())
    sync(bob, ann)
    assert "freeze.md" in bob.files() and "freeze.md" in ann.files()
    ann.remember("Logs are in UTC.", "logs")
    shutil.move(joined, joined + ".away")
    answer = ann("sync")
    assert answer.code == 1 and "waits here" in said(answer) and "logs.md" in ann.files()
    assert "failing since: today" in said(ann("status"))
    checks = ann("doctor", "--json").json["checks"]
    assert [check["ok"] for check in checks if check["name"] == "sync"] == [False]
    shutil.move(joined + ".away", joined)
    sync(ann, bob)
    assert "logs.md" in bob.files() and "failing" not in ann("status").text


@pytest.mark.parametrize("how", ["emptied", "rolled back", "another one"])
def test_a_remote_that_was_rewritten_gets_everything_again(ann, bob, joined, how, tmp_path):
    git = ["git", "--git-dir", joined]
    first = subprocess.check_output([*git, "rev-parse", "memories"], text=True).strip()
    ann.remember("Logs are in UTC.", "logs")
    change(ann, "freeze", "Ask Ann.", "Ask Cora.")
    sync(ann, bob)
    if how == "another one":
        shutil.rmtree(joined)
        bare(tmp_path)
    else:
        command = (
            ["-d", "refs/heads/memories"] if how == "emptied" else ["refs/heads/memories", first]
        )
        subprocess.run([*git, "update-ref", *command], check=True)
    sync(bob, ann, bob)
    assert ann.files() == bob.files() and "Ask Cora." in ann.files()["freeze.md"]
    assert "logs.md" in everything_in(joined)


def test_a_push_whose_answer_was_lost_and_that_was_put_back_meets_it(ann, bob, joined, monkeypatch):
    change(ann, "freeze", "Ask Ann.", "Ask Cora.")
    real = GitTransport.push

    def lost(transport, id, push):
        real(transport, id, push)
        raise Unreachable("the connection broke", next="sync again")

    with monkeypatch.context() as broken:
        broken.setattr(GitTransport, "push", lost)
        assert ann("sync").code == 1
    sync(bob)
    change(bob, "freeze", "Ask Cora.", "Ask Ann.")
    sync(bob, ann)
    assert "Ask Ann." in ann.files()["freeze.md"] == bob.files()["freeze.md"]


def refuse_pushes(remote: str) -> Path:
    """To the branch; outboxes are taken."""
    hook = Path(remote, "hooks/update")
    hook.write_text('#!/bin/sh\n[ "$1" != refs/heads/memories ]\n')
    hook.chmod(0o755)
    return hook


def test_outboxes_of_a_remote_that_never_had_the_branch_lose_nothing(ann, bob, remote):
    hook = refuse_pushes(remote)
    for machine in (ann, bob):
        assert machine("sync", "--to", remote).code == 0
    for text in ("one", "two"):
        ann.remember(f"Fact {text}.", text)
        sync(ann)
    bob.remember("Fact three.", "three")
    sync(bob, ann)
    hook.unlink()
    sync(ann, bob, ann)
    names = {"one.md", "two.md", "three.md", "MEMORY.md"}
    assert set(ann.files()) == set(bob.files()) == names


def test_a_remote_that_refuses_gets_an_outbox_that_others_merge(ann, bob, joined):
    hook = refuse_pushes(joined)
    ann.remember("Logs are in UTC.", "logs")
    told = ann.json("sync")
    assert told["remotes"][0]["result"] == "outbox" and told["waiting"]
    sync(bob)
    assert "logs.md" in bob.files()
    hook.unlink()
    change(ann, "freeze", "Ask Ann.", "Ask Cora.")
    sync(bob, ann, bob, ann)
    assert ann.files() == bob.files() and not ann.inbox() and not bob.inbox()
    branches = subprocess.check_output(["git", "--git-dir", joined, "branch", "-a"], text=True)
    assert "outbox" not in branches


def test_a_remote_that_may_only_be_read_gives_and_what_is_new_waits_here(ann, bob, joined):
    with serve_git(joined, may_push=False) as address:
        assert ann("sync", "--to", address).code == 0
        bob.remember("Logs are in UTC.", "logs")
        sync(bob)
        ann.remember("Ask before a release.", "ask")
        told = ann.json("sync")
        assert [item["path"] for item in told["pulled"]] == ["logs.md"]
        assert [item["path"] for item in told["waiting"]] == ["ask.md"]
        (remark,) = told["remarks"]
        assert "403" in remark and "it waits here" in remark and "the right to push" in remark
    assert ann("sync", "--to", joined).code == 0
    sync(bob)
    assert "ask.md" in bob.files()


def test_what_two_outboxes_say_of_the_same_lines_waits_both_times(ann, bob, joined, tmp_path):
    cora = Machine(tmp_path, "cora", ORIGINS[0], ann.monkeypatch)
    assert cora("sync", "--to", joined).code == 0
    refuse_pushes(joined)
    for machine in (ann, bob, cora):
        change(machine, "freeze", "Ask Ann.", f"Ask the team of {machine.name}.")
    sync(ann, bob, cora)
    waits = sorted(held["draft"]["body"].split("\n")[2] for held in cora.inbox())
    assert waits == ["Ask the team of ann.", "Ask the team of bob."]
    assert "Ask the team of cora." in cora.files()["freeze.md"]


@pytest.mark.parametrize("outbox", [False, True])
def test_names_that_differ_only_in_case_are_told_and_not_lost(ann, bob, joined, outbox):
    hook = refuse_pushes(joined) if outbox else None
    (ann.store() / "Logs.md").write_text("---\nname: Logs\ntype: project\n---\nUpper.\n")
    (bob.store() / "logs.md").write_text("---\nname: logs\ntype: project\n---\nLower.\n")
    (_, told) = sync(ann, bob)
    assert "Logs.md" in [item["path"] for item in told["waiting"]]
    assert "Upper." in everything_in(joined) and "Lower." in bob.files()["logs.md"]
    assert "Logs.md" not in bob.files()
    if hook:
        hook.unlink()
    bob("forget", "logs")
    sync(ann, bob, bob)
    assert "Upper." in bob.files()["Logs.md"]


def make_at(remote: str, *words: str, data: bytes = b"") -> str:
    git = ["git", "--git-dir", remote, "-c", "user.name=Eve", "-c", "user.email=eve@h.invalid"]
    done = subprocess.run([*git, *words], input=data, capture_output=True, check=True)
    return done.stdout.decode().strip()


def test_what_git_or_we_refuse_to_read_there_is_named_with_the_next_step(ann, bob, joined):
    blob, branch = make_at(joined, "hash-object", "-w", "--stdin"), "refs/heads/memories"
    tree = make_at(joined, "mktree", data=f"100644 blob {blob}\ta.md\n".encode())
    for _ in range(300):
        tree = make_at(joined, "mktree", data=f"040000 tree {tree}\td\n".encode())
    make_at(joined, "update-ref", branch, make_at(joined, "commit-tree", tree, "-m", "deep"))
    answer = bob("sync")
    assert answer.code == 1 and "below 200 others" in said(answer)
    row = b"100644 a.md\0" + bytes.fromhex(blob)
    literally = ("hash-object", "-t", "tree", "-w", "--literally", "--stdin")
    tree = make_at(joined, *literally, data=row + row)
    make_at(joined, "update-ref", branch, make_at(joined, "commit-tree", tree, "-m", "twice"))
    answer = bob("sync")
    assert answer.code == 1 and "contains duplicate file entries" in said(answer)
    assert "Next: mend the remote (git fsck finds the object)" in said(answer)
    assert "duplicate file entries" in said(bob("status")) and "freeze.md" in bob.files()


@pytest.mark.parametrize("scope", ["user", "project"])
def test_a_scope_that_is_named_is_synced_alone(ann, bob, joined, scope):
    ann.remember("Logs are in UTC.", "logs")
    ann.remember("Ann is new to Rust.", "rust", "user", "--scope", "user")
    told = ann.json("sync", "--scope", scope)
    name = {"user": "rust.md", "project": "logs.md"}[scope]
    assert {(it["scope"], it["path"]) for it in told["pushed"] if it["path"] != "MEMORY.md"} == {
        (scope, name)
    }
    assert "for the scope team" in said(ann("sync", "--scope", "team"))
    assert "works on the scopes project, user and team" in said(ann("sync", "--scope", "local"))


def test_a_large_memory_of_the_remote_is_told_and_stays_there(ann, bob, tmp_path, joined):
    """As ours stays here."""
    clone = str(tmp_path / "clone")
    subprocess.run(["git", "clone", "-q", "-b", "memories", joined, clone], check=True)
    (folder,) = Path(clone, "projects").iterdir()
    for name, size in (("huge.md", 10_000_000), (".hidden.md", 1), ("FREEZE.md", 1)):
        (folder / name).write_text("x" * size)
    os.symlink("/etc/passwd", folder / "link.md")
    (folder / "freeze.md").write_text((folder / "freeze.md").read_text() + "Mended.\n")
    for words in (("add", "-A"), ("commit", "-qm", "x"), ("push", "-q")):
        identity = ("-c", "user.name=x", "-c", "user.email=x")
        subprocess.run(["git", *identity, "-C", clone, *words], check=True)
    (ann.store() / "big.md").write_text("---\nname: big\n---\n" + "x " * 500_000)
    (told,) = sync(ann)
    names = {"huge.md", "link.md", ".hidden.md", "FREEZE.md"}
    assert {item["path"] for item in told["waiting"]} == names
    assert "big.md" in [item["path"] for item in told["stays"]]
    assert not names & set(os.listdir(ann.store())) and "Mended." in ann.files()["freeze.md"]
    (ref,) = bob.home.rglob("refs/memdir/heads/memories")
    ref.with_name("memories.lock").touch()  # of a git that was killed
    sync(bob)
    assert "big.md" not in bob.files()
    assert "huge.md" in make_at(joined, "ls-tree", "-r", "--name-only", "memories")


def test_clocks_days_apart_change_nothing(ann, bob, joined):
    for path in ann.store().glob("*.md"):
        os.utime(path, (time.time() + 5 * 86_400,) * 2)
    for path in bob.store().glob("*.md"):
        os.utime(path, (time.time() - 5 * 86_400,) * 2)
    change(ann, "freeze", "Ask Ann.", "Ask Cora.")
    change(bob, "freeze", "Since 2025.", "Since 2024.")
    sync(ann, bob, ann, bob)
    assert ann.files() == bob.files() and "Ask Cora." in bob.files()["freeze.md"]


# -- git itself ----


def test_over_ssh_and_http(ann, bob, joined, tmp_path, monkeypatch):
    script = tmp_path / "ssh"
    script.write_text(SSH)
    script.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", "echo 'Permission denied (publickey).' >&2; false")
    refused = bob("sync", "--to", "me@host:memory.git")
    assert refused.code == 1 and "Permission denied (publickey)" in said(refused)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(script))
    ann.remember("Logs are in UTC.", "logs")
    assert ann("sync", "--to", f"me@example.invalid:{joined}").code == 0
    monkeypatch.delenv("GIT_SSH_COMMAND")  # it was kept with the remote
    assert ann("sync").code == 0
    with serve_git(joined) as address:
        assert bob.json("sync", "--to", address)["pulled"]
        bob.remember("Ask before a release.", "ask")
        assert bob.json("sync")["pushed"]
    assert bob("sync").code == 1


def test_neither_hooks_nor_settings_of_the_user_run(ann, joined, tmp_path):
    ran = tmp_path / "ran"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("pre-push", "post-checkout", "post-merge", "pre-commit", "prepare-commit-msg"):
        (hooks / name).write_text(f"#!/bin/sh\necho {name} >> {ran}\n")
        (hooks / name).chmod(0o755)
    (ann.home / ".gitconfig").write_text(
        f"[core]\n\thooksPath = {hooks}\n\tfsmonitor = touch {ran}\n[push]\n\tgpgSign = true\n"
        f"[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = touch {ran}\n"
    )
    ann.remember("Logs are in UTC.", "logs")
    assert ann("sync").code == 0
    assert not ran.exists()


def test_a_sync_with_nothing_new_runs_git_at_most_six_times(ann, joined, tmp_path, monkeypatch):
    real, log = shutil.which("git"), tmp_path / "calls"
    (tmp_path / "bin").mkdir()
    counted = tmp_path / "bin/git"
    counted.write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec {real} "$@"\n')
    counted.chmod(0o755)
    sync(ann)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    sync(ann)
    assert 1 <= len(log.read_text().splitlines()) <= 6


def test_many_syncs_leave_few_files_of_their_own(ann, bob, joined, monkeypatch):
    monkeypatch.setattr(git_transport, "MAX_PACK_FILES", 6)
    for turn in range(8):
        ann.remember(f"Fact {turn}.", f"fact-{turn}")
        sync(ann, bob)
    for machine in (ann, bob):
        (folder,) = machine.home.glob(".local/state/memdir/sync/personal/sync.git/objects/pack")
        assert len(os.listdir(folder)) <= 12
    assert ann.files() == bob.files() and len(bob.files()) == 10


@pytest.mark.slow
def test_four_machines_at_once_lose_nothing(tmp_path, remote, monkeypatch):
    names = ("ann", "bob", "cora", "dan")
    machines = [Machine(tmp_path, name, "git@h.invalid:o/shop", monkeypatch) for name in names]
    for machine in machines:
        machine("sync", "--to", remote)
    for turn in range(3):
        for machine in machines:
            machine.remember(f"Fact {turn} of {machine.name}.", f"{machine.name}-{turn}")
        runs = [machine.start("sync") for machine in machines]
        words = [run.communicate()[1] for run in runs]
        assert [run.returncode for run in runs] == [0] * len(machines), words
    sync(*machines, *machines)
    assert all(machine.files() == machines[0].files() for machine in machines)
    assert len(machines[0].files()) == 3 * len(machines) + 1

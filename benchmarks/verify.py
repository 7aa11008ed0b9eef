"""Verifying claims: a thousand memories against a repository of 50,000 files with a past."""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import IO

from benchmarks.common import WORDS, Row, scratch
from memdir.claims.claim import STALE, TRUE, UNKNOWN
from memdir.claims.find import find_claims
from memdir.claims.judge import collect_evidence_claims_need
from memdir.claims.repo import GitRepo
from memdir.claims.verify import make_verdict_rows, verify_claims
from memdir.hot.inject import Recalled
from memdir.hot.memory import Memory
from memdir.hot.verdicts import Kept, Verdicts, verdict_facts

FILES, COMMITS, MEMORIES = 50_000, 400, 1_000
GOAL = 15.0  # seconds for the whole audit, cold
PROMPT_MS = 3.0  # for the verdicts of a prompt
RECALLED, REPEATED = 5, 30
GREPPED = 100  # names that `git grep` looks for; all of them would take it minutes
ENDINGS = ("py", "py", "ts", "go", "java", "md")
BEGAN = 1_760_000_000


def measure() -> list[Row]:
    """Cold, warm, after a commit, and with an edit that is not committed."""
    with scratch() as folder:
        code, cache = os.path.join(folder, "code"), os.path.join(folder, "cache")
        made = _make(code)
        texts = _memories(*made)
        claims = [claim for path, text in texts for claim in find_claims(text, path)]
        asked = collect_evidence_claims_need(claims)
        what = f"{MEMORIES:,} memories, {len(claims):,} claims, {len(asked.symbols):,} symbols"
        names = sorted(asked.symbols)[:GREPPED]
        floor, floor_cpu = _taken(lambda: _grep(code, names))
        verdicts: list[str] = []

        def audit() -> None:
            judged, _ = verify_claims(texts, GitRepo(code, cache))
            verdicts[:] = [one.verdict for some in judged.values() for one in some]

        rows = [_whole(folder, code, texts, floor)]
        for name, before in _states(code):
            before()
            wall, cpu = _taken(audit)
            rows.append(Row(f"claims, {name}", 0.0, wall, None, "s", True, what))
            rows.append(Row(f"  against git grep, {GREPPED} names", floor, wall, unit="s"))
            rows.append(Row("  the same, CPU of all processes", floor_cpu, cpu, unit="s"))
            what = ""
        counts = {one: verdicts.count(one) for one in (TRUE, STALE, UNKNOWN)}
        assert all(counts.values()), counts
        rows += _look(code, cache, asked)
        rows.append(_glance(code, os.path.join(folder, "home"), texts))
    return rows


def _whole(folder: str, code: str, texts: list[tuple[str, str]], floor: float) -> Row:
    """The command as a person runs it for the first time: nothing is in the cache."""
    store = os.path.join(folder, "memory")
    os.mkdir(store)
    for path, text in texts:
        _edit(os.path.join(store, path), text)
    run = [sys.executable, "-c", "from memdir.cli.main import main; main()"]
    words = ("audit", "--deep", "--json", "--dir", store, "--project", code)
    env = {**os.environ, "HOME": os.path.join(folder, "home")}
    answer: list[bytes] = []
    wall, cpu = _taken(
        lambda: answer.append(subprocess.run([*run, *words], env=env, capture_output=True).stdout)
    )
    stale = sum(one["claims"]["stale"] for one in json.loads(answer[0])["memories"])
    assert stale, "the audit found nothing stale"
    what = f"memdir audit --deep; {cpu:.1f} s of CPU; git grep of {GREPPED} names: {floor:.1f} s"
    return Row("whole deep audit, cold", 0.0, wall, GOAL, "s", True, what)


def _glance(code: str, home: str, texts: list[tuple[str, str]]) -> Row:
    """What a prompt pays for the verdicts on five memories that were looked at before."""
    kept = Verdicts(os.path.join(home, "kept"), code)
    memories = [Memory(path, text, 1.0, len(text)) for path, text in texts[:RECALLED]]
    judged, _ = verify_claims(texts[:RECALLED], GitRepo(code, os.path.join(home, "glance")))
    for memory in memories:
        kept.keep(
            memory.path,
            Kept(verdict_facts(memory), "0" * 40, make_verdict_rows(judged[memory.path], kept)),
        )
    bodies = [Recalled(memory, "project", home) for memory in memories]
    best = min(_taken(lambda: kept.tell(bodies))[0] for _ in range(REPEATED)) * 1000
    assert all(one.verdicts for one in bodies)
    bare = min(_taken(lambda: [os.lstat(code) for _ in bodies])[0] for _ in range(REPEATED)) * 1000
    note = f"the floor is {RECALLED} lstat; least of {REPEATED}"
    return Row(f"verdicts of {RECALLED} memories, warm", bare, best, PROMPT_MS, "ms", True, note)


def _look(code: str, cache: str, asked: object) -> list[Row]:
    """The look alone, without finding and judging claims."""
    wall, cpu = _taken(lambda: GitRepo(code, cache).look(asked))  # type: ignore[arg-type]
    listed, _ = _taken(lambda: _run(code, "ls-files", "-z"))
    status, _ = _taken(lambda: _run(code, "status", "--porcelain", "-uno"))
    note = f"{cpu:.2f} s of CPU; the floor is `git ls-files` and `git status`"
    return [Row("the look alone, warm", listed + status, wall, unit="s", note=note)]


def _states(code: str) -> Iterator[tuple[str, Callable[[], object]]]:
    path = os.path.join(code, "src", "edited.py")

    def commit() -> None:
        _edit(path, "def edited(): ...\n")
        _run(code, "add", "--all")
        _run(code, *("-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x"))

    yield "cold", lambda: None
    yield "warm", lambda: None
    yield "after a commit", commit
    yield "with an edit", lambda: _edit(path, "def edited_again(): ...\n")


def _edit(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _grep(code: str, names: list[str]) -> None:
    _run(code, "ls-files", "-z")
    patterns = [word for name in names for word in ("-e", name)]
    _run(code, "grep", "-I", "-w", "-F", "-l", *patterns)


def _run(code: str, *words: str) -> None:
    subprocess.run(["git", *words], cwd=code, stdout=subprocess.DEVNULL, check=False)


def _taken(act: Callable[[], object]) -> tuple[float, float]:
    """Seconds on the clock, and of all processors, children too."""
    start, before = time.perf_counter(), _cpu()
    act()
    return time.perf_counter() - start, _cpu() - before


def _cpu() -> float:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(kind) for kind in kinds]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _make(code: str) -> tuple[list[str], list[str], list[str], list[str]]:
    """The repository; paths and identifiers that are there, and those that once were."""
    rnd = random.Random(3)
    symbols = [f"{one}_{two}" for one in WORDS[:250] for two in WORDS[250:490]]
    weights = [1 / (rank + 20) for rank in range(len(symbols))]
    pool = rnd.choices(symbols, weights, k=400_000)
    folders = [f"src/{one}/{two}" for one in WORDS[:40] for two in WORDS[40:80]]
    paths = [
        f"{folders[number % len(folders)]}/file{number}.{rnd.choice(ENDINGS)}"
        for number in range(FILES)
    ]
    subprocess.run(["git", "init", "-q", "-b", "main", code], check=True)
    importer = subprocess.Popen(["git", "fast-import", "--quiet"], cwd=code, stdin=subprocess.PIPE)
    assert importer.stdin is not None
    gone = [f"bygone_{word}" for word in WORDS[:COMMITS]]
    _commit(importer.stdin, 0)
    for number, path in enumerate(paths):
        _put(importer.stdin, path, _text(rnd, pool, gone[number] if number < COMMITS else ""))
    past = _past(importer.stdin, rnd, pool, paths)
    importer.stdin.close()
    assert importer.wait() == 0
    _run(code, "reset", "-q", "--hard")
    # A memory names what is special to a project, seldom its most frequent words.
    return paths[3 * COMMITS :], rnd.sample(sorted(set(pool)), 6000), past, gone


def _past(stream: IO[bytes], rnd: random.Random, pool: list[str], paths: list[str]) -> list[str]:
    """Each commit changes one file, renames one and removes one."""
    past = []
    for number in range(COMMITS):
        _commit(stream, number + 1)
        _put(stream, paths[number], _text(rnd, pool, ""))
        renamed, removed = paths[COMMITS + number], paths[2 * COMMITS + number]
        stream.write(f"R {renamed} moved/{renamed}\nD {removed}\n".encode())
        past += [renamed, removed]
    return past


def _commit(stream: IO[bytes], number: int) -> None:
    when = BEGAN + number * 86_400
    head = f"commit refs/heads/main\ncommitter x <x@example.invalid> {when} +0000\ndata 2\nx\n\n"
    stream.write(head.encode())


def _put(stream: IO[bytes], path: str, data: bytes) -> None:
    stream.write(f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n")


def _text(rnd: random.Random, pool: list[str], more: str) -> bytes:
    start = rnd.randrange(len(pool) - 500)
    words = pool[start : start + rnd.randint(100, 450)]
    lines = [f"    x = {'('.join(words[at : at + 5])})" for at in range(0, len(words), 5)]
    return "\n".join([f"def {words[0]}({more}):", *lines, ""]).encode()


def _memories(
    paths: list[str], symbols: list[str], past: list[str], gone: list[str]
) -> list[tuple[str, str]]:
    """What each memory says: mostly true, some of it stale, some never heard of."""
    rnd = random.Random(4)
    texts = []
    for number in range(MEMORIES):
        path, old = rnd.choice(paths), rnd.choice(past)
        lines = [
            f"The cache lives in `{path}`; `{rnd.choice(symbols)}` fills it.",
            f"See `{os.path.basename(rnd.choice(paths))}` and `{rnd.choice(symbols)}` for more.",
            f"Before a release call `{rnd.choice(symbols)}` in `{os.path.dirname(path)}/`.",
            f"The retry loop is in `{old}`, as `{rnd.choice(gone)}` in `{path}`.",
            f"Planned: `src/{rnd.choice(WORDS)}/never{number}.py` with `never_{number}_made`.",
        ]
        head = f"---\nname: m{number}\ndescription: x\ntype: project\n---\n\n"
        texts.append((f"m{number}.md", head + "\n".join(lines) + "\n"))
    return texts

"""Each system call of an operation meets an accident: SIGKILL before it, or an error from it.

Errors come once, or from then on, with what disks really answer. The operation must either succeed
whole, or say in a sentence what failed and what stands (I7); what stands must be whole, and the
next write must work.
"""

import errno
import os
import re
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from tests.faults import driver, memories, stage, tracer, trees
from tests.faults.driver import World
from tests.faults.stage import Outcome, Stage, Tally
from tests.faults.tracer import Call, Strike

# Python repeats an interrupted call for ever (PEP 475), so only one interruption means anything.
ONCE_ONLY = frozenset(("EINTR",))
_MAKES = ("openat", "mkdir", "mkdirat", "rename", "renameat", "write", "pwrite64", "fsync")
_NAMED = ("openat", "mkdir", "mkdirat", "rename", "renameat", "unlink", "unlinkat", "rmdir")
# The calls that give such an error in practice; the full run tries every error at every call.
LIKELY = {
    "ENOSPC": frozenset((*_MAKES, "close")),
    "EACCES": frozenset((*_NAMED, "newfstatat")),
    "EROFS": frozenset((*_NAMED, "fchmod", "pwrite64")),
}
STANDS = re.compile(
    r"stands|Done before that|is (created|updated|retired|archived|restored|purged)"
)
# A pointer whose file nobody could look for stays: that is an answer, not a violation.
DOUBT = re.compile(r"index: \S+ does not exist")
SEVERAL = frozenset(("capture",))  # operations of several changes, each with the lock
# They say in other ways, or to nobody, what was done: a batch by its list, a hook by its log.
TOLD_ELSEWHERE = frozenset(("capture", "commit", "recovery", "enqueue", "rebuild", "approve"))

Job = tuple[str, int, str, Strike]  # operation, which call, the error or nothing for a kill


def kill(
    operations: Sequence[str], every: int = 1, world: World = memories.WORLD, defect: str = ""
) -> Tally:
    """Every operation, killed at every point, or at every second one and so on.

    The last one is always among them: it comes after the answer.
    """
    jobs: list[Job] = []
    for name, calls in _calls(operations, world, defect):
        points = dict.fromkeys([*range(0, len(calls), every), len(calls) - 1])
        jobs += [(name, at, "", tracer.point(calls, at)) for at in points]
    return stage.run_jobs(_strike, jobs, defect, world)


def fail(
    operations: Sequence[str],
    everywhere: Sequence[str],
    likely: Sequence[str],
    every: int,
    for_good: bool,
    world: World = memories.WORLD,
    defect: str = "",
) -> Tally:
    """Errors that every call gives, and others for `every` so many of the calls that can."""
    jobs: list[Job] = []
    sampled: list[Job] = []
    for name, calls in _calls(operations, world, defect):
        jobs += _failures(name, calls, everywhere, for_good)
        sampled += [
            job
            for job in _failures(name, calls, likely, for_good)
            if job[3].name in LIKELY.get(job[2], {job[3].name})
        ]
    tally = stage.run_jobs(_strike, jobs + sampled[::every], defect, world)
    tally.of = len(jobs) + len(sampled)
    return tally


class Scene:
    """A root with a store where a command is given, and judged by what is found afterwards.

    Its kinds `act`, in a forked child between the tracer's markers, and `judge` what is wrong after
    the same command was given again where nobody heard an answer; both are told the defect.
    """

    root: str
    seed: trees.Tree

    def lay(self) -> None:
        trees.write_tree(self.seed, self.root)


def strike_scenes(
    make: Callable[[str, str], Scene],
    names: Sequence[str],
    points: Callable[[int], Iterable[int]],
    errors: Sequence[str] = (),
    defect: str = "",
) -> Tally:
    """Each scene's command killed at these of its calls, or failed there with each error."""

    @cache
    def scene_in(folder: str, name: str) -> Scene:
        return make(os.path.join(folder, name.replace(" ", "-")), name)

    def act(here: Stage, job: Job, tally: Tally) -> None:
        name, at, error, blow = job
        scene = scene_in(here.folder, name)
        scene.lay()
        traced = tracer.strike(lambda: scene.act(here.defect), blow)
        fired = traced.fired and (bool(error) or traced.code == -signal.SIGKILL)
        how = f"{error} at" if error else "killed before"
        tally.add(f"{name}: {how} {blow.name} #{at}", scene.judge(here.defect), fired)

    jobs: list[Job] = []
    for name in names:
        with Stage(defect=defect) as here:
            scene = scene_in(here.folder, name)
            scene.lay()
            calls = tracer.trace(lambda scene=scene: scene.act(defect)).calls
        for error in ("", *errors):
            number = getattr(errno, error) if error else 0
            found = [at for at in points(len(calls)) if not error or calls[at].name != "close"]
            jobs += [(name, at, error, tracer.point(calls, at, number)) for at in found]
    return stage.run_jobs(act, jobs, defect)


def refuse_locks(errors: Sequence[str], operations: Sequence[str], defect: str = "") -> Tally:
    """Every operation where the disk answers each lock with one of these errors."""
    return stage.run_in_worlds(
        _refuse_locks, operations, lambda name: [(error, name) for error in errors], defect
    )


def _refuse_locks(here: Stage, job: tuple[str, str], tally: Tally) -> None:
    """It is refused with a sentence, nothing is written, and reading works."""
    error, name = job
    blow = Strike("flock", 1, getattr(errno, error), for_good=True)
    outcome = here.strike(name, blow)
    told = "has no locks" in outcome.said and "MEMDIR_STATE_DIR" in outcome.said
    found = [] if told else [f"it is not told ({outcome.code}): {outcome.said}"]
    now, before = here.world.view.look(here.root), here.expected[name].before
    same = (now.files, now.debris, now.shelves) == (before.files, before.debris, before.shelves)
    found += [] if same else ["the store has changed"]
    for words in (["list"], ["show", "alpha"], ["recall", "force-push"]):
        if here.world is memories.WORLD and "alpha.md" in now.files:
            code = tracer.strike(lambda words=words: driver.run_typed(here.root, words), blow).code
            said = here.heard()[1]
            found += [] if code == 0 and "alpha" in said else [f"{words[0]}: {code} {said}"]
    tally.add(f"{name} where locks end in {error}", found, outcome.fired)


def _calls(
    operations: Sequence[str], world: World, defect: str
) -> Iterator[tuple[str, list[Call]]]:
    for name in operations:
        with Stage(world, defect) as here:
            yield name, here.calls(name)


def _failures(
    operation: str, calls: list[Call], errors: Sequence[str], for_good: bool
) -> Iterator[Job]:
    for at, call in enumerate(calls):
        if call.paths and call.paths[0].endswith(".ack"):
            continue  # the answer itself belongs to the harness
        if call.name == "close" and operation in SEVERAL:
            continue  # we fail it undone, and so a lock would be held that a real one lets go of
        for error in errors:
            for lasts in (False, True) if for_good and error not in ONCE_ONLY else (False,):
                yield operation, at, error, tracer.point(calls, at, getattr(errno, error), lasts)


def _strike(here: Stage, job: Job, tally: Tally) -> None:
    operation, at, error, blow = job
    outcome = here.strike(operation, blow)
    if error:
        how = f"{error} {'from then on' if blow.for_good else 'once'} at"
        problems, fired = judge(here, operation, outcome), outcome.fired
    else:
        how, problems = "killed before", here.verdict(operation, outcome.acknowledged)
        fired = outcome.fired and outcome.code == -signal.SIGKILL
    tally.add(f"{operation}: {how} {blow.name} #{at}", problems, fired)


def judge(here: Stage, operation: str, outcome: Outcome) -> list[str]:
    """The state on disk, and whether the words fit it."""
    if outcome.hung:
        return ["it hangs"]
    found = here.verdict(operation, outcome.acknowledged)
    if outcome.code == driver.DONE:
        found = [problem for problem in found if not DOUBT.fullmatch(problem)]
    return words(here, operation, outcome) + found


def words(here: Stage, operation: str, outcome: Outcome) -> list[str]:
    """I7: no success without effect, no failure without a sentence that is true."""
    said, told = outcome.said, outcome.acknowledged is not None
    if outcome.code == driver.DONE:
        return [] if told else ["exit 0 without an acknowledgement"]
    if outcome.code != driver.REFUSED:
        last = said.strip().splitlines()[-1:] or [f"exit {outcome.code}"]
        return [f"no sentence: {last[0]}"]
    if told:
        return [f"acknowledged and refused: {said}"]
    before = here.expected[operation].before.memories
    now = here.memories
    changed = [path for path in {*now, *before} if now.get(path) != before.get(path)]
    if changed and "nothing was written" in said:
        return [f"it says that nothing was written, but {changed[0]} was: {said}"]
    if changed and operation not in TOLD_ELSEWHERE and not STANDS.search(said):
        return [f"it does not say that {changed[0]} has changed: {said}"]
    return []

"""A disk that is full sooner or later: the operation on a tmpfs of every size, page by page."""

from collections.abc import Sequence

from tests.faults import kernel, mounts, stage, strike, trees
from tests.faults.stage import Outcome, Stage, Tally

PAGE = 4  # kilobytes
PLENTY = 64 << 10  # kilobytes
LARGEST = 512  # kilobytes; beyond it every operation has room enough


def run(operations: Sequence[str], defect: str = "") -> Tally:
    """From the first size that holds the seed to the first on which the operation succeeds."""
    return stage.run_jobs(_sweep, operations, defect, begin=mounts.enter)


def _sweep(here: Stage, operation: str, tally: Tally) -> None:
    here.learn(operation)
    full = 0
    for size in range(PAGE, LARGEST, PAGE):
        here.lay(operation)
        trees.clear(here.root)
        mounts.tmpfs(here.root, size)
        try:
            trees.fill(here.seeds[operation], here.root)
            code = kernel.wait(kernel.start(lambda: here.run(operation)))
            outcome = Outcome(code, *here.heard())
            tally.add(f"{operation} on a disk of {size} KB", _judge(here, operation, outcome))
            full += code != 0
            done = code == 0 and "cannot be" not in outcome.said
        except OSError:
            done = False  # not even the seed fits
        finally:
            mounts.unmount(here.root)
        if (done and full) or (here.defect and tally.violations):
            return
    tally.add(operation, [] if full else ["it never met a full disk"], fired=False)


def _judge(here: Stage, operation: str, outcome: Outcome) -> list[str]:
    debris = here.world.view.look(here.root).debris
    mounts.tmpfs(here.root, PLENTY, again=True)
    found = here.verdict(operation, outcome.acknowledged)
    found = found + strike.words(here, operation, outcome)
    return found + [f"debris on a full disk: {path}" for path in debris]

"""What kind of repository stands there, or why it cannot be looked at."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field

from memdir.adapters.repos._log import is_commit
from memdir.adapters.repos._process import Git, find_git


@dataclass
class Opened:
    """A repository that git can read; `problem` says why it cannot."""

    git: Git
    commit: str = ""
    problem: str = ""
    remarks: list[str] = field(default_factory=list)

    @property
    def bare(self) -> bool:
        """True without a working tree."""
        return not self.git.work_tree


def open_checkout(root: str) -> Opened:
    """Ask git what it sees there; never one of the folders above."""
    program = find_git(os.environ.get("PATH", os.defpath))
    git = Git(os.path.realpath(root) if root else "", program, work_tree=False)
    if not root or not os.path.isdir(git.root):
        return Opened(git, problem=f"{root or 'the project'} is not there: no claim was checked")
    if not program:
        return Opened(git, problem="git is not installed: no claim was checked")
    out, ended = git.ask("rev-parse", "--is-bare-repository", "--is-shallow-repository")
    facts = out.decode("ascii", "replace").split()
    if not ended.whole or len(facts) != 2 or not {"true", "false"}.issuperset(facts):
        return Opened(git, problem=_why(root, ended.said))
    git.disarm()
    opened = Opened(git)
    git.work_tree = facts[0] != "true"
    head, _ = git.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    opened.commit = head.decode("ascii", "replace").strip()
    if not is_commit(opened.commit):
        return Opened(git, problem=_why(root, "it names no commit that could be one"))
    if not git.work_tree:
        opened.remarks.append(f"{root} has no working tree: only commits were looked at")
    if not opened.commit:
        opened.remarks.append(f"{root} has no commit yet: there is no past to look at")
    elif facts[1] == "true":
        opened.remarks.append(f"{root} is a shallow clone: its older history was not looked at")
    if git.partial:
        opened.remarks.append(f"{root} is a partial clone: removed lines were not looked at")
    return opened


def _why(root: str, said: str) -> str:
    if "dubious ownership" in said or "safe.directory" in said:
        trust = f"git config --global --add safe.directory {shlex.quote(root)}"
        return f"git does not trust the owner of {root}: no claim was checked. Next: {trust}"
    line = next((line for line in said.splitlines() if line.strip()), "it does not say why")
    return f"git cannot read {root} ({line[:200]}): no claim was checked"

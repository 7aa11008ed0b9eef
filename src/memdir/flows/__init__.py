"""The sequences: what happens, in which order, when somebody asks for something.

`changing`: every change goes through `App.change`: lock, act, tell, commit. `reading` and
`recalling` take no lock and wait for nobody. Read the three to know what the system does.
"""

from memdir.flows.changing import (
    bring_in,
    edit,
    purge,
    rebuild_index,
    restore,
    retire,
    save,
    touch,
    undo,
)
from memdir.flows.reading import (
    diff,
    expired_trash,
    list_memories,
    load,
    log,
    read_all,
    shelved,
    show,
    survey_index,
)
from memdir.flows.recalling import recall, standing

__all__ = [
    "bring_in",
    "diff",
    "edit",
    "expired_trash",
    "list_memories",
    "load",
    "log",
    "purge",
    "read_all",
    "rebuild_index",
    "recall",
    "restore",
    "retire",
    "save",
    "shelved",
    "show",
    "standing",
    "survey_index",
    "touch",
    "undo",
]

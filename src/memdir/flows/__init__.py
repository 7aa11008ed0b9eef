"""The sequences: what happens, in which order, when somebody asks for something.

`changing`: every change goes through `App.change`: lock, act, tell, commit. `reading`: takes no
lock and waits for nobody. Read the two to know what the system does.
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
    "restore",
    "retire",
    "save",
    "shelved",
    "show",
    "survey_index",
    "touch",
    "undo",
]

"""The sequences: what happens, in which order, when somebody asks for something.

`changing`: every change goes through `App.change`: lock, act, tell, commit. `reading`,
`recalling` (with `selecting`), `opening` and `auditing` (with `dating` for ages, `projects` for
every store of the client) take no lock and wait for nobody. `sharing` changes two stores, `merging`
serves git. `capturing` and `extracting` learn from conversations, `reviewing` asks a person about
what they hold, `logging_day` and `dreaming` keep logs and bring them together, `accounting` and
`budgeting` say what came of it and what it cost. `records` are changed as memories are, `filing`
gives the memory tool its files, `sources` reads what other tools kept, `installing` sets clients
up. Read them to know what the system does.
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
from memdir.flows.opening import begin_anew, section
from memdir.flows.prompting import prompt
from memdir.flows.reading import (
    diff,
    expired_trash,
    list_memories,
    load,
    log,
    missed,
    read_all,
    shelved,
    show,
    survey_index,
)
from memdir.flows.recalling import recall, standing
from memdir.flows.verifying import verify

__all__ = [
    "begin_anew",
    "bring_in",
    "diff",
    "edit",
    "expired_trash",
    "list_memories",
    "load",
    "log",
    "missed",
    "prompt",
    "purge",
    "read_all",
    "rebuild_index",
    "recall",
    "restore",
    "retire",
    "save",
    "section",
    "shelved",
    "show",
    "standing",
    "survey_index",
    "touch",
    "undo",
    "verify",
]

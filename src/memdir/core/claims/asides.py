"""Why a span does not say that something is in this repository now."""

# By its form.
PLACEHOLDER = "placeholder"
OUTSIDE = "outside the repository"
ENDING = "file ending"
OPTION = "option of a command"
GENERIC = "general command"
NUMBERED = "version"
CODE = "quoted code"
ELSEWHERE = "number on a server"
EXTERNAL = "name of an outside project"
# By its sentence.
DENIED = "denied"
OLD = "old name"
PAST = "past"
AVOIDED = "to be avoided"
KNOWN = "said to be gone elsewhere in this memory"
CHANGED = "its sentence speaks of a change"
BYGONE = "its sentence speaks of the past"
MISSED = "to be brought back"
BRANCHED = "on another branch"
PLANNED = "planned"
EXAMPLE = "example"
UNTRACKED = "said to be untracked"
OTHER = "another repository"

# These say nothing that could be true or false here; the others are just not to be decided.
NO_CLAIM = frozenset({DENIED, OLD, PAST, ENDING, OPTION, GENERIC, NUMBERED, CODE, ELSEWHERE})
# Even if the name is found, that does not bear the sentence out.
NEVER_TRUE = frozenset({DENIED, PLACEHOLDER, ENDING, OPTION, CODE, ELSEWHERE, OUTSIDE})
# These speak of files and what is in them.
OF_FILES = frozenset({CHANGED, BYGONE, BRANCHED})

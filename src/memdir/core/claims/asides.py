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
KNOWN = "said to be gone elsewhere in this memory"
CHANGED = "its sentence speaks of a change"
PLANNED = "planned"

# These say nothing that could be true or false here; the others are just not to be decided.
NO_CLAIM = frozenset({DENIED, OLD, PAST, ENDING, OPTION, GENERIC, NUMBERED, CODE, ELSEWHERE})
# Even if the name is found, that does not bear the sentence out.
NEVER_TRUE = frozenset({DENIED, PLACEHOLDER, ENDING, OPTION, CODE, ELSEWHERE, OUTSIDE})

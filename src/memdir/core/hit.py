"""What a search gives back: memories with a score, best first. Read on the hot path."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.core.finding import Finding
    from memdir.core.memory import Memory


class Hit:
    """One memory that a search found: its rank's score, how sure the match is, what matched."""

    __slots__ = ("memory", "score", "sure", "words")

    def __init__(
        self, memory: "Memory", score: float, sure: float, words: dict[str, float]
    ) -> None:
        self.memory = memory
        self.score = score
        self.sure = sure  # comparable between prompts and stores; `score` is not
        self.words = words  # what each matched word added to the score


class Found:
    """The answer of a search: every memory with a score, best first, and what went wrong."""

    __slots__ = ("findings", "hits", "searched")

    def __init__(self, hits: list[Hit], searched: int, findings: "list[Finding]") -> None:
        self.hits = hits
        self.searched = searched  # how many memories there were to choose from
        self.findings = findings

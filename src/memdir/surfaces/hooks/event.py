"""What a client hands to a hook, and the form of the answer. Hot path.

SQLite reads and writes the JSON: it is here anyway, and the json module costs as much as the
interpreter.
"""

from memdir.adapters.searches._sqlite import connect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

MOST_BYTES = 16 * 1024 * 1024  # of what a client hands over
NUL, SPACE = b"\\u0000", b"\\u0020"  # as JSON writes them
FIELDS = (
    *("session_id", "cwd", "prompt", "source", "agent_type", "transcript_path"),
    "last_assistant_message",
)
AGAIN = "stop_hook_active"
TRUE = 1  # as SQLite says it
CALL = ("tool_name", "tool_input.file_path", "tool_input.notebook_path", "tool_input.command")
TEXT = "CASE json_type(?1, '$.{0}') WHEN 'text' THEN json_extract(?1, '$.{0}') END"


class Event:
    """The fields that our hooks go by; one that is missing or no text is empty."""

    __slots__ = (
        *("_database", "_given", "again", "agent", "cwd", "last", "prompt", "session", "source"),
        "transcript",
    )

    def __init__(self, given: bytes) -> None:
        """Raises an error of SQLite where it is no JSON."""
        self._database = connect(":memory:")
        self._database.text_factory = bytes  # half of a character is no reason to fail
        # To SQLite a text ends at a zero.
        self._given = given.replace(NUL, SPACE).decode("utf-8", "replace")
        *texts, again = self._texts(FIELDS, f", json_extract(?1, '$.{AGAIN}')")
        self.session, self.cwd, self.prompt, self.source, self.agent, self.transcript = texts[:6]
        self.last = texts[6]
        self.again = again == TRUE  # the agent goes on because a hook said so

    def call(self) -> "Sequence[str]":
        """The tool that is to run, its file, its notebook, its command line."""
        return self._texts(CALL)

    def _texts(self, fields: "Sequence[str]", more: str = "") -> "list[Any]":
        query = f"SELECT {', '.join(map(TEXT.format, fields))}{more}"
        found = self._database.execute(query, (self._given,)).fetchone()
        texts = [one.decode("utf-8", "replace") if isinstance(one, bytes) else "" for one in found]
        return [*texts[: len(fields)], *found[len(fields) :]]

    def context(self, event: str, text: str) -> str:
        """The answer that adds a text to what the model reads."""
        query = (
            "SELECT json_object('hookSpecificOutput', json_object("
            "'hookEventName', ?, 'additionalContext', ?))"
        )
        return self._made(query, event, text)

    def deny(self, reason: str) -> str:
        """The answer that keeps a tool from running."""
        query = (
            "SELECT json_object('hookSpecificOutput', json_object('hookEventName', 'PreToolUse', "
            "'permissionDecision', 'deny', 'permissionDecisionReason', ?))"
        )
        return self._made(query, reason)

    def block(self, reason: str) -> str:
        """The answer that makes the agent go on at the end of its turn."""
        return self._made("SELECT json_object('decision', 'block', 'reason', ?)", reason)

    def with_report(self, answer: str, report: str) -> str:
        """The answer with a line that the user sees and no model reads."""
        query = (
            "SELECT json_set(?1, '$.systemMessage', "
            "coalesce(json_extract(?1, '$.systemMessage') || char(10), '') || ?2)"
        )
        return self._made(query, answer or "{}", report)

    def line(self, **fields: str | int) -> str:
        """These fields as one line of JSON."""
        pairs = ", ".join(f"'{name}', ?" for name in fields)
        return self._made(f"SELECT json_object({pairs})", *fields.values())

    def _made(self, query: str, *values: str | int) -> str:
        # Bytes of a memory that are no UTF-8 become marks.
        whole = [
            one.encode("utf-8", "replace").decode() if isinstance(one, str) else one
            for one in values
        ]
        made: bytes = self._database.execute(query, whole).fetchone()[0]
        return made.decode()

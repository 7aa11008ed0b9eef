"""JSON-RPC 2.0: a line becomes a message, a message a line; what is neither is refused."""

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

    Fields = dict[str, object]

MAX_BYTES = 2 * 1024 * 1024  # of one message
PARSE, INVALID, UNKNOWN, PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
NO_RESOURCE = -32002
EDGE_BYTES = 200  # bytes at either end of a message in which its id may stand
_ID = rb'"id"\s{0,9}:\s{0,9}(-?\d{1,15}|"[^"\\\x00-\x1f]{1,64}")'
_FIRST = re.compile(rb'\s{0,9}\{\s{0,9}(?:"jsonrpc"\s{0,9}:\s{0,9}"2\.0"\s{0,9},\s{0,9})?' + _ID)
_LAST = re.compile(_ID + rb"\s{0,9}\}\s{0,9}\Z")


class Refused(Exception):
    """A request that gets an error of the protocol for an answer."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


def read(data: bytes) -> object:
    """The message in a line; refuses what is not JSON, and numbers that JSON does not have."""
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_no_number)
    except UnicodeDecodeError:
        raise Refused(PARSE, "the message is not UTF-8; send JSON as UTF-8") from None
    except RecursionError:
        raise Refused(PARSE, "the message is nested too deeply") from None
    except ValueError:
        raise Refused(PARSE, "the message is not JSON; send one JSON-RPC object a line") from None


def write(message: object) -> bytes:
    """One line; half a character, which no client could read, becomes a question mark."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


def result(id: object, fields: "Mapping[str, object]") -> "Fields":
    """The answer to a request."""
    return {"jsonrpc": "2.0", "id": id, "result": fields}


def error(id: object, refused: Refused) -> "Fields":
    """The refusal of a request; of one that cannot be told from others, with no id."""
    fields: Fields = {"code": refused.code, "message": refused.message}
    if refused.data is not None:
        fields["data"] = refused.data
    return {"jsonrpc": "2.0", "id": id, "error": fields}


def too_long(first: bytes, last: bytes) -> "Fields":
    """The refusal of a message that was not read; its id stands at one of its ends, if at all.

    A client that gets no answer to its id waits until its time is over.
    """
    match = _FIRST.match(first[:EDGE_BYTES]) or _LAST.search(last[-EDGE_BYTES:])
    id = json.loads(match[1]) if match else None
    reason = f"the message has more than {MAX_BYTES:,} bytes, which is the limit; send less at once"
    return error(id, Refused(INVALID, reason))


def id_of(message: "Mapping[str, object]") -> "str | int | None":
    """The id of a request; None where it has one that is none, or no id at all."""
    id = message.get("id")
    return id if isinstance(id, str | int) and not isinstance(id, bool) else None


def _no_number(name: str) -> "NoReturn":
    raise ValueError(name)

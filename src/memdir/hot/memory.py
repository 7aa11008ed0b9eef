"""A memory and its header: lines of `key: value` between two `---` lines.

A line format, not YAML: a strict YAML reader fails on 6 % of real headers (unquoted `: `, ` #`, a
leading backtick). Lines that were not edited are written back byte for byte.
"""

FENCE = "---"
NEST = "metadata"
# Quoted on writing, since YAML readers would not take these as plain text.
_HAZARDS = tuple("!&*?|>@`\"'%#{}[],-")
_FOUR_BYTES = bytes(range(0xF0, 0xF8))  # first bytes of characters that take two UTF-16 units
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "/": "/", "0": "\0"}


def decode(data: bytes) -> str:
    """Lossless for `encode`, even if the bytes are not UTF-8."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def utf16_units(text: str) -> int:
    """Length of a text as JavaScript counts it."""
    if text.isascii():
        return len(text)
    # Counted in bytes: a loop over characters would cost more than the rest of loading.
    data = text.encode("utf-8", "surrogatepass")
    return len(text) + len(data) - len(data.translate(None, _FOUR_BYTES))


class Document:
    __slots__ = (
        *("body", "closing", "ends", "indent", "lines", "opening", "problems", "starts"),
        "values",
    )

    def __init__(self, opening: str, lines: list[str] | None, closing: str, body: str) -> None:
        self.opening = opening  # BOM and first fence with its line end; "" without a header
        self.lines = lines  # header lines with "\r" but without "\n"
        self.closing = closing  # the last fence with its line end
        self.body = body
        self.problems: list[tuple[int, str]] = []
        self.values: dict[str, str] = {}
        self.starts: dict[str, int] = {}  # line number of each key
        self.ends: dict[str, int] = {}  # one past its last line, if it has several
        self.indent = ""  # indent of the fields
        if lines:
            _read_fields(self, lines)

    @property
    def text(self) -> str:
        """Identical to what was read if nothing was edited."""
        head = "".join([line + "\n" for line in self.lines or ()])
        return self.opening + head + self.closing + self.body

    def get(self, *keys: str) -> str:
        for key in keys:
            if self.values.get(key):
                return self.values[key]
        return ""


def read_header(text: str) -> Document:
    """Without a closing fence the whole text is body."""
    start = text.find("\n") + 1
    if not start or text[:start].lstrip("\ufeff").strip() != FENCE:
        return Document("", None, "", text)
    fence = start - 1
    while True:
        fence = text.find("\n---", fence)
        if fence < 0:
            whole = Document("", None, "", text)
            whole.problems.append((1, "the header is never closed, so all of it counts as text"))
            return whole
        stop = text.find("\n", fence + 4) + 1 or len(text)
        if text[fence + 1 : stop].rstrip() == FENCE:
            lines = text[start:fence].split("\n") if fence >= start else []
            return Document(text[:start], lines, text[fence + 1 : stop], text[stop:])
        fence += 4


def _read_fields(document: Document, lines: list[str]) -> None:
    last = ""  # the key above
    base = ""  # indent of a header that is indented as a whole
    nested = ""  # the indent of the keys below `metadata:`
    inside = False  # below `metadata:`
    for number, line in enumerate(lines):
        bare = line.strip()
        if not bare or line[0] == "#":
            continue
        indent = "" if line[0] == bare[0] else _indent_of(line)
        if indent and last and indent != base:
            nested = nested or indent
            if not inside or indent != nested or bare.startswith("- "):
                document.ends[last] = number + 1  # the value above continues
                continue
        else:
            inside = False
        key, value = _split(bare)
        if not key:
            if bare[0] != "#":
                document.problems.append((number + 2, f"not `key: value`: {bare[:60]}"))
            continue
        if inside:
            key = f"{NEST}.{key}"
        else:
            base = indent
        if key == NEST and not value:
            inside, nested = True, ""
        if key in document.values:
            document.problems.append((number + 2, f"`{key}` stands twice; the first one counts"))
            key += "\n"  # its continuation lines must not be added to the first
        else:
            document.values[key] = value
            document.starts[key] = number
        last = key
    document.indent = base
    for key, value in document.values.items():
        if key in document.ends or value[:1] in ('"', "'"):
            document.values[key] = _whole_value(document, lines, key)


def _split(line: str) -> tuple[str, str]:
    key, colon, value = line.partition(": ")
    if not colon:
        key, colon, value = line.partition(":")
        if not colon or (value and not key.replace("_", "").replace("-", "").isalnum()):
            return "", ""
    return key.strip(), value.strip()


def _whole_value(document: Document, lines: list[str], key: str) -> str:
    value, start = document.values[key], document.starts[key]
    if key == NEST:
        return value
    below = lines[start + 1 : document.ends.get(key, start + 1)]
    more = [line.strip() for line in below if line[:1] != "#"]
    if more and value[:1] in ("|", ">") and value.strip("|>+-0123456789") == "":
        document.problems.append((start + 2, f"`{key}` is a block; read as one line"))
        value = ""
    return unquote_value(" ".join([part for part in (value, *more) if part]))


def unquote_value(value: str) -> str:
    if len(value) < 2 or value[0] != value[-1] or value[0] not in "\"'":
        return value
    inner = value[1:-1]
    if value[0] == "'":
        return inner.replace("''", "'") if "'" not in inner.replace("''", "") else value
    if "\\" not in inner:
        return inner if '"' not in inner else value
    out, escaped = [], False
    for char in inner:
        if escaped:
            out.append(_ESCAPES.get(char, "\\" + char))
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == '"':
            return value
        else:
            out.append(char)
    return value if escaped else "".join(out)


def quote_value(value: str, *, always: bool = False) -> str:
    """Inverse of `unquote_value`; adds quotes if other YAML readers would misread the value."""
    plain = value == value.strip() and value and not value.startswith(_HAZARDS)
    plain = plain and not any(char in value for char in "\n\r\0")
    if plain and ": " not in value and " #" not in value and value[-1] != ":" and not always:
        return value
    inner = value.replace("\\", "\\\\").replace('"', '\\"')
    for name in "nrt0":
        inner = inner.replace(_ESCAPES[name], "\\" + name)
    return f'"{inner}"'


def edit_header(document: Document, key: str, value: str) -> Document:
    if document.lines is None:
        eol = "\r\n" if "\r\n" in document.body[:4096] else "\n"
        return edit_header(Document(FENCE + eol, [], FENCE + eol, document.body), key, value)
    lines = list(document.lines)
    cr = "\r" if document.opening.endswith("\r\n") else ""
    name = key.removeprefix(NEST + ".")
    start = document.starts.get(key)
    if start is not None:
        old = lines[start]
        name = key if old.lstrip().startswith(key) else name
        head = old[: old.index(name) + len(name)]
        quoted = old[len(head) :].lstrip(": ")[:1] in ('"', "'")
        end = "\r" if old.endswith("\r") else ""
        line = f"{head}: {quote_value(value, always=quoted)}{end}"
        lines[start : document.ends.get(key, start + 1)] = [line]
    elif key == name:
        index = document.starts.get(NEST, len(lines))
        indent = _indent_of(lines[index]) if NEST in document.starts else document.indent
        lines.insert(index, f"{indent}{name}: {quote_value(value)}{cr}")
    else:
        _insert_nested(document, lines, f"{name}: {quote_value(value)}{cr}", f"{NEST}:{cr}")
    return Document(document.opening, lines, document.closing, document.body)


def _insert_nested(document: Document, lines: list[str], line: str, heading: str) -> None:
    """Goes below the last nested field, else below `metadata:`, which is added if missing."""
    starts, ends, indent = document.starts, document.ends, document.indent
    nested = [
        (ends.get(key, start + 1), _indent_of(lines[start]))
        for key, start in starts.items()
        if key.startswith(NEST + ".") and not lines[start].lstrip().startswith(key)
    ]
    if nested:
        lines.insert(nested[-1][0], nested[-1][1] + line)
    elif NEST not in starts:
        lines += [indent + heading, indent + "  " + line]
    elif document.values[NEST] or NEST in ends:
        lines.append(f"{indent}{NEST}.{line}")  # a text or a list: nothing can be nested there
    else:
        index = starts[NEST] + 1
        indent = _indent_of(lines[index - 1])
        below = _indent_of(next((each for each in lines[index:] if each.strip()), ""))
        lines.insert(index, (below if len(below) > len(indent) else indent + "  ") + line)


def _indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def write_header(fields: list[tuple[str, str]], body: str) -> str:
    top = [f"{key}: {quote_value(value)}\n" for key, value in fields if "." not in key]
    nested = [
        f"  {key.removeprefix(NEST + '.')}: {quote_value(value)}\n"
        for key, value in fields
        if "." in key
    ]
    if nested:
        nested.insert(0, f"{NEST}:\n")
    return f"{FENCE}\n{''.join(top + nested)}{FENCE}\n\n{body.strip(chr(10))}\n"


# The client's limits of an index.
MAX_LINES = 200
MAX_CHARACTERS = 25_000  # UTF-16 units, as JavaScript counts
POINTER_AIM = 150  # characters of a pointer line; a target, not a limit

UNKNOWN = "unknown"
INDEX = "MEMORY.md"
README = "README.md"
TEAM = "team"
NOT_MEMORIES = frozenset(("memory.md", "readme.md", "index.md"))
# Folders without memories: another store, logs, archives of other tools, records.
RECORD_FOLDERS = ("sessions", "decisions", "runbooks", "constraints", "tech-debt", "preferences")
RECORD_INDEX = "index.md"
RECORD_SETTINGS = "memory-config.json"
FOREIGN_FOLDERS = frozenset((TEAM, "logs", "archive", *RECORD_FOLDERS))
# Keys of each value: our form first, then the form Claude Code writes today.
TYPE_KEYS = ("type", "metadata.type")
CREATED_KEYS = ("metadata.created", "created")
MODIFIED_KEYS = ("metadata.modified", "modified")
VERIFIED_KEYS = ("metadata.last_verified", "last_verified")
PINNED_KEYS = ("metadata.pinned", "pinned")
SOURCE_KEYS = ("metadata.source", "source")
UNDATED = -1.0  # nothing tells its age: a clone sets every mtime


class Memory:
    """Header, size and time of a memory; the header is parsed on first use."""

    __slots__ = ("_document", "dated", "head", "mtime", "path", "size")

    def __init__(self, path: str, head: str, mtime: float, size: int) -> None:
        self.path = path
        self.head = head
        self.mtime = mtime
        self.size = size
        self.dated = 0.0  # from history or git, if the header does not tell; see UNDATED
        self._document: Document | None = None

    @property
    def document(self) -> Document:
        if self._document is None:
            self._document = read_header(self.head)
        return self._document

    @property
    def values(self) -> dict[str, str]:
        return self.document.values

    def get(self, keys: tuple[str, ...]) -> str:
        return self.document.get(*keys)

    @property
    def name(self) -> str:
        return self.values.get("name") or stem(self.path)

    @property
    def kind(self) -> str:
        return self.get(TYPE_KEYS).strip().lower()

    @property
    def type(self) -> str:
        from memdir.hot import types

        return self.kind if self.kind in types.names() else UNKNOWN

    @property
    def description(self) -> str:
        return self.values.get("description", "")

    @property
    def pinned(self) -> bool:
        return self.get(PINNED_KEYS).lower() in ("true", "yes", "1")

    @property
    def clock(self) -> float:
        """Staleness counts from: verified or modified, else created, else mtime."""
        from memdir.hot import safe

        if self.dated:
            return self.dated
        later = [safe.parse_time(self.get(keys)) for keys in (VERIFIED_KEYS, MODIFIED_KEYS)]
        known = [moment for moment in later if moment is not None]
        if known:
            return max(known)
        created = safe.parse_time(self.get(CREATED_KEYS))
        return self.mtime if created is None else created


def read_memory(path: str, data: bytes, mtime: float) -> Memory:
    return Memory(path, decode(data), mtime, len(data))


def stem(path: str) -> str:
    name = path.rpartition("/")[2]
    if name[-3:].lower() == ".md":
        return name[:-3]
    return name[:-5] if name[-5:] == ".json" else name


def is_memory_file(path: str) -> bool:
    folder, slash, name = path.rpartition("/")
    if name[-3:].lower() != ".md" or name[0] == "." or name.lower() in NOT_MEMORIES:
        return False
    if not folder:
        return not slash
    folders = folder.split("/")
    if any(part[:1] in ("", ".") or part[-3:].lower() == ".md" for part in folders):
        return False
    return folders[0] not in FOREIGN_FOLDERS


def is_record_file(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    if folder not in RECORD_FOLDERS:
        return path == RECORD_SETTINGS
    return name[-5:] == ".json" and name[0] != "." and len(name) > 5

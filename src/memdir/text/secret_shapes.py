"""What a secret looks like without a label beside it, and where programs take one."""

import itertools
import math
import re
import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from memdir.text import FILLERS, pattern

# What a label may begin with, in small letters. The first letter stands alone: that search is fast.
_STARTS = pattern(
    r"a(?=dgangskode|ws|(?:pi|ccess|uth|ccount)[_ -]?[kt])|b(?=earer|asic|ackup)"
    r"|c(?=redential|reds|redenciales|ontrase|ontrasinal|ookie)|e(?=ncryption[_ -]?[kt])|g(?=eslo)"
    r"|h(?=eslo|asł)|i(?=dentifiants)|j(?=elszó)|k(?=ey|ennwort|ata sandi)|l(?=ogin|ozink|ösenord)"
    r"|m(?=ots? de passe|ật khẩu|nemonic)|n(?=etwork|otfall)|p(?=ass|w|arola|rivate[_ -]?[kt])"
    r"|r(?=ecovery|escue)|s(?=ecret|eed|enha|alasana|cratch|igning[_ -]?[kt])|t(?=ok)"
    r"|w(?=pa|i-?fi|lan|achtwoord|iederherstellungs)|z(?=ugangsdaten)"
    r"|2(?=fa)|ş(?=ifre)|п(?=арол)|л(?=огин)|κ(?=ωδικό)|ס(?=יסמ)|ك(?=لمة)|प(?=ासवर्ड)"
    r"|密(?=码|碼)|口(?=令)|パ(?=スワード)|暗(?=証番号)|비(?=밀번호)|암(?=호)|ร(?=หัสผ่าน)"
)
# Letters that a pattern takes for another one although their small letter is not the same.
_ALIKE = (("İ", "i"), ("ı", "i"), ("\u0345", "ι"), ("ᲂ", "о"))
_LEAST_DENSE = 20  # characters of the shortest token
IS = r"is|was|ist|lautet|es|est|är|er|to|jest|je|este|là|adalah|это|है|είναι|[éè]"
# A vendor's prefix and a long run of no order: `sqp_…`, `CFPAT-…`, `pat-na1-` and a UUID.
_SHAPED = pattern(
    r"(?<![\w./+=%@-])([A-Za-z][A-Za-z0-9]{1,11})(?:-[a-z]{1,4}\d)?[_.-]"
    r"((?<=pat-..\d-)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[\w-]{20,}(?:\.[\w-]{16,})*)"
)
# Prefixes of what is public: hashes, and names that a program gave.
_IDS_TEXT = """
sha sha1 sha256 sha384 sha512 md5 git ref rev id img tag hash etag uuid guid blob obj oid crc commit
build image layer cache chunk asset digest trace span req msg evt run job task user node host file
page item test doc app index main bundle vendor session sess snapshot release deploy integrity
"""
_IDS = frozenset(_IDS_TEXT.split())
_LEAST_SHUFFLED = 32  # characters; ids are shorter
_LEAST_TURNS = 0.3  # of the characters are of another kind than the one before
USER_AND_PASSWORD = pattern(r"[\w.@-]{1,60}:([\x21-\x7e]{6,100})")
# Where programs take a password: options, queries, pipes, a line of ~/.pgpass.
_IN_PLACE = (
    pattern(
        r"-(?<!\S-)-?[\w-]{0,30}(?:pass(?:word|phrase|wd|in|out)?|pwd|token|secret|api-?key)[ =]"
        r"[\"']?(?:pass:)?([^\s\"'`$<>{}()\[\]/.-][^\s\"'`$<>{}()\[\]/]{5,200})",
        re.I,
    ),
    pattern(
        r"[?&#;][\w-]{0,20}(?:token|secret|key|sig(?:nature)?|auth|pass(?:word)?|pwd)="
        r"([A-Za-z0-9+%_~-]{16,500})(?![\w.(])",
        re.I,
    ),
    pattern(
        r"echo(?<=\becho)\s+(?:-n\s+)?[\"']?([^\s\"'|$]{6,100})[\"']?\s{0,4}\|"
        r"\s{0,4}sudo\s[^\n]{0,40}-S"
    ),
    pattern(r"sudo(?<=\bsudo)\s[^\n]{0,40}-S[^\n]{0,100}<<<\s{0,4}[\"']?([^\s\"'$]{6,100})"),
)
_LINE = pattern(
    r"(?<!\S)[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*.-]{1,60}:[\w*.-]{1,60}:([^\s:]{6,100})(?!\S)"
)
_LINE_CLUE = pattern(r":\S+:\S+:\S+:\S")  # quick to look for, and within each _LINE
_COOKIE = pattern(
    r"\bcookie\b[^\n]{0,200}?\b(?:sess\w*|sid|auth\w*|jwt|token)=([\w%.~+/-]{20,500})", re.I
)
_PIN = pattern(
    rf"P(?<![A-Za-z]P)[Ii][Nn](?:[- ]?[Cc]ode)?(?:[ \t][\w-]{{1,20}}){{0,6}}?"
    rf"(?:[ \t]?[:=][ \t]?|[ \t](?:{IS})[ \t])(\d{{4,8}})(?![\w.:/-]\w)"
)
_CODES = pattern(
    r"\b(?:recovery|backup|scratch|rescue|2fa|wiederherstellungs|notfall)[- ]?codes?\b"
    r"[^\n]{0,40}?[:\s]\s{0,3}([0-9A-Za-z]{4,8}(?:-[0-9A-Za-z]{4,8}){1,5}|\d{6,10}|[0-9a-z]{8,12})"
    r"(?![\w-])",
    re.I,
)
_PHRASE = pattern(
    r"\b(?:(?:seed|recovery|backup|secret)[ -](?:phrase|words)|mnemonic)\b[^\n]{0,40}?"
    r"(?<![a-z])((?:[a-z]{3,8}\s{1,3}){11,23}[a-z]{3,8})(?![a-z])",
)
_PLACEHOLDER = pattern(
    r"example|placeholder|change.?me|your|x{4}|\*{3}|\.\.\.|…|[<>]|^[$%]|\$[{(]|\{\{|%\("
    r"|redacted|dummy|sample|fake|mock|insert|environ|getenv|process\.env|secrets\."
    r"|passw(?:or)?d|abc123|(?<![a-z])foobar(?![a-z])|deadbeef|0?1234567890?abcdef"
    # The example token of jwt.io.
    r"|eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lI",
    re.I,
)
UUID = pattern(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I)
_LEAST_KINDS = 5  # different characters; fewer are a filler such as zeros
LEAST_BITS = 3.0  # Shannon entropy per character
_LEAST_NOISE_BITS = 4.0


class Clues:
    """A text with what shows at once that most patterns cannot match it."""

    def __init__(self, text: str) -> None:
        small = text
        for one, other in () if text.isascii() else _ALIKE:
            small = small.replace(one, other)
        self.text = text
        # Its long words, one a line: most tokens have no space.
        self.dense = "\n".join([word for word in text.split() if len(word) >= _LEAST_DENSE])
        self._starts = [match.start() for match in _STARTS.finditer(small.lower())]

    def matches(
        self, form: re.Pattern[str], start: int = 0, end: int = sys.maxsize
    ) -> list[re.Match[str]]:
        """Those of `form.finditer`, without a try at every character."""
        result: list[re.Match[str]] = []
        for offset in self._starts[
            bisect_left(self._starts, start) : bisect_left(self._starts, end)
        ]:
            if offset >= start and (match := form.match(self.text, offset, end)):
                result.append(match)
                start = match.end()
        return result

    def origin(self, offset: int) -> int:
        """Where in the text this character of `dense` is."""
        breaks, words = self._words
        word = bisect_left(breaks, offset)
        return words[word] + offset - (breaks[word - 1] + 1 if word else 0)

    @cached_property
    def _words(self) -> tuple[list[int], list[int]]:
        words = re.finditer(rf"\S{{{_LEAST_DENSE},}}", self.text)
        breaks = [match.start() for match in re.finditer("\n", self.dense)]
        return breaks, [match.start() for match in words]


def find_shapes(clues: Clues) -> Iterator[tuple[str, int]]:
    """Tokens of vendors that nobody listed, by their shape."""
    for match in _SHAPED.finditer(clues.dense):
        if match[1].lower() not in _IDS and _is_shuffled(match[2]):
            yield "token", clues.origin(match.start())


def find_secrets_in_place(clues: Clues) -> Iterator[tuple[str, int]]:
    """The rule and the offset of what is a secret by where it stands."""
    text = clues.text
    matches = [match for form in _IN_PLACE for match in form.finditer(text)]
    if _LINE_CLUE.search(text):
        matches += _LINE.finditer(text)
    for match in matches + clues.matches(_COOKIE):
        if has_digit_and_letter(match[1]) and not is_made_up(match[1]):
            yield "password", match.start(1)
    for match in _PIN.finditer(text):
        yield "pin", match.start(1)
    for match in clues.matches(_CODES):
        if has_digit_and_letter(match[1]) or match[1].isdigit():
            yield "recovery-code", match.start(1)
    for match in clues.matches(_PHRASE):
        if not any(word in FILLERS for word in match[1].split()):
            yield "seed-phrase", match.start(1)


def is_made_up(value: str) -> bool:
    return len(set(value)) < _LEAST_KINDS or bool(_PLACEHOLDER.search(value))


def is_random_text(value: str) -> bool:
    """Letters, digits and punctuation in no order, as a key in quotes."""
    kinds = sum(map(bool, (re.search(form, value) for form in ("[a-z]", "[A-Z0-9]", r"[^\w\s]"))))
    plain = " " in value or "://" in value or is_made_up(value)
    return not plain and kinds == 3 and len(value) >= 24 and bits_of(value) >= _LEAST_NOISE_BITS


def _is_shuffled(value: str) -> bool:
    if UUID.fullmatch(value):
        return True  # only a prefix that names a secret lets one in
    kinds = ["a" if c.islower() else "A" if c.isupper() else "0" for c in value if c.isalnum()]
    turns = sum(a != b for a, b in itertools.pairwise(kinds))
    enough = len(kinds) >= _LEAST_SHUFFLED and "0" in kinds and turns >= _LEAST_TURNS * len(kinds)
    return enough and bits_of(value) >= LEAST_BITS and not is_made_up(value)


def has_digit_and_letter(value: str) -> bool:
    return bool(re.search(r"\d", value) and re.search(r"[A-Za-z]", value))


def bits_of(value: str) -> float:
    shares = [count / len(value) for count in Counter(value).values()]
    return -sum(share * math.log2(share) for share in shares)

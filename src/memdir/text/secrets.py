"""Finds secrets by the formats of tokens and by labels: the rule and the line, never the value."""

import base64
import binascii
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from memdir.text import FILLERS, pattern
from memdir.text import secret_shapes as shapes
from memdir.text.secret_shapes import Clues


class Secret(NamedTuple):
    """Position and rule of a secret; the value itself is never kept."""

    rule: str
    line: int


class _Rule(NamedTuple):
    name: str
    keyword: str  # the pattern is tried only if the text has this: sixty rules stay cheap
    pattern: re.Pattern[str]  # the value is group 1, or the whole match


def _read_rules() -> Iterator[_Rule]:
    """A rule per line, its parts separated by two spaces."""
    with open(__file__.rpartition("/")[0] + "/secrets.txt", encoding="utf-8") as file:
        for line in file:
            name, keyword, body = line.rstrip("\n").split("  ")
            # A token starts at a word boundary; this also keeps repeated prefixes linear.
            yield _Rule(name, keyword, pattern(r"(?<![A-Za-z0-9])" + body))


_TOKENS = tuple(_read_rules())
_LOOSE = tuple(rule for rule in _TOKENS if rule.name in ("private-key", "putty-key"))
_DENSE = tuple(rule for rule in _TOKENS if rule not in _LOOSE)  # no space within the token
_QUOTED = r"\"([^\"\n]{5,200})\"|'([^'\n]{5,200})'|`([^`\n]{5,200})`"
_VALUE = rf"(?:{_QUOTED}|([^\s\"'`,;<>()\[\]{{}}|]{{5,200}}))"
_GETS = (
    r"(?:[_-]?(?:prod|production|dev|staging|live|\d))?"
    r"[\"'`*_\]]{0,4}[ \t]{0,3}(?::=|=>|={1,2}|[:：是为為は는은이가]|\bis\b"
    r"|>(?=[^<>\n]{1,200}</))[*_ \t]{0,4}"
)
# Prose: `the password for the staging VPN is …`, `das Passwort lautet …`.
_SAID = (
    r"(?:[ \t](?:for|of|on|to|in|at|für|vom|zum|zur|para|de|del|do|da|pour|du)"
    r"(?:[ \t][\w./-]{1,24}){1,5}?)?[ \t](?:is|was|ist|lautet|es|est|[éè])[ \t:]{1,3}"
)
_SPACED = (
    r"password|passwd|passphrase|passcode|pwd|(?<![a-z])pw"
    r"|(?<![a-z])(?:wpa\d?|wi-?fi|wlan|network)[- ](?:key|code|psk)|wlan-?schlüssel"
    # Their endings carry the grammar: şifresi, lösenordet, hasłem.
    r"|(?:(?<![a-z])(?:senha|geslo|heslo|hasł)|passwort|kennwort|contrase(?:ñ|ny)a|mot de passe"
    r"|wachtwoord|lösenord|jelszó|şifre|парол|passord|salasana|adgangskode|lozink|contrasinal"
    r"|mật khẩu|kata sandi|κωδικό|סיסמ|كلمة (?:المرور|السر)|पासवर्ड)[^\W\d_]{0,3}"
)
_UNSPACED = r"密码|密碼|口令|パスワード|暗証番号|비밀번호|암호|รหัสผ่าน"
_PASSWORD = pattern(rf"(?:{_SPACED}|(?<![a-z])pass|{_UNSPACED})(?:{_GETS}|{_SAID}){_VALUE}", re.I)
# Any label, wherever its value is: group 1 if it names a password and nothing else.
_LABEL_TEXT = (
    rf"(?<!1)(?:((?:{_SPACED})(?!\w|-\w)|{_UNSPACED})|(?<![a-z])(?:pass|passwords|logins?"
    r"|credentials?|creds|basic auth|zugangsdaten|identifiants|credenciales|parola|логин|secret"
    r"|token|(?:api)?key)(?!\w|-\w))"
)
_LABEL = pattern(_LABEL_TEXT, re.I)
_LABEL_AFTER = pattern(rf"(?<=[ \t])(?:{_LABEL_TEXT})", re.I)
_PIECE = pattern(r"[-=~]+>|[=:→]+|[^\s\"'`“”„«»,;<>()\[\]{}|=:→][^\s\"'`“”„«»,;<>()\[\]{}|→]*")
_BELOW_LABEL = pattern(r"[ \t\r:|*_`]*\n[\s:|*_`>-]*")  # the value is on one of the next lines
_SEPARATOR = pattern(rf".*(?:[:=/→]|[-=~]>)|{shapes.IS}|auf|now", re.I)
_MARKED = pattern(r"[A-Za-z0-9][!#$%^&*~?@]+[A-Za-z0-9]")
_SPREAD_DIGITS = pattern(r"[A-Za-z]*\d+[A-Za-z]+\d+[A-Za-z0-9]*")
# Marked or mixed like a password, but an address, a hash, a time, a version or a flag.
_OTHER = pattern(
    r"[\w.+-]*@[\w.:/~^-]+|[0-9a-f]+|[\d.:,/%+x~*^-]+[A-Za-z]{0,4}|[~^]?v?\d+\..*"
    r"|\d{4}-\d\d.*|.*[?&]\w+=.*|.*#L?\d+|-.*|.*/.*\.\w{1,5}(?:[#:?].*)?",
)
# A heading, or a line that ends in a colon, over a list of them: `## Passwords`, `- db: …`.
_SECTION = pattern(
    r"^(?:#{1,6}[ \t][^\n]*|[^\n]*:[*_ \t]*)$(?=((?:\n(?!#)[^\n]{0,200}){1,30}))", re.M
)
_SECTION_NAME = pattern(
    rf"(?<![^\W_])(?:(?:{_SPACED})s?|passwörter|credentials?|creds|logins|zugangsdaten|identifiants"
    rf"|credenciales|mots de passe|secrets|tokens)(?![^\W_])|{_UNSPACED}",
    re.I,
)
_ITEM = pattern(
    r"\n\s*[-*+|][ \t]*[*_`]*[^\n:=|→]{1,40}?[*_`]*[ \t]*[:=|→]+[ \t*_]*[`\"']?([^\s`\"'|]{8,80})"
)
_BEFORE_LABEL = pattern(
    rf"(?<!\S)[\"'`(]?([^\s\"'`]{{8,80}})[\"'`)]?[ \t](?:as|als|como|comme|come|{shapes.IS})[ \t]"
    r"(?:[\w-]{1,20}[ \t]){0,5}",
    re.I,
)
# Plain text, or one character with its accents.
_FOLDED = pattern(
    r"[\x00-\x7f]+(?![\u0300-\u036f\u3099\u309a])|[\s\S][\u0300-\u036f\u3099\u309a]{0,8}"
)
_FARTHEST = 120  # characters between a label and the end of its value
_MOST_PIECES = 8  # words between a label and its value, and the value
_LEAST_PASSWORD = 8  # characters of a password without a clear separator before it
_LEAST_SPREAD = 10  # letters and digits in turns that no name has
_LEAST_WORDS = 4  # plain words in quotes that are a passphrase
_KEY = pattern(
    r"(?:(?:api|secret|access|private|auth|account|signing|encryption)[_ -]?(?:key|token)"
    rf"|secret|token|\btok|credentials?){_GETS}{_VALUE}",
    re.I,
)
_AWS_SECRET = pattern(
    rf"aws[\w ]{{0,20}}secret[\w ]{{0,20}}{_GETS}[\"'`]?([A-Za-z0-9/+]{{40}})(?![\w/+])", re.I
)
_HEADER = pattern(r"\b(?:bearer|basic|token)[ \t]{1,3}([\w.~+/-]{16,500}={0,2})", re.I)
_ADDRESS = pattern(r"://([^\s:/@\"'`<>?#]{0,100}):([^\s@/\"'`<>?#]{3,200})@([\w.-]{1,100})")
_LOGIN = pattern(
    r"(?:\s-u|--user)[ =]?[\"']?[\w.@-]{1,60}:([^\s\"'`]{6,100})"
    r"|\b(?:mysql\w{0,8}|sshpass|mariadb)\b[^\n|;]{0,80}?\s-p ?([^\s\"'`<$-][^\s\"'`]{2,100})"
    r"|\bmachine\s+\S{1,100}\s+login\s+\S{1,100}\s+password\s+(\S{4,100})"
)
_LOGIN_WORDS = ("-u", "mysql", "sshpass", "mariadb", "machine")  # _LOGIN needs one of them
_BASE64 = pattern(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}={0,2}")

_NAME = pattern(
    # Words after `password:` that are not passwords.
    r"[A-Za-z_]+(?:[-_./:][A-Za-z_]+)*\d?|[A-Za-z_]\w*(?:\.\w+)+|[A-Z][A-Z0-9_]+|[./~].*"
    r"|.*(?:argon2|bcrypt|scrypt|sha-?\d|pbkdf2|md5|base64|oauth|utf-?8|://).*"
)
# Words that follow `password is` or `password:` in prose and in schemas.
_ORDINARY = pattern(
    r"\w*(?:ed|ing|ly|able|al|ive|ous|less|ful|lich|ig|oire|ori[oa]|id[oa]|bar)|empty|wrong|right|correct|same|weak|strong|secure"
    r"|unknown|known|hidden|secret|safe|unsafe|public|private|admin|login|token|value|field|input"
    r"|prompt|config|string|number|boolean|varchar|integer|false|there|here|where|never|always|still"
    r"|only|just|sent|kept|shown|given|written|taken|invalid|plaintext|plain|cleartext|short"
    r"|fresh|stale|older|newer|yours|theirs|about|above|below|based|basic|clear|great|green|manual",
    re.I,
)
_IDENTIFIER = pattern(r"[a-z]{2,}(?:[A-Z][a-z]{2,})+|[A-Z_]+")
# Nothing follows but the end of the sentence or of the line.
_LAST = pattern(r"[\"'`*_)]*(?:\s{0,2}(?:です|だ|입니다))?[.。!,;]?\s*(?:$|\n|#)|[.!]\s")
_LONG_WORD = 20  # letters in a row that no word has
_LEAST_RUN = 10  # consecutive letters and digits of a random-looking key
_MIN_VALUE_CHARACTERS = 6  # of a value that is searched for elsewhere


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Sorted by line; examples published by the vendors do not count."""
    clues = Clues(_fold(text)[0])
    breaks = [match.start() for match in re.finditer("\n", clues.text)]
    result = {
        Secret(rule, bisect_right(breaks, offset - 1) + 1) for rule, offset in _by_format(clues)
    }
    known = {secret.line for secret in result}
    for rule, offset in (*shapes.find_shapes(clues), *_by_label(clues)):
        line = bisect_right(breaks, offset - 1) + 1
        if line not in known:
            result.add(Secret(rule, line))
    return tuple(sorted(result, key=lambda secret: (secret.line, secret.rule)))


def text_before_secrets(text: str) -> str:
    """The text up to its first secret, safe to show in a name or an index."""
    folded, origins = _fold(text)
    first = min((offset for _, offset in _everything(Clues(folded))), default=None)
    return text if first is None else text[: origins[first]]


def hide_secrets(text: str) -> str:
    """A name as a message may repeat it."""
    hits = find_secrets(text)
    return f"{text_before_secrets(text)}({hits[0].rule}, not shown)" if hits else text


def secret_values(text: str) -> Iterator[tuple[str, str]]:
    text, _ = _fold(text)
    for rule, start in _everything(Clues(text)):
        quote = text[start - 1 : start]
        end = quote if quote and quote in "\"'`" else None
        value = keep_letters_and_digits(text[start:].split(end, 1)[0])
        if len(value) >= _MIN_VALUE_CHARACTERS:
            yield rule, value


def _everything(clues: Clues) -> Iterator[tuple[str, int]]:
    yield from _by_format(clues)
    yield from shapes.find_shapes(clues)
    yield from _by_label(clues)


def keep_letters_and_digits(text: str) -> str:
    """Normalized, so that a value is recognized despite case and punctuation."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text))).casefold()


def _fold(text: str) -> tuple[str, Sequence[int]]:
    """Compatible forms made one, invisible characters dropped; where each character was."""
    if text.isascii():
        return text, range(len(text))
    pieces: list[str] = []
    origins: list[int] = []
    for match in _FOLDED.finditer(text):
        if match[0].isascii():
            pieces.append(match[0])
            origins += range(*match.span())
        elif unicodedata.category(match[0][0]) != "Cf":
            pieces.append(unicodedata.normalize("NFKC", match[0]))
            origins += [match.start()] * len(pieces[-1])
    return "".join(pieces), origins


def _by_format(clues: Clues) -> Iterator[tuple[str, int]]:
    """Tokens with a recognizable format, also inside one level of base64."""
    yield from ((rule, clues.origin(offset)) for rule, offset in _tokens(clues.dense, True))
    yield from _tokens(clues.text, False)
    for match in clues.matches(_AWS_SECRET):
        if not shapes.is_made_up(match[1]):
            yield "aws-secret-key", match.start()
    for match in _BASE64.finditer(clues.dense):
        if below := _decoded(match[0]):
            login = shapes.USER_AND_PASSWORD.fullmatch(below)
            if login and shapes.has_digit_and_letter(login[1]):
                yield "password", clues.origin(match.start())
            for dense in (True, False):
                yield from ((r, clues.origin(match.start())) for r, _ in _tokens(below, dense))


def _tokens(text: str, dense: bool) -> Iterator[tuple[str, int]]:
    for rule in _DENSE if dense else _LOOSE:
        if rule.keyword in text:
            for match in rule.pattern.finditer(text):
                if not shapes.is_made_up(match[match.lastindex or 0]):
                    yield rule.name, match.start()


def _by_label(clues: Clues) -> Iterator[tuple[str, int]]:
    known = set()
    for rule, offset in _by_assignment(clues):
        known.add(offset)
        yield rule, offset
    for offset in _near_labels(clues):
        if offset not in known:
            known.add(offset)
            yield "password", offset


def _near_labels(clues: Clues) -> Iterator[int]:
    """What looks like a password within a few words after a label, or is said to be one."""
    text = clues.text
    for label in clues.matches(_LABEL):
        below = _BELOW_LABEL.match(text, label.end(), label.end() + _FARTHEST)
        start = below.end() if below else label.end()
        line_end = text.find("\n", start, start + _FARTHEST)
        end = line_end if line_end >= 0 else start + _FARTHEST
        most = _MOST_PIECES if not below else 3 if "|" in below[0] else 1
        separated = bool(label[1])
        for piece in islice(_PIECE.finditer(text, start, end), most):
            ends = bool(label[1] and "=" not in piece[0] and _LAST.match(text, piece.end()))
            if _looks_like_password(piece[0], separated or ends) and not _continues(piece):
                yield piece.start()
                break
            if re.search(r"[.!?]$", piece[0]) and text[piece.end() : piece.end() + 1].isspace():
                break
            separated = bool(_SEPARATOR.fullmatch(piece[0])) and (bool(label[1]) or piece[0] == "/")
    for section in _SECTION.finditer(text):
        named = any(clues.matches(_SECTION_NAME, section.start(), section.end()))
        for item in _ITEM.finditer(section[1]) if named else ():
            if _looks_like_password(item[1], True):
                yield section.start(1) + item.start(1)
    for said in _BEFORE_LABEL.finditer(text) if clues.matches(_LABEL_AFTER) else ():
        after = _LABEL.match(text, said.end())
        if after and _looks_like_password(said[1], bool(after[1])):
            yield said.start(1)


def _looks_like_password(piece: str, separated: bool) -> bool:
    value = piece.strip("*_").rstrip(".:")
    if len(value) < _LEAST_PASSWORD or shapes.is_made_up(value) or shapes.UUID.fullmatch(value):
        return False
    if not re.search(r"[A-Za-z]", value) or _NAME.fullmatch(value) or _OTHER.fullmatch(value):
        return False
    if separated:
        return bool(re.search(r"\d", value))
    if len(value) >= _LEAST_SPREAD and _SPREAD_DIGITS.fullmatch(value):
        return True
    return bool(_MARKED.search(value) and re.search(r"\d", value))


def _by_assignment(clues: Clues) -> Iterator[tuple[str, int]]:
    text = clues.text
    for match in clues.matches(_PASSWORD):
        inner: re.Match[str] | None = match
        while inner and (not _is_password(inner) or _continues(inner)):
            # `password: password=…`: the value is another label
            inner = _PASSWORD.search(text, inner.start(inner.lastindex or 0), inner.end())
        if inner:
            yield "password", inner.start(inner.lastindex or 0)
    for match in clues.matches(_KEY):
        value = match[match.lastindex or 0]
        is_key = shapes.UUID.fullmatch(value) and re.match(r"(?i)api|secret|auth|access", match[0])
        quoted = match.lastindex in (1, 2, 3)
        if (
            is_key or _is_random(value) or (quoted and shapes.is_random_text(value))
        ) and not _continues(match):
            yield "secret-assignment", match.start(match.lastindex or 0)
    for match in clues.matches(_HEADER):
        if _is_random(match[1]):
            yield "authorization-header", match.start(1)
    for match in _LOGIN.finditer(text) if any(word in text for word in _LOGIN_WORDS) else ():
        group = match.lastindex or 0
        # What follows `-p` or `password` there is one, however weak.
        if _is_password(match) if group == 1 else not shapes.is_made_up(match[group]):
            yield "password", match.start(group)
    yield from shapes.find_secrets_in_place(clues)
    for match in _ADDRESS.finditer(text):
        if _is_login(*match.groups()):
            yield "password-in-url", match.start()


def _continues(match: re.Match[str]) -> bool:
    """True if the value is the start of a call or an index: code, not a secret."""
    return match.string[match.end() : match.end() + 1] in tuple("([{")


def _decoded(run: str) -> str:
    run = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(run + "=" * (-len(run) % 4)).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _is_password(match: re.Match[str]) -> bool:
    value = match[match.lastindex or 0]
    if match.lastindex == 4:  # without quotes the sentence may continue
        value = value.rstrip(".:*_\\")
    if shapes.is_made_up(value):
        return False
    if " " in value:
        return _is_passphrase(value)
    mixed = re.search(r"[A-Za-z]", value) and re.search(r"[0-9!@#$%^&*+=~?]", value)
    if mixed and len(value) >= 6 and not _NAME.fullmatch(value):
        return True
    is_verb = re.match(r"(?i)(?:pass|pw)\s+is", match[0])  # "the second pass is faster"
    return not is_verb and _is_weak_password(value, match.string, match.end())


def _is_passphrase(value: str) -> bool:
    """Several words in quotes that are no sentence about a password."""
    words = value.split()
    if any(word.casefold() in FILLERS for word in words):
        return False
    if any(re.search(r"[A-Za-z]\d|\d[A-Za-z!#$%&*?]", word) for word in words):
        return True
    return len(words) >= _LEAST_WORDS and not any(map(_ORDINARY.fullmatch, words))


def _is_weak_password(value: str, text: str, end: int) -> bool:
    """One plain word or number as the last word of its sentence, or letters that form no word."""
    if value.isascii() and value.isalpha() and len(value) >= _LONG_WORD:
        return shapes.bits_of(value) >= shapes.LEAST_BITS and not _IDENTIFIER.fullmatch(value)
    plain = re.fullmatch(r"[A-Za-z]+\d{0,6}|\d{6,12}", value)
    if not plain or _ORDINARY.fullmatch(value) or _IDENTIFIER.fullmatch(value):
        return False
    return bool(_LAST.match(text, end))


def _is_login(user: str, password: str, host: str) -> bool:
    """False for `docker://image:tag@sha256`, which only looks like `user:password@host`."""
    if password == user or host.startswith(("sha256", "example.")) or shapes.is_made_up(password):
        return False
    return not re.fullmatch(r"[a-z]{1,11}|[A-Z_]+|\d{1,5}", password)


def _is_random(value: str) -> bool:
    if (
        shapes.is_made_up(value)
        or shapes.UUID.fullmatch(value)
        or not re.fullmatch(r"[\w.~+/=:-]{16,}", value)
    ):
        return False
    runs = [run for run in re.findall(r"[A-Za-z0-9]+", value) if len(run) >= _LEAST_RUN]
    mixed = any(re.search(r"\d[A-Za-z]+\d|[A-Za-z]\d+[A-Za-z]", run) for run in runs)
    return mixed and shapes.bits_of(value) >= shapes.LEAST_BITS

"""Finds secrets by the public formats of tokens: the rule and the line, never the value."""

import base64
import binascii
import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from memdir.text import pattern


class Secret(NamedTuple):
    """Position and rule of a secret; the value itself is never kept."""

    rule: str
    line: int


class _Rule(NamedTuple):
    name: str
    keyword: str  # the pattern is tried only if the text has this: fifty rules stay cheap
    pattern: re.Pattern[str]  # the value is group 1, or the whole match


def _rule(name: str, keyword: str, body: str, flags: int = 0) -> _Rule:
    # A token starts at a word boundary; this also keeps repeated prefixes linear.
    return _Rule(name, keyword, pattern(r"(?<![A-Za-z0-9])" + body, flags))


_TOKENS = (
    _rule("aws-access-key", "AKIA", r"AKIA[A-Z0-9]{16}\b"),
    _rule("aws-access-key", "ASIA", r"ASIA[A-Z0-9]{16}\b"),
    _rule("github-token", "gh", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    _rule("github-fine-grained-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{60,255}"),
    _rule("gitlab-token", "gl", r"gl(?:pat|dt|rt|cbt|ptt|ft|oas|soat|imt|agent)-[\w.-]{20,300}"),
    _rule("slack-token", "xox", r"xox[abeoprs]-(?:\d-)?[A-Za-z0-9-]{20,255}"),
    _rule("slack-token", "xapp-", r"xapp-\d-[A-Za-z0-9-]{20,255}"),
    _rule("slack-webhook", "hooks.slack", r"hooks\.slack\.com/[a-z]{5,20}/([\w/+-]{30,80})"),
    _rule("stripe-key", "k_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}"),
    _rule("stripe-webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{32,80}"),
    _rule("anthropic-key", "sk-ant-", r"sk-ant-[a-z0-9]{3,10}-[\w-]{20,255}"),
    _rule("openrouter-key", "sk-or-", r"sk-or-v\d-[0-9a-f]{48,80}"),
    _rule("openai-key", "sk-", r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,255}"),
    _rule("openai-key", "sk-", r"sk-[A-Za-z0-9]{32,64}\b"),
    _rule("google-api-key", "AIza", r"AIza[\w-]{35}"),
    _rule("google-oauth-secret", "GOCSPX-", r"GOCSPX-[\w-]{24,40}"),
    _rule("google-oauth-token", "ya29.", r"ya29\.[\w-]{30,2000}"),
    _rule("npm-token", "npm_", r"npm_[A-Za-z0-9]{30,60}\b"),
    _rule("pypi-token", "pypi-", r"pypi-AgE[\w-]{50,1000}"),
    _rule("sendgrid-key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{16,64}"),
    _rule("twilio-key", "SK", r"SK[0-9a-f]{32}\b"),
    _rule("telegram-bot-token", ":AA", r"\d{8,10}:AA[\w-]{32,34}(?![\w-])"),
    _rule("discord-bot-token", ".", r"[MNO][A-Za-z\d]{23,27}\.[\w-]{6}\.[\w-]{27,40}"),
    _rule("discord-webhook", "/webhooks/", r"discord\w*\.com/api/webhooks/\d{5,25}/([\w-]{60,80})"),
    _rule("digitalocean-token", "_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _rule("databricks-token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?\b"),
    _rule("huggingface-token", "hf_", r"hf_[A-Za-z0-9]{30,60}\b"),
    _rule("azure-storage-key", "AccountKey", r"AccountKey=([A-Za-z0-9+/]{80,90}={0,2})"),
    _rule("azure-sas-signature", "sig=", r"sig=([A-Za-z0-9+/%]{40,90}(?:%3D|=))"),
    _rule("azure-client-secret", "Q~", r"[\w.~-]{3}\dQ~[\w.~-]{31,34}"),
    _rule("shopify-token", "shp", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b"),
    _rule("square-token", "sq0", r"sq0(?:atp|csp|idp)-[\w-]{22,43}"),
    _rule("mailgun-key", "key-", r"key-[0-9a-f]{32}\b"),
    _rule("mailchimp-key", "-us", r"[0-9a-f]{32}-us\d{1,2}\b"),
    _rule("newrelic-key", "NRAK-", r"NRAK-[A-Z0-9]{27}\b"),
    _rule("linear-key", "lin_api_", r"lin_api_[A-Za-z0-9]{40}"),
    _rule("notion-token", "ntn_", r"ntn_[A-Za-z0-9]{40,60}"),
    _rule("vault-token", "hv", r"hv[sb]\.[\w-]{24,300}"),
    _rule("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,80}"),
    _rule("doppler-token", "dp.", r"dp\.(?:pt|st|ct|sa)\.[\w.-]{40,60}"),
    _rule("supabase-token", "sb", r"(?:sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,60})"),
    _rule("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w.=-]{32,64}"),
    _rule(
        "grafana-token", "gl", r"gl(?:c_[A-Za-z0-9+/]{32,400}|sa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8})"
    ),
    _rule("sentry-token", "sntry", r"sntry[su]_[A-Za-z0-9+/=_]{40,400}"),
    _rule("postman-key", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    _rule("rubygems-key", "rubygems_", r"rubygems_[a-f0-9]{48}"),
    _rule("docker-token", "dckr_", r"dckr_(?:pat|oat)_[\w-]{27,40}"),
    _rule("age-key", "AGE-SECRET", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _rule("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{48,56}\b"),
    _rule("xai-key", "xai-", r"xai-[A-Za-z0-9]{70,90}\b"),
    _rule("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37}\b"),
    _rule("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,60}"),
    _rule("tailscale-key", "tskey-", r"tskey-[a-z]{3,10}-[A-Za-z0-9]{8,20}-?[A-Za-z0-9]{16,64}"),
    _rule("atlassian-token", "ATATT3", r"ATATT3[\w=-]{100,300}"),
    _rule("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    _rule("figma-token", "figd_", r"figd_[\w-]{38,50}"),
    _rule("jwt", "eyJ", r"(?<![\w-])eyJ[\w-]{10,2000}\.eyJ[\w-]{10,4000}\.[\w-]{16,2000}"),
    _rule(
        "private-key",
        "PRIVATE KEY",
        r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr]|[\"'+,>]){1,12}"
        r"(?:[A-Za-z-]{4,20}: [^\n]{0,120}\s{1,4}){0,4}([A-Za-z0-9+/=]{16,100})",
    ),
    _rule("putty-key", "PuTTY-User-Key", r"PuTTY-User-Key-File-\d: ([^\n]{4,40}\nEncryption)"),
)


_QUOTED = r"\"([^\"\n]{6,200})\"|'([^'\n]{6,200})'|`([^`\n]{6,200})`"
_VALUE = rf"(?:{_QUOTED}|([^\s\"'`,;<>()\[\]{{}}|]{{6,200}}))"
_GETS = (
    r"(?:[_-]?(?:prod|production|dev|staging|live|\d))?"
    r"[\"'`*_\]]{0,4}[ \t]{0,3}(?::=|=>|={1,2}|:|\bis\b)[*_ \t]{0,4}"
)
# Prose: `the password for the staging VPN is …`, `das Passwort lautet …`.
_SAID = (
    r"(?:[ \t](?:for|of|on|to|in|at|für|vom|zum|zur|para|de|del|do|da|pour|du)"
    r"(?:[ \t][\w./-]{1,24}){1,5}?)?[ \t](?:is|was|ist|lautet|es|est|é)[ \t:]{1,3}"
)
_PASSWORD = pattern(
    r"(?:password|passwd|passphrase|pwd|\bpass|\bpw|passwort|kennwort|contraseña|\bsenha"
    rf"|mot de passe)(?:{_GETS}|{_SAID}){_VALUE}",
    re.I,
)
_KEY = pattern(
    r"(?:(?:api|secret|access|private|auth|account|signing|encryption)[_ -]?key"
    rf"|secret|token|\btok|credentials?){_GETS}{_VALUE}",
    re.I,
)
_KEY_WORD = pattern(r"key|secret|tok|credential", re.I)  # a cheap test before _KEY
_AWS_SECRET = pattern(
    rf"aws[\w ]{{0,20}}secret[\w ]{{0,20}}{_GETS}[\"'`]?([A-Za-z0-9/+]{{40}})(?![\w/+])", re.I
)
_HEADER = pattern(r"\b(?:bearer|basic|token)[ \t]{1,3}([\w.~+/-]{16,500}={0,2})", re.I)
_ADDRESS = pattern(r"://([^\s:/@\"'`<>?#]{0,100}):([^\s@/\"'`<>?#]{3,200})@([\w.-]{1,100})")
_LOGIN = pattern(r"(?:\s-u|--user)[ =]?[\"']?[\w.@-]{1,60}:([^\s\"'`]{6,100})")
_BASE64 = pattern(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}={0,2}")

_PLACEHOLDER = pattern(
    r"example|placeholder|change.?me|your|x{4}|\*{3}|\.\.\.|…|[<>]|^[$%]|\$[{(]|\{\{|%\("
    r"|redacted|dummy|sample|fake|mock|insert|environ|getenv|process\.env|secrets\."
    r"|passw(?:or)?d|abc123|foobar|deadbeef|0?1234567890?abcdef"
    # The example token of jwt.io.
    r"|eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lI",
    re.I,
)
_UUID = pattern(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I)
_NAME = pattern(
    # Words after `password:` that are not passwords.
    r"[A-Za-z_]+(?:[-_./:][A-Za-z_]+)*\d?|[A-Za-z_]\w*(?:\.\w+)+|[A-Z][A-Z0-9_]+|[./~].*"
    r"|.*(?:argon2|bcrypt|scrypt|sha-?\d|pbkdf2|md5|base64|oauth|utf-?8|://).*",
)
_LEAST_KINDS = 5  # different characters; fewer are a filler such as zeros
_LEAST_RUN = 10  # consecutive letters and digits of a random-looking key
_MIN_VALUE_CHARACTERS = 6  # of a value that is searched for elsewhere
_LEAST_BITS = 3.0  # Shannon entropy per character


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Sorted by line; examples published by the vendors do not count."""
    breaks = [match.start() for match in re.finditer("\n", text)]
    result = {
        Secret(rule, bisect_right(breaks, offset - 1) + 1) for rule, offset in _by_format(text)
    }
    known = {secret.line for secret in result}
    for rule, offset in _by_label(text):
        line = bisect_right(breaks, offset - 1) + 1
        if line not in known:
            result.add(Secret(rule, line))
    return tuple(sorted(result, key=lambda secret: (secret.line, secret.rule)))


def before_secrets(text: str) -> str:
    """The text up to its first secret, safe to show in a name or an index."""
    offsets = (offset for _, offset in (*_by_format(text), *_by_label(text)))
    return text[: min(offsets, default=len(text))]


def secret_values(text: str) -> Iterator[tuple[str, str]]:
    for rule, start in (*_by_format(text), *_by_label(text)):
        value = letters_and_digits(text[start:].split(None, 1)[0])
        if len(value) >= _MIN_VALUE_CHARACTERS:
            yield rule, value


def letters_and_digits(text: str) -> str:
    """Normalized, so that a value is recognized despite case and punctuation."""
    return "".join(filter(str.isalnum, text)).casefold()


def _by_format(text: str) -> Iterator[tuple[str, int]]:
    """Tokens with a recognizable format, also inside one level of base64."""
    yield from _tokens(text)
    for match in _AWS_SECRET.finditer(text):
        if not _made_up(match[1]):
            yield "aws-secret-key", match.start()
    for match in _BASE64.finditer(text):
        if below := _decoded(match[0]):
            yield from ((rule, match.start()) for rule, _ in _tokens(below))


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    for rule in _TOKENS:
        if rule.keyword in text:
            for match in rule.pattern.finditer(text):
                if not _made_up(match[match.lastindex or 0]):
                    yield rule.name, match.start()


def _by_label(text: str) -> Iterator[tuple[str, int]]:
    for match in _PASSWORD.finditer(text):
        inner: re.Match[str] | None = match
        while inner and (not _is_password(inner) or _continues(inner)):
            # `password: password=…`: the value is another label
            inner = _PASSWORD.search(text, inner.start(inner.lastindex or 0), inner.end())
        if inner:
            yield "password", inner.start(inner.lastindex or 0)
    for match in _KEY.finditer(text) if _KEY_WORD.search(text) else ():
        if _is_random(match[match.lastindex or 0]) and not _continues(match):
            yield "secret-assignment", match.start(match.lastindex or 0)
    for match in _HEADER.finditer(text):
        if _is_random(match[1]):
            yield "authorization-header", match.start(1)
    for match in _LOGIN.finditer(text):
        if _is_password(match):
            yield "password", match.start(match.lastindex or 0)
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


def _made_up(value: str) -> bool:
    return len(set(value)) < _LEAST_KINDS or bool(_PLACEHOLDER.search(value))


def _is_password(match: re.Match[str]) -> bool:
    value = match[match.lastindex or 0]
    if match.lastindex == 4:  # without quotes the sentence may continue
        value = value.rstrip(".:*_\\")
    if " " in value or len(value) < 6 or _made_up(value) or _NAME.fullmatch(value):
        return False
    return bool(re.search(r"[A-Za-z]", value) and re.search(r"[0-9!@#$%^&*+=~?]", value))


def _is_login(user: str, password: str, host: str) -> bool:
    """False for `docker://image:tag@sha256`, which only looks like `user:password@host`."""
    if password == user or host.startswith(("sha256", "example.")) or _made_up(password):
        return False
    return not re.fullmatch(r"[a-z]{1,11}|[A-Z_]+|\d{1,5}", password)


def _is_random(value: str) -> bool:
    if _made_up(value) or _UUID.fullmatch(value) or not re.fullmatch(r"[\w.~+/=:-]{16,}", value):
        return False
    runs = [run for run in re.findall(r"[A-Za-z0-9]+", value) if len(run) >= _LEAST_RUN]
    mixed = any(re.search(r"\d[A-Za-z]+\d|[A-Za-z]\d+[A-Za-z]", run) for run in runs)
    return mixed and _bits(value) >= _LEAST_BITS


def _bits(value: str) -> float:
    shares = [count / len(value) for count in Counter(value).values()]
    return -sum(share * math.log2(share) for share in shares)

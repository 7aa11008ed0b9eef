"""Kind of a span by its form alone (path, symbol, command …), and the names to look up."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from memdir.claims import claim

MAX_SPAN_CHARACTERS = 200  # a longer span is quoted code
MAX_WORDS = 40  # of a command or phrase
MAX_NAMES = 16  # from one span
MAX_SEGMENTS = 40  # of a path

# Endings that make a bare word a file name; not `log`, `key` and `env`: `console.log`.
_ENDINGS = """
astro bash bat c cc cfg cjs clj cmake conf cpp cs csproj css csv cts dart diff dockerfile docx dts
entitlements erl ex example exs fish fs fsproj gemspec gif go gql gradle graphql gz h hbs hcl hpp
hs html hxx ico ini ino ipynb java jl jpeg jpg js json json5 jsonc jsonl jsx kt kts less lock lua
m markdown md mdc mdx mjs mk ml mm mod mts nim nix patch pdf pem php pl plist png po podspec
prisma properties props proto ps1 psm1 puml py pyi pyx r rake rb rego resx rs rst sample sass
scala scm scss service sh sln sol sql sqlite storyboard sum sv svelte svg swift tar targets tcl
template tex tf tfvars tgz tmpl toml ts tsv tsx txt vbproj vim vue wasm webp xaml xcconfig xlsx
xml xsd yaml yml zig zip zsh
"""
ENDINGS = frozenset(_ENDINGS.split())
# Endings that count only after a path or a dotted or dashed name.
_WEAK_ENDINGS = "d db dev env in key local lock log map out pid prod test"
WEAK_ENDINGS = frozenset(_WEAK_ENDINGS.split())
_WHOLE_NAMES = """
AUTHORS Brewfile CHANGELOG CHANGES CMakeLists.txt CODEOWNERS Caddyfile Cartfile Containerfile
Dockerfile Fastfile GNUmakefile Gemfile Jenkinsfile Justfile LICENSE MANIFEST.in Makefile NOTICE
Podfile Procfile README Rakefile Vagrantfile justfile
"""
WHOLE_NAMES = frozenset(_WHOLE_NAMES.split())
# Files that many projects have: losing one says nothing about the one a memory means.
_COMMON_STEMS = """
api app build changelog cli client config constants docker-compose dockerfile env gitignore index
install main makefile models package pyproject readme requirements run server settings setup test
tests tsconfig types utils
"""
COMMON_STEMS = frozenset(_COMMON_STEMS.split())
# Programs that run scripts declared in the repository.
RUNNERS = frozenset(("bun", "composer", "just", "make", "npm", "pnpm", "task", "yarn"))
# Programs that run a file of the repository, with the words between them and the file.
_INTERPRETERS = (
    "bash bun deno go hatch node npx pdm perl php poetry python python3 ruby run sh tsx uv"
)
INTERPRETERS = frozenset(_INTERPRETERS.split())
BRANCHES = frozenset(("HEAD", "develop", "main", "master", "trunk"))
# Words after `on branch` that name none.
_NO_BRANCHES = (
    "a an and basis before but coverage creation for from in is level name names of off or"
)
NO_BRANCHES = frozenset((*_NO_BRANCHES.split(), "protection", "so", "the", "to", "was", "with"))
_PREFIXES = """
bugfix build chore ci claude codex dependabot docs experiment feat feature fix hotfix perf
refactor release renovate spike style test wip
"""
PREFIXES = frozenset(_PREFIXES.split())  # of branches

IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]{0,120}")
_PARTED = re.compile(r"::|->|\?\.|[.#]")
_LINES = re.compile(r"L?\d[\d,:~+–-]{0,40}(?:L\d{1,6})?")
_PLACEHOLDER = re.compile(
    r"<[^<>]{0,60}>|\.\.\.|…|\$\{|\{\{|\{[^{},]{0,40}\}|\$[A-Z]"
    r"|(?<![A-Za-z0-9])(?:X{2,8}|N{2,8}|YYYY|foo|bar|baz|path/to|your[-_]|my[-_])(?![a-z])"
)
_SEGMENT = re.compile(r"[^\s\"'`<>|;:!\\^&?#]{1,120}(?: [^\s\"'`<>|;:!\\^&?#]{1,120}){0,6}")
_FILE_STEM = re.compile(r"[\w.@+*{},()\[\]$ -]{1,160}")
_BRACES = re.compile(r"\{([^{}]{1,160})\}")
_URL = re.compile(r"(?:https?|ftp|ssh|git|wss?|file|postgres(?:ql)?|redis|mongodb)://\S{1,190}")
_HEX = re.compile(r"[0-9a-f]{7,40}")
_KEBAB = re.compile(r"[a-z0-9]{1,40}(?:-[a-z0-9]{1,40}){1,8}")
_FLAG = re.compile(r"(--[a-z][a-z0-9-]{1,60})(?:[= ][^\s-]\S{0,60})?")
_ASSIGNED = re.compile(r"[A-Z][A-Z0-9_]{0,60}=\S{0,100}")


@dataclass(frozen=True)
class Form:
    """Kind, names to look up (all of them), alternatives, and why it is no claim."""

    kind: str
    names: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    aside: str = ""
    flags: tuple[str, ...] = ()


QUOTED = Form(claim.TEXT, aside=claim.CODE)
AWAY = Form(claim.PATH, aside=claim.OUTSIDE)


def read_code_claim(text: str) -> Form:
    if not text or len(text) > MAX_SPAN_CHARACTERS or not text.isprintable():
        return QUOTED
    if text[0] == "-":
        flag = _FLAG.fullmatch(text)
        return Form(claim.FLAG, (flag[1],)) if flag else QUOTED
    if _URL.fullmatch(text):
        return Form(claim.URL)
    if " " in text:
        return _phrase(text)
    if text[0] in "~%" or text[:2] == "$H" or text[1:3] == ":\\":
        return AWAY
    if text[0] == "/":
        return _absolute(text)
    if text[0] in "*." and text.lstrip("*.").lower() in ENDINGS:
        return QUOTED  # `*.py`: a kind of file, not a file
    if _is_commit(text):
        return Form(claim.COMMIT, (text,))
    if text[0] == "@" and "/" in text:
        return Form(
            claim.PACKAGE, (text,), aside=claim.PLACEHOLDER if is_placeholder_claim(text) else ""
        )
    path = read_path_claim(text)
    if path is not None:
        return path
    if _KEBAB.fullmatch(text):
        return Form(claim.PACKAGE, (text,))
    names = read_claimed_symbol_names(text)
    return Form(claim.SYMBOL, names) if names else QUOTED


def read_bare_claim(text: str) -> Form | None:
    """Form of a word without backticks; None for an ordinary word."""
    if is_ordinary_word(text) or len(text) > MAX_SPAN_CHARACTERS or not text.isprintable():
        return None
    if text[0] in "-@#":
        return None
    if _URL.fullmatch(text):
        return Form(claim.URL)
    if text[0] in "~$" or text[1:3] == ":\\":
        return AWAY if "/" in text or "\\" in text else None
    if text[0] == "/":
        return _absolute(text) if find_file_ending(text) else None
    if _is_commit(text):
        return Form(claim.COMMIT, (text,))
    if find_file_ending(text) or (text[-1] == "/" and text.isascii() and len(text) > 2):
        return read_path_claim(text)
    names = read_claimed_symbol_names(text)
    if names and (is_distinctive_symbol(names[-1]) or text.endswith("()")):
        return Form(claim.SYMBOL, names)
    return None


def is_ordinary_word(text: str) -> bool:
    """True for most words of prose, and quick to tell."""
    return text.isalpha() and text[1:].islower() and text not in WHOLE_NAMES


def _is_commit(text: str) -> bool:
    return bool(_HEX.fullmatch(text)) and not text.isdigit() and not text.isalpha()


def read_path_claim(text: str) -> Form | None:
    """Path below the repository, or a branch by its prefix; None for anything else."""
    first, _, rest = text.partition("/")
    if first in PREFIXES and rest and "/" not in rest and not find_file_ending(text):
        return Form(claim.BRANCH, (text,), (text,))
    path = read_claimed_path_names(text)
    return Form(claim.PATH, *path) if path else None


def _absolute(text: str) -> Form:
    """Path from the repository's root if it names a file; `/name` may be a slash command."""
    if is_placeholder_claim(text):
        return Form(claim.PATH, aside=claim.PLACEHOLDER)
    path = read_claimed_path_names(text[1:]) if find_file_ending(text) else None
    if path:
        return Form(claim.PATH, *path)
    name = text[1:]
    if not _KEBAB.fullmatch(name) and not IDENTIFIER.fullmatch(name):
        return AWAY
    return Form(claim.PATH, (), (f"commands/{name}.md", f"skills/{name}/SKILL.md"))


def _phrase(text: str) -> Form:
    """A path with spaces, a command with its scripts and files, or quoted code."""
    words = text.split()[:MAX_WORDS]
    while words and (words[0] in ("$", "sudo", "%", ">") or _ASSIGNED.fullmatch(words[0])):
        words.pop(0)
    if not words:
        return QUOTED
    first, rest = words[0], [word for word in words[1:] if word[0] != "-"]
    if "/" in first and first[:2] != "./" and "(" not in text:
        spaced = read_claimed_path_names(text)
        if spaced and not spaced[2] and (text[-1] == "/" or find_file_ending(text)):
            return Form(claim.PATH, *spaced)
    script = ""
    if first in RUNNERS and rest:
        script = rest[1] if rest[0] in ("run", "run-script") and len(rest) > 1 else rest[0]
        if first in ("npm", "composer") and rest[0] not in ("run", "run-script", "test", "start"):
            script = ""  # `npm install`
    files: list[str] = []
    away = first in ("rm", "mv", "rmdir") or (first == "git" and rest[:1] != ["add"])
    for word in [] if away else words:
        word = word.strip("\"'`,;()")
        if "/" in word and find_file_ending(word) and word[0] not in "-/~$" and "=" not in word:
            path = read_claimed_path_names(word)
            if path and not path[2]:
                files += [*path[0][:1], *(item for item in path[1] if item[:2] == "::")]
    names = (script,) if script and not is_placeholder_claim(script) else ()
    if names or files:
        return Form(claim.COMMAND, names, tuple(files[:4]), flags=_own_flags(words))
    symbols = [
        name
        for word in words
        for name in read_claimed_symbol_names(word.strip("#[](){},;&*\"'!=<>"))
    ]
    telling = tuple(dict.fromkeys(name for name in symbols if is_distinctive_symbol(name)))[:4]
    return Form(claim.SYMBOL, (), telling) if telling else QUOTED


def _own_flags(words: list[str]) -> tuple[str, ...]:
    """Flags of a file of the repository that a command runs; not those of pytest or git."""
    for i, word in enumerate(words):
        if "/" in word and find_file_ending(word):
            flags = (_FLAG.fullmatch(word) for word in words[i + 1 :])
            return tuple(dict.fromkeys(flag[1] for flag in flags if flag))
        if word[0] != "-" and word not in INTERPRETERS:
            break
    return ()


def is_placeholder_claim(text: str) -> bool:
    """True if the reader has to fill something in: `src/<name>.ts`, `YYYY-MM-DD.md`."""
    return _PLACEHOLDER.search(text) is not None


def find_file_ending(path: str) -> str:
    path = cut_line_numbers_of_path(path)[0]
    name = path.rstrip("*").rsplit("/", 1)[-1]
    if name in WHOLE_NAMES:
        return name.lower()
    stem, dot, ending = name.rpartition(".")
    ending = ending.lower().rstrip("})")
    if not dot:
        return ""
    if not stem:
        return name[1:] if len(name) > 2 and name[1:].replace("-", "").isalnum() else ""
    if not _FILE_STEM.fullmatch(stem):
        return ""
    if ending in WEAK_ENDINGS:
        return ending if "/" in path or "." in stem or "-" in stem else ""
    return ending if ending in ENDINGS else ""


def cut_line_numbers_of_path(text: str) -> tuple[str, str]:
    """Path without `:73-77`, `#L12`, `::test_name` or `:name`, and the name that followed."""
    path, mark, rest = text.partition("::")
    if mark and IDENTIFIER.match(rest):
        return path, rest.split("::")[-1].split("[")[0].rstrip("()")
    path, mark, rest = text.partition(":")
    if mark and _LINES.fullmatch(rest):
        return path, ""
    if mark and IDENTIFIER.fullmatch(rest.rstrip("()")) and "." in path:
        return path, rest.rstrip("()")
    path, mark, rest = text.partition("#")
    return (path, "") if mark and "." in path else (text, "")


def read_claimed_path_names(text: str) -> tuple[tuple[str, ...], tuple[str, ...], str] | None:
    """Names that must all exist, alternatives, and an aside; None if it is not a path."""
    path, symbol = cut_line_numbers_of_path(text.strip("\"'"))
    segments = [item for item in path.split("/") if item]
    if not segments or len(segments) > MAX_SEGMENTS or "//" in path or "()" in path:
        return None
    if "/" not in path and not find_file_ending(path):
        return None
    if is_placeholder_claim(path):
        return (), (), claim.PLACEHOLDER
    if not all(_SEGMENT.fullmatch(item) for item in segments):
        return None
    if not any(map(str.isalnum, path)):
        return None
    names = tuple(
        filter(
            None,
            (re.sub(r"^(?:\./)+", "", item).strip("/") for item in expand_braces_in_path(path)),
        )
    )
    if "*" in path:
        fixed = (name.split("*", 1)[0].rpartition("/")[0] for name in names)
        return names, tuple(dict.fromkeys(filter(None, fixed))), ""
    listed = segments if len(segments) > 1 and all(map(find_file_ending, segments)) else []
    return names, (*listed, *(["::" + symbol] if symbol else [])), ""


def expand_braces_in_path(path: str) -> list[str]:
    """`a.{py,pyi}` becomes `a.py` and `a.pyi`, up to a limit."""
    braces = _BRACES.search(path)
    if braces is None:
        return [path]
    before, after = path[: braces.start()], path[braces.end() :]
    paths: list[str] = []
    for choice in braces[1].split(",")[:MAX_NAMES]:
        paths += expand_braces_in_path(f"{before}{choice.strip()}{after}")
        if len(paths) >= MAX_NAMES:
            break
    return paths[:MAX_NAMES]


def read_claimed_symbol_names(text: str) -> tuple[str, ...]:
    """Identifiers of `a.b::c(…)`, `Vec<T>`, `name!()`; empty for anything else."""
    head = text.split("(", 1)[0].split("<", 1)[0].split("[", 1)[0].rstrip("!?*&:").lstrip("@$&*.#")
    parts = _PARTED.split(head)
    if not head or len(parts) > 8 or not all(IDENTIFIER.fullmatch(part) for part in parts):
        return ()
    return tuple(parts)


def is_distinctive_symbol(name: str) -> bool:
    bare = name.strip("_$")
    if len(bare) < 4:
        return False
    humps = any(a.islower() and b.isupper() for a, b in pairwise(bare))
    return humps or "_" in bare or (any(map(str.isdigit, bare)) and not bare.isdigit())


def is_common_symbol(name: str) -> bool:
    return name.lower().lstrip(".").split(".")[0] in COMMON_STEMS

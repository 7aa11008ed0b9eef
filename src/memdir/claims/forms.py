"""What a span is; names; tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from memdir.claims import context
from memdir.claims.claim import (
    BRANCH,
    COMMAND,
    COMMIT,
    EXTENSION,
    FLAG,
    NUMBER,
    PACKAGE,
    PATH,
    ROUTE,
    SYMBOL,
    TEXT,
    URL,
    VERSION,
)

# What names look like: the endings of files, the tools of the trade, the folders of a machine.

# Endings that make a bare word a file name. `log`, `key` and `env` do not: `console.log`.
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

# Endings that only a path with a slash or a dotted name makes a file's.
_WEAK_ENDINGS = """
d db dev env in key local lock log map out pid prod service test
"""
WEAK_ENDINGS = frozenset(_WEAK_ENDINGS.split())

# Files without an ending.
_WHOLE_NAMES = """
Brewfile CMakeLists.txt CODEOWNERS Caddyfile Cartfile Containerfile Dockerfile Fastfile
GNUmakefile Gemfile Jenkinsfile Justfile LICENSE Makefile NOTICE Podfile Procfile Rakefile
Vagrantfile justfile
"""
WHOLE_NAMES = frozenset(_WHOLE_NAMES.split())

# Names that every second project has: that ours lost one says nothing of what a memory means.
_COMMON_NAMES = """
.dockerignore .editorconfig .env .env.example .env.local .gitignore .mcp.json .npmrc .nvmrc
__init__.py __main__.py agents.md api.py api.ts app app.js app.py app.ts app.tsx architecture.md
assets bin build build.rs build.sh build.yml cargo.lock cargo.toml changelog.md ci.yml claude.md
cli.py client.py client.ts compose.yaml compose.yml composer.json config config.js config.json
config.py config.toml config.ts config.yaml config.yml conftest.py constants.py constants.ts
contributing.md data deploy.sh design.md dist docker-compose.yaml docker-compose.yml dockerfile
docs eslint.config.js examples gemfile gemini.md go.mod go.sum index.css index.html index.js
index.md index.ts index.tsx install.sh jest.config.js lib lib.rs license main.go main.js main.py
main.rs main.ts makefile memory.md mod.rs models.py next.config.js notes.md package-lock.json
package.json plan.md pnpm-lock.yaml poetry.lock public pyproject.toml readme readme.md release.yml
requirements.txt routes.py routes.ts run.sh schema.py schema.sql schema.ts scripts security.md
server.js server.py server.ts settings.json settings.local.json settings.py setup.cfg setup.py
setup.sh skill.md spec.md src status.md tailwind.config.js tailwind.config.ts tasks.md test
test.js test.py test.sh test.ts test.yml tests todo.md tools tsconfig.json types.py types.ts
urls.py utils.js utils.py utils.ts uv.lock views.py vite.config.ts yarn.lock
"""
COMMON_NAMES = frozenset(_COMMON_NAMES.split())

# Folders of a machine, not of a repository.
_MACHINE = """
Applications Library Program System Users Volumes Windows bin boot dev etc home lib media mnt opt
private proc root run sbin sdcard srv sys tmp usr var workspace workspaces
"""
MACHINE = frozenset(_MACHINE.split())

# Folders whose content is made or local: git never had it for long, people still work with it.
_MADE = """
.cache .git .gradle .idea .next .pytest_cache .turbo .venv .worktrees DerivedData __pycache__
build coverage dist logs node_modules obj out target temp tmp vendor venv
"""
MADE = frozenset(_MADE.split())

# Programs that everybody has: a command that begins with one says nothing of this repository.
_TOOLS = """
./gradlew act adb alias ansible ansible-playbook apk apt apt-get artisan awk aws az bash bazel
biome black brew bun bundle bunx cabal cargo cat cd changeset chmod chown claude clojure cmake
code codex composer cosign cp curl cursor cypress dart date deno diff dnf docker docker-compose
dotnet drizzle-kit echo elixir emacs emulator env esbuild eslint exit export false fastlane find
fish flutter fly flyctl gcloud gdb gem gemini gh ghc git glab go gofmt golangci-lint goreleaser
gradle gradlew grep head helm heroku iex java javac jest journalctl jq just kill kotlin kubectl
launchctl lein lerna lldb ls lsof make mix mkdir mktemp mv mvn mvnw mypy mysql netlify ninja nix
node nohup nox npm npx nuget nx packer patch php pip pip3 pipx pkill playwright pnpm pod podman
poetry pre-commit prettier printf prisma ps psql pushd pytest python python3 rails rake redis-cli
return rg rm rollup rsync ruby ruff rustc rustup sbt scala scp screen sed semgrep set sh sleep
sort source sqlite3 ssh stack strace sudo supabase swift systemctl tail tar task tee terraform
test time timeout tmux touch tox trivy true ts-node tsc tsx turbo uniq unset unzip uv uvx vagrant
valgrind vercel vim vite vitest watch wc webpack wget which wrangler xargs xcodebuild xcrun yarn
yq yum zip zsh
"""
TOOLS = frozenset(_TOOLS.split())

# Programs that run what the repository declares.
_RUNNERS = """
bun composer just make npm pnpm task yarn
"""
RUNNERS = frozenset(_RUNNERS.split())

# Branches by their name alone.
_BRANCHES = """
HEAD develop main master trunk
"""
BRANCHES = frozenset(_BRANCHES.split())

# What names of branches begin with.
_PREFIXES = """
bugfix build chore ci claude codex dependabot docs experiment feat feature fix hotfix perf
refactor release renovate spike style test wip
"""
PREFIXES = frozenset(_PREFIXES.split())

# Frameworks that are called like a file.
_PRODUCTS = """
alpine.js angular.js backbone.js chart.js d3.js deno.js discord.js ember.js express.js moment.js
nest.js next.js node.js nuxt.js p5.js react.js solid.js three.js vue.js
"""
PRODUCTS = frozenset(_PRODUCTS.split())

# Endings of what is built, run or kept for oneself.
_ARTEFACTS = """
a apk bak cache class db dll dmg env exe gz ipa jar key log map o out pem pid pyc so sqlite sqlite3
tar tgz tmp vsix wasm whl zip
"""
ARTEFACTS = frozenset(_ARTEFACTS.split())


# The names in a span: paths without line numbers and with their braces spread, identifiers.

MOST_NAMES = 16  # that one span may spread into
DEEPEST = 40  # segments of a path
IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]{0,120}")
_PARTED = re.compile(r"::|->|\?\.|[.#]")
_LINES = re.compile(r"L?\d[\d,:~+–-]{0,40}(?:L\d{1,6})?")
_PLACEHOLDER = re.compile(
    r"<[^<>]{0,60}>|\.\.\.|…|\$\{|\{\{|\{[^{},]{0,40}\}|\$[A-Z]"
    r"|(?<![A-Za-z0-9])(?:X{2,8}|N{2,8}|YYYY|foo|bar|baz|path/to|your[-_]|my[-_])(?![a-z])"
)
_SEGMENT = re.compile(r"[^\s\"'`<>|;:!\\^&?]{1,120}(?: [^\s\"'`<>|;:!\\^&?]{1,120}){0,6}")
_BRACES = re.compile(r"\{([^{}]{1,160})\}")


def placeholder(text: str) -> bool:
    """`src/<name>.ts`, `docs/…/x.md`, `YYYY-MM-DD.md`: to be filled in by the reader."""
    return _PLACEHOLDER.search(text) is not None


def file_ending(path: str) -> str:
    """The ending that makes a file of the last segment; empty for a folder or a word."""
    path = without_lines(path)[0]
    name = path.rstrip("*").rsplit("/", 1)[-1]
    if name in WHOLE_NAMES:
        return name.lower()
    stem, dot, ending = name.rpartition(".")
    ending = ending.lower().rstrip("})")
    if not dot:
        return ""
    if not stem:
        return name[1:] if len(name) > 2 and name[1:].replace("-", "").isalnum() else ""
    if not re.fullmatch(r"[\w.@+*{},()\[\]$ -]{1,160}", stem):
        return ""
    if ending in WEAK_ENDINGS:
        return ending if "/" in path or "." in stem or "-" in stem else ""
    return ending if ending in ENDINGS else ""


def without_lines(text: str) -> tuple[str, str]:
    """A path without `:73-77`, `#L12`, `::test_name` or `:name`, and the name that followed."""
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


def path_names(text: str) -> tuple[tuple[str, ...], tuple[str, ...], str] | None:
    """Names that must all be there, parts that may stand for them, an aside; None for no path."""
    text = text.strip("\"'")
    path, symbol = without_lines(text)
    if not path or path.count("/") > DEEPEST or "//" in path or "()" in path:
        return None
    segments = [item for item in path.split("/") if item]
    if not segments or ("/" not in path and not file_ending(path)):
        return None
    if placeholder(path):
        return (), (), context.PLACEHOLDER
    if not all(_SEGMENT.fullmatch(item) for item in segments):
        return None
    if "/" in path and not any(any(map(str.isalnum, item)) for item in segments):
        return None
    names = [_plain(item) for item in spread(path)]
    if any("*" in name for name in names):
        folders = tuple(dict.fromkeys(filter(None, (_fixed(name) for name in names))))
        return tuple(names), folders, ""
    listed = segments if len(segments) > 1 and all(file_ending(item) for item in segments) else []
    return tuple(filter(None, names)), (*listed, *(["::" + symbol] if symbol else [])), ""


def spread(path: str) -> list[str]:
    """`a.{py,pyi}` -> `a.py`, `a.pyi`; not more than a few."""
    found = _BRACES.search(path)
    if found is None:
        return [path]
    before, after = path[: found.start()], path[found.end() :]
    spread_out: list[str] = []
    for choice in found[1].split(",")[:MOST_NAMES]:
        joined = f"{before}{choice.strip()}{after}"
        spread_out += spread(joined) if "{" in joined else [joined]
        if len(spread_out) >= MOST_NAMES:
            break
    return spread_out[:MOST_NAMES]


def _plain(path: str) -> str:
    """Without `./` before and `/` behind."""
    while path.startswith("./"):
        path = path[2:]
    return path.strip("/")


def _fixed(pattern: str) -> str:
    """The folder in which a pattern begins to vary."""
    head = pattern.split("*", 1)[0]
    return head.rpartition("/")[0]


def symbol_names(text: str) -> tuple[str, ...]:
    """The identifiers of `a.b::c(…)`, `Vec<T>`, `name!()`; none for what is no such thing."""
    head = text.split("(", 1)[0].split("<", 1)[0].split("[", 1)[0].rstrip("!?*&:")
    head = head.lstrip("@$&*.#") if head[:1] in "@$&*.#" else head
    parts = _PARTED.split(head)
    if not head or len(parts) > 8 or not all(IDENTIFIER.fullmatch(part) for part in parts):
        return ()
    return tuple(parts)


def stem(path: str) -> str:
    """A file without its ending: what it is called once it has become a folder."""
    return path[: -len(file_ending(path)) - 1]


# What a span of text is by its form alone: a path, a symbol, a command, … and what to look up.

LONGEST = 200  # characters of a span that names something; what is longer is quoted code
MOST_WORDS = 40  # of a command or phrase that are looked at
_URL = re.compile(r"(?:https?|ftp|ssh|git|wss?|file|postgres(?:ql)?|redis|mongodb)://\S{1,190}")
_NUMBER = re.compile(r"(?:[\w.-]{1,60}/[\w.-]{1,60})?#\d{1,7}")
_VERSION = re.compile(r"[v^~=<>]{0,3}\d{1,5}(?:\.(?:\d{1,9}|x|\*)){1,3}(?:[-+][\w.]{1,30})?")
_HEX = re.compile(r"[0-9a-f]{7,40}")
_KEBAB = re.compile(r"[a-z0-9]{1,40}(?:-[a-z0-9]{1,40}){1,8}")
_ENDING_ONLY = re.compile(r"\*{0,2}\.[A-Za-z0-9]{1,10}")
_METHODS = frozenset(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
_ASSIGNED = re.compile(r"[A-Z][A-Z0-9_]{0,60}=\S{0,100}")
_IMPORTED = re.compile(
    r"from ([A-Za-z_]\w{0,40}(?:\.[A-Za-z_]\w{0,40}){0,5}) import ([A-Za-z_]\w{0,60})"
)
_OPTIONED = re.compile(r"--?[A-Za-z][\w-]{0,40}")


@dataclass(frozen=True)
class Form:
    """Kind, what to look up (all of it), what may stand for it one by one, and why not."""

    kind: str
    names: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    aside: str = ""


def code_form(text: str) -> Form:
    """What stands in backticks; everything there has a form, be it that of quoted code."""
    if not text or len(text) > LONGEST or not text.isprintable():
        return Form(TEXT, aside=context.CODE)
    if _URL.fullmatch(text):
        return Form(URL)
    if _NUMBER.fullmatch(text):
        return Form(NUMBER, aside=context.ELSEWHERE)
    if text[0] == "-":
        return Form(FLAG, aside=context.OPTION)
    if " " in text:
        return _phrase(text)
    return _word(text)


def _word(text: str) -> Form:
    if text[0] in "~%" or text[:2] == "$H" or text[1:3] == ":\\":
        return Form(PATH, aside=context.OUTSIDE)
    if text[0] == "/":
        return _absolute(text)
    if _ENDING_ONLY.fullmatch(text) and text.lstrip("*.").lower() in ENDINGS:
        return Form(EXTENSION, aside=context.ENDING)
    if _VERSION.fullmatch(text):
        return Form(VERSION, (text,), aside=context.NUMBERED)
    if _HEX.fullmatch(text) and not text.isdigit() and not text.isalpha():
        return Form(COMMIT, (text,))
    if text[0] == "@" and "/" in text:
        holder = placeholder(text)
        return Form(PACKAGE, (text,), aside=context.PLACEHOLDER if holder else "")
    path = path_form(text)
    if path is not None:
        return path
    if _KEBAB.fullmatch(text):
        return Form(PACKAGE, (text,))
    names = symbol_names(text)
    return Form(SYMBOL, names) if names else Form(TEXT, aside=context.CODE)


def path_form(text: str) -> Form | None:
    """A path below the repository, however it is written; None for what is no path."""
    first, _, rest = text.partition("/")
    if first in PREFIXES and rest and "/" not in rest and not file_ending(text):
        return Form(BRANCH, (text,), (text,))
    found = path_names(text)
    if found is None:
        return None
    names, parts, aside = found
    if names and names[0].lower() in PRODUCTS:
        aside = context.EXTERNAL
    return Form(PATH, names, parts, aside)


def _absolute(text: str) -> Form:
    """From the root of a machine, of a site, or of the repository."""
    first, _, rest = text[1:].partition("/")
    if not first or first in MACHINE:
        return Form(PATH, aside=context.OUTSIDE)
    if placeholder(text):
        return Form(ROUTE, aside=context.PLACEHOLDER)
    if file_ending(text):
        found = path_names(text[1:])
        return Form(PATH, *found) if found else Form(ROUTE)
    # What a client of ours calls /name lies in one of these files.
    named = (f"commands/{first}.md", f"skills/{first}/SKILL.md") if not rest else ()
    return Form(ROUTE, (), named)


def _phrase(text: str) -> Form:
    words = text.split()[:MOST_WORDS]
    while words and (words[0] in ("$", "sudo", "%", ">") or _ASSIGNED.fullmatch(words[0])):
        words.pop(0)
    if not words:
        return Form(TEXT, aside=context.CODE)
    first = words[0]
    imported = _IMPORTED.fullmatch(" ".join(words))
    if imported is not None:
        return Form(SYMBOL, (*imported[1].split("."), imported[2]))
    if first in _METHODS:
        return Form(ROUTE)
    if "/" in first and first[:2] != "./" and first not in TOOLS and "(" not in text:
        spaced = path_names(text)
        if spaced and not spaced[2] and (text[-1] == "/" or file_ending(text)):
            return Form(PATH, *spaced)
    if first in TOOLS or first[:2] == "./" or _runs(words):
        return _command(words)
    names = [name for word in words for name in symbol_names(word.strip("#[](){},;&*\"'!=<>"))]
    telling = tuple(dict.fromkeys(name for name in names if distinctive(name)))[:4]
    return Form(SYMBOL, (), telling) if telling else Form(TEXT, aside=context.CODE)


def _runs(words: list[str]) -> bool:
    """`audit --digest`, `tools/x.sh all`: a command of the project's own."""
    if file_ending(words[0]) and words[0].endswith((".sh", ".py", ".mjs", ".js", ".ts", ".ps1")):
        return True
    return bool(IDENTIFIER.fullmatch(words[0].replace("-", "_"))) and any(
        _OPTIONED.fullmatch(word.partition("=")[0]) for word in words[1:]
    )


def _command(words: list[str]) -> Form:
    """Scripts and targets that must be declared, and files that it is given."""
    first, rest = words[0], [word for word in words[1:] if word[0] != "-"]
    script = ""
    if first in RUNNERS and rest:
        script = rest[1] if rest[0] in ("run", "run-script") and len(rest) > 1 else rest[0]
        if rest[0] != "run" and first not in ("make", "just", "task", "yarn", "pnpm", "bun"):
            script = rest[0] if rest[0] in ("test", "start") else ""
    files: list[str] = []
    away = first in ("rm", "mv", "rmdir") or (first == "git" and words[1:2] != ["add"])
    for word in [] if away else words:
        word = word.strip("\"'`,;()")
        if "/" in word and file_ending(word) and word[0] not in "-/~$" and "=" not in word:
            found = path_names(word)
            if found and not found[2]:
                files += [*found[0][:1], *(item for item in found[1] if item[:2] == "::")]
    names = (script,) if script and not placeholder(script) else ()
    aside = "" if names or files else context.GENERIC
    return Form(COMMAND, names, tuple(files[:4]), aside)


def distinctive(name: str) -> bool:
    """True for a name that somebody made up: it has a hump, an underscore or a digit inside."""
    bare = name.strip("_$")
    if len(bare) < 4:
        return False
    humps = any(a.islower() and b.isupper() for a, b in pairwise(bare))
    return humps or "_" in bare or (any(map(str.isdigit, bare)) and not bare.isdigit())


def bare_form(text: str) -> Form | None:
    """A word of the prose that nobody put in backticks; None for a word like any other."""
    if len(text) > LONGEST or not text.isprintable():
        return None
    if _URL.fullmatch(text):
        return Form(URL)
    if _NUMBER.fullmatch(text):
        return Form(NUMBER, aside=context.ELSEWHERE)
    if text[0] in "~$" or text[1:3] == ":\\":
        return Form(PATH, aside=context.OUTSIDE) if "/" in text[:40] or "\\" in text[:40] else None
    if text[0] == "/":
        form = _absolute(text) if text.count("/") > 1 or file_ending(text) else None
        return form if form and (form.kind == PATH or text.isascii()) else None
    if text[0] in "-@#":
        return None
    if _VERSION.fullmatch(text) and (text[0] == "v" or text.count(".") > 1):
        return Form(VERSION, (text,), aside=context.NUMBERED)
    if _HEX.fullmatch(text) and not text.isdigit() and not text.isalpha():
        return Form(COMMIT, (text,))
    ends = file_ending(text) or (text[-1] == "/" and text.isascii() and len(text) > 2)
    if ends:
        return path_form(text)
    names = symbol_names(text)
    if names and (distinctive(names[-1]) or text.endswith("()")):
        return Form(SYMBOL, names)
    return None

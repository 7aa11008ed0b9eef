"""Which files a simple command writes, by its name and its words. Hot path: no regex.

Only what is plain: a word that might be the value of an option writes nothing.
"""

# What stands before the command that is meant: its options with a value, and how many words of
# its own follow them.
BEFORE = {
    **dict.fromkeys(("then", "do", "else", "elif", "if", "while", "until", "!", "{"), ("", 0)),
    **dict.fromkeys(("command", "builtin", "nohup"), ("", 0)),
    "sudo": ("ughpCrtTDR", 0),
    "doas": ("uC", 0),
    "env": ("uC", 0),
    "exec": ("a", 0),
    "time": ("fo", 0),
    "nice": ("n", 0),
    "ionice": ("cnp", 0),
    "stdbuf": ("ioe", 0),
    "xargs": ("adEILnPs", 0),
    "timeout": ("ks", 1),
}
SETTING = ("export", "declare", "typeset", "local", "readonly")
ALL = {  # with their options that have a value
    "touch": "drt",
    "truncate": "sr",
    "tee": "",
    "sponge": "",
    "rmdir": "",
    "unlink": "",
    "shred": "ns",
}
LONG_VALUES = ("--reference", "--date", "--size", "--iterations", "--time")
INTO = ("cp", "mv", "ln", "install")  # those that know -t
LAST = (*INTO, "rsync", "scp")
IN_PLACE = {"sed": "efl", "gsed": "efl", "perl": "eEMmIFCDxV", "ruby": "erIEKCFxTW"}
ANYWHERE = ("sed", "gsed")  # these take options behind their files too
OUTPUT = {
    "curl": ("o", "--output", "AbCcDdEeFHhKmoPQrTtUuwXxYyz"),
    "wget": ("O", "--output-document", "aABDeiIloOPQRtTUXw"),
    "sort": ("o", "--output", "kSotT"),
}
MOST_WORDS = 100  # of a command that `find` runs
EXECUTED = ("-exec", "-execdir", "-ok", "-okdir")


def bare(words: list[str]) -> list[str]:
    """Without what stands before the command itself."""
    at = 0
    while at < len(words) and words[at] in BEFORE:
        values, own = BEFORE[words[at]]
        at += 1
        while at < len(words) and words[at][:1] == "-":
            at += 2 if _needs_next(words[at], values) else 1
        at += own
        while at < len(words) and is_setting(words[at]):
            at += 1  # env A=b
    return words[at:]


def is_setting(word: str) -> bool:
    """`NAME=value`?"""
    name, mark, _ = word.partition("=")
    return bool(mark) and name.replace("_", "a").isalnum()


def paths(name: str, rest: list[str]) -> tuple[list[str], list[str]]:
    """Those that are written, and those that are taken away with all that is below."""
    files = [one for one in rest if one[:1] != "-"]
    if name == "rm":
        whole = any(one == "--recursive" or _has(one, "rR", "") for one in rest)
        return ([], files) if whole else (files, [])
    if name in ALL:
        return _plain(rest, ALL[name]), []
    if name in LAST:
        return _copied(name, rest)
    if name in IN_PLACE:
        return (files if _is_in_place(name, rest) else []), []
    if name == "dd":
        return [one[3:] for one in rest if one.startswith("of=")], []
    if name == "find":
        start = next((at for at, one in enumerate(rest) if one[:1] in "-(!"), len(rest))
        return (rest[:start] if _found_ones_go(rest) else []), []
    if name in OUTPUT:
        letter, long, values = OUTPUT[name]
        return _after(rest, letter, long, values), []
    return [], []


def script(rest: list[str]) -> str:
    """What a shell is given with `-c`; empty where it runs a file."""
    at = 0
    while at < len(rest) and rest[at][:1] in ("-", "+"):
        word = rest[at]
        if word[:2] != "--" and word[0] == "-" and "c" in word:
            return rest[at + 1] if at + 1 < len(rest) else ""
        named = word in ("--rcfile", "--init-file") or (word[1:2] != "-" and word[-1] in "oO")
        at += 2 if named else 1
    return ""


def _plain(rest: list[str], values: str) -> list[str]:
    """The words that are no option and no value of one."""
    found, at = [], 0
    while at < len(rest):
        if rest[at][:1] != "-":
            found.append(rest[at])
        elif rest[at] in LONG_VALUES or _needs_next(rest[at], values):
            at += 1
        at += 1
    return found


def _copied(name: str, rest: list[str]) -> tuple[list[str], list[str]]:
    """To the last path or, where that is a directory, to a file of the same name in it."""
    files = [one for one in rest if one[:1] != "-"]
    into = _after(rest, "t", "--target-directory", "St") if name in INTO else []
    sources, target = (files, into[-1]) if into else (files[:-1], "".join(files[-1:]))
    sources = [one for one in sources if one not in into]
    last = [one.rstrip("/").rpartition("/")[2] for one in sources]
    found = [target, *(f"{target}/{one}" for one in last if target)]
    return found, sources if name == "mv" else []


def _is_in_place(name: str, rest: list[str]) -> bool:
    """`-i`, `-i.bak`, `-pi`, `--in-place`; of a script's own options nobody can tell."""
    values, at = IN_PLACE[name], 0
    while at < len(rest):
        word = rest[at]
        if word.startswith("--in-place") or _has(word, "i", values):
            return True
        if word[:1] != "-" and name not in ANYWHERE:
            return False
        at += 2 if word[:1] == "-" and _needs_next(word, values) else 1
    return False


def _found_ones_go(rest: list[str]) -> bool:
    """Does `find` delete, or run a command that writes what it was given?"""
    if "-delete" in rest:
        return True
    for at, word in enumerate(rest):
        if word in EXECUTED:
            command = bare(rest[at + 1 : at + MOST_WORDS])
            end = next((at for at, one in enumerate(command) if one in (";", "+")), len(command))
            name = command[0].rpartition("/")[2] if command else ""
            written, gone = paths(name, command[1:end]) if name != "find" else ([], [])
            if "{}" in (*written, *gone):
                return True
    return False


def _after(words: list[str], letter: str, long: str, values: str) -> list[str]:
    """The values of an option: `-o X`, `-oX`, `-so X`, `--output X`, `--output=X`."""
    found = []
    for at, word in enumerate(words):
        following = words[at + 1 : at + 2]
        if word == long or (_has(word, letter, values.replace(letter, "")) and word[-1] == letter):
            found += following
        elif word.startswith(f"{long}="):
            found.append(word[len(long) + 1 :])
        elif _has(word, letter, values.replace(letter, "")):
            found.append(word[word.index(letter) + 1 :])
    return found


def _has(word: str, letters: str, values: str) -> bool:
    """Is one of the letters among these short options? Behind one with a value is that value."""
    if word[:1] != "-" or word[:2] == "--":
        return False
    for letter in word[1:]:
        if letter in letters:
            return True
        if letter in values:
            return False
    return False


def _needs_next(word: str, values: str) -> bool:
    """Is the next word the value of this option? Not where the value is in the same word."""
    if word[:2] == "--":
        return False
    for at, letter in enumerate(word[1:], 2):
        if letter in values:
            return at == len(word)
    return False

"""English word stems after Porter: `tests`, `testing` and `tested` are one word.

The algorithm of 1980, with the last y of its second version: `deploy` and `deployment` are one.
Cyrillic and German words lose their commonest endings, others stay as they are. Hot path.
"""

VOWELS = "aeiou"
# What step 2 and step 3 put in the place of a suffix, the first that fits.
LONG = (
    *(("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize")),
    *(("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous")),
    *(("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive")),
    *(("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble")),
)
MIDDLE = (
    *(("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic")),
    *(("ful", ""), ("ness", "")),
)
LAST = (
    *("ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate", "iti"),
    *("ous", "ive", "ize", "al", "er", "ic", "ou"),
)
CYRILLIC = (
    *("иями", "ями", "ами", "ого", "его", "ому", "ему", "ыми", "ими", "иях", "ость", "ости"),
    *("ать", "ять", "ить", "еть", "ует", "уют", "ает", "ают", "ите", "ешь", "ишь", "ала", "ило"),
    *("ия", "ии", "ию", "ях", "ах", "ов", "ев", "ей", "ой", "ый", "ий", "ая", "яя", "ое", "ее"),
    *("ые", "ие", "ую", "юю", "ым", "им", "ом", "ем", "ет", "ют", "ут", "ит", "ят", "ам", "ям"),
    *("а", "я", "о", "е", "ы", "и", "у", "ю", "ь", "й"),
)
SHORTEST = 3  # letters that stay of a Cyrillic word
# Endings that no English word has, and what they are the plural of.
PLURALS = (
    *(("ungen", "ung"), ("ionen", "ion"), ("ellen", "elle"), ("nissen", "nis"), ("nisse", "nis")),
    *(("heiten", "heit"), ("keiten", "keit"), ("schaften", "schaft")),
)
UMLAUTS = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "ß": "ss"})
GERMAN = ("ern", "ten", "en", "er", "em", "es", "et", "st", "te", "e", "n", "s", "t")
SHORTEST_GERMAN = 4
LONG_WORD = 9  # letters from which on `en` is an ending: `token` and `written` keep it


def stem(word: str) -> str:
    """The stem of a lower-case word."""
    if len(word) < 3 or not word.isalpha():
        return word
    if not word.isascii():
        return _other(word)
    if word[-1] in "en":
        word = _german_plural(word)
    word = _plural(word)
    word = _past(word)
    if word[-1] == "y" and _shape(word[:-1])[-1:] == "c" and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    for table in (LONG, MIDDLE):
        word = _swap(word, table)
    return _end(_drop(word))


def _shape(word: str) -> str:
    """`c` or `v` for each letter; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in VOWELS or (letter == "y" and shape[-1:] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _short(word: str) -> bool:
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word[-1] == "s" and word[-2] != "s" else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    cut = 2 if word.endswith("ed") else 3 if word.endswith("ing") else 0
    if not cut or "v" not in _shape(word[:-cut]):
        return word
    word = word[:-cut]
    if word[-2:] in ("at", "bl", "iz"):
        return word + "e"
    if len(word) > 1 and word[-1] == word[-2] and word[-1] not in "aeioulsz":
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _short(word) else word


def _swap(word: str, table: tuple[tuple[str, str], ...]) -> str:
    for suffix, other in table:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base + other if _measure(base) else word
    return word


def _drop(word: str) -> str:
    for suffix in LAST:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            fits = _measure(base) > 1 and (suffix != "ion" or base[-1] in "st")
            return base if fits else word
    return word


def _end(word: str) -> str:
    if word[-1] == "e":
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _german_plural(word: str) -> str:
    for suffix, other in PLURALS:
        if word.endswith(suffix):
            return word[: -len(suffix)] + other
    return word[:-2] if len(word) >= LONG_WORD and word.endswith("en") else word


def _other(word: str) -> str:
    if "а" <= word[0] <= "я":
        return _cut(word, CYRILLIC, SHORTEST)
    plain = word.translate(UMLAUTS)
    return _cut(plain, GERMAN, SHORTEST_GERMAN) if plain.isascii() else word


def _cut(word: str, suffixes: tuple[str, ...], shortest: int) -> str:
    for suffix in suffixes:
        if word.endswith(suffix) and len(word) - len(suffix) >= shortest:
            return word[: -len(suffix)]
    return word

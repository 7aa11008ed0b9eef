"""The only tokenizer and stemmer: the terms of a text as in the catalog.

Porter's stemmer of 1980, with the final y of his second version: `deploy` and `deployment` are the
same. Cyrillic and German words lose their most common endings, others stay. Scripts without spaces
become pairs of characters, so texts that share a word share a pair.
"""

from _collections import _count_elements  # type: ignore[import-not-found, unused-ignore]

VOWELS = "aeiou"
# Suffix replacements of steps 2 and 3; the first match applies.
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
SHORTEST = 3  # letters of a Cyrillic word that are kept
# Plural endings that no English word has, and their singular.
PLURALS = (
    *(("ungen", "ung"), ("ionen", "ion"), ("ellen", "elle"), ("nissen", "nis"), ("nisse", "nis")),
    *(("heiten", "heit"), ("keiten", "keit"), ("schaften", "schaft")),
)
UMLAUTS = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "ß": "ss"})
GERMAN = ("ern", "ten", "en", "er", "em", "es", "et", "st", "te", "e", "n", "s", "t")
SHORTEST_GERMAN = 4
LONG_WORD = 9  # letters; shorter words such as `token` and `written` keep `en`


def stem_word(word: str) -> str:
    if len(word) < 3 or not word.isalpha():
        return word
    if not word.isascii():
        if "а" <= word[0] <= "я":
            return _cut(word, CYRILLIC, SHORTEST)
        plain = word.translate(UMLAUTS)
        return _cut(plain, GERMAN, SHORTEST_GERMAN) if plain.isascii() else word
    if word[-1] in "en":
        word = _german_plural(word)
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word[-1] == "s" and word[-2] != "s":
        word = word[:-1]
    word = _past(word)
    if word[-1] == "y" and _shape(word[:-1])[-1:] == "c" and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    for table in (LONG, MIDDLE):
        for suffix, other in table:
            if word.endswith(suffix):
                base = word[: -len(suffix)]
                word = base + other if _measure(base) else word
                break
    return _end(word)


def _shape(word: str) -> str:
    shape = ""
    for letter in word:
        vowel = letter in VOWELS or (letter == "y" and shape[-1:] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _short(word: str) -> bool:
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _german_plural(word: str) -> str:
    for suffix, other in PLURALS:
        if word.endswith(suffix):
            return word[: -len(suffix)] + other
    return word[:-2] if len(word) >= LONG_WORD and word.endswith("en") else word


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


def _end(word: str) -> str:
    for suffix in LAST:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            if _measure(base) > 1 and (suffix != "ion" or base[-1] in "st"):
                word = base
            break
    if word[-1] == "e":
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _cut(word: str, suffixes: tuple[str, ...], shortest: int) -> str:
    for suffix in suffixes:
        if word.endswith(suffix) and len(word) - len(suffix) >= shortest:
            return word[: -len(suffix)]
    return word


PIECE = 0.3  # weight of a part of an identifier
IMPLIED = 0.5  # weight of a term implied by a number's form
LONGEST_RUN = 4096  # characters of a run without spaces
LONGEST = 64  # characters of a word; longer ones are data
_STOP = """
a about above after again all also am an and any are as at be because been before being below
between both but by can cannot cant could did didnt do does doesnt doing done dont down each
few for from further get gets got had has have having he her here hers him his how i if im in
into is isnt it its itself ive just let lets like may me might more most must my no nor not now
of off on once only or other our out over own per please same shall she should so some such
than that thats the their them then there these they this those through to too under until up
upon us very via was wasnt we were what when where whether which while who whom why will with
within without wont would yet you your yours
aber als am auch auf aus bei bin bis das dass dem den der des die doch du ein eine einem einen
einer eines er es für hat ich ihr im ist ja kann mein mit nach nicht noch nur oder sich sie
sind so um und uns unter vom von vor war was wenn wer wie wir wird zu zum zur über
con como da del della di dos el en es está este la las le les lo los mas na não no nos o para
pas por pour que quand qui se sem si su sur um uma un una une y au aux avec ce ces cette dans
des du est et il je ne nous ou par sont vous het een van voor niet dat zijn met
а без бы был была были быть в вы где да для до его ее если есть же за и из или их к как когда
ли мы на не нет но о он она они от по при с так то того только что чтобы это этот я
"""
STOP = frozenset(_STOP.split())  # English, German, Romance languages and Dutch, Russian
# Scripts without spaces, or with particles attached to words.
UNSPACED = (
    *(("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff"), ("\u3040", "\u30ff")),
    *(("\u3400", "\u9fff"), ("\uac00", "\ud7af"), ("\uf900", "\ufaff")),
    ("\U00020000", "\U0003ffff"),
)
_TABLE: dict[int, str | None] = {
    code: " " for code in range(128) if not chr(code).isalnum() and code != ord("_")
}
_TABLE[ord("'")] = None


class Words(dict[str, str]):
    def __init__(self) -> None:
        self.pieces: dict[str, tuple[str, ...]] = {}  # parts of an identifier, each weighted PIECE
        self.pairs: dict[str, tuple[str, ...]] = {}  # of a word without spaces, with full weight

    def __missing__(self, word: str) -> str:
        term = self[word] = self._term(word)
        return term

    def _term(self, word: str) -> str:
        bare = word[:LONGEST_RUN].strip("_")
        if not bare.isascii() and any(is_unspaced(letter) for letter in bare):
            self.pairs[word] = _pairs(bare)
            return ""
        if len(bare) > LONGEST:
            return ""
        parts = _parts(bare)
        if len(parts) > 1:
            stems = [stem_word(part) for part in map(str.lower, parts) if _counts(part)]
            self.pieces[word] = tuple(dict.fromkeys(stems))
            return bare.replace("_", "").lower()
        lower = bare.lower()
        return stem_word(lower) if _counts(lower) else ""

    def count(self, text: str) -> tuple[dict[str, float], int]:
        return self.tally(split_words(text))

    def tally(self, words: list[str]) -> tuple[dict[str, float], int]:
        counts: dict[str, float] = {}
        _count_elements(counts, map(self.__getitem__, words))
        length = len(words) - counts.pop("", 0)
        for word in filter(self.pieces.__contains__, words):
            for piece in self.pieces[word]:
                counts[piece] = counts.get(piece, 0) + PIECE
        for word in filter(self.pairs.__contains__, words if self.pairs else ()):
            for pair in self.pairs[word]:
                counts[pair] = counts.get(pair, 0) + 1
                length += 1
        return counts, int(length)


def split_words(text: str) -> list[str]:
    if text.isascii():
        return text.translate(_TABLE).split()
    import unicodedata

    text = unicodedata.normalize("NFKC", text)
    table: dict[int, str | None] = {
        ord(letter): " " for letter in set(text) if not (letter.isalnum() or letter == "_")
    }
    for letter in set(text):
        if unicodedata.category(letter)[0] == "M":
            del table[ord(letter)]  # combining marks belong to the letter before them
    table[ord("'")] = table[ord("\u2019")] = None
    return text.translate(table).split()


def implied_terms(prompt: str) -> list[str]:
    """Terms implied by a number's form: 3.2.0 is a version, ABC-12 a ticket, #12 an issue."""
    terms: list[str] = []
    for raw in prompt.split():
        word = raw.strip(".,;:!?()[]`\"'")
        first, dash, last = word.partition("-")
        numbers = word.lstrip("vV").split(".")
        if len(numbers) in (2, 3) and all(part.isdigit() for part in numbers):
            terms += ["version", "release"]
        elif dash and last.isdigit() and len(first) > 1 and first.isalpha() and first.isupper():
            terms += ["ticket", "issue"]
        elif word[:1] == "#" and word[1:].isdigit():
            terms += ["issue", "pr"]
    return [stem_word(word) for word in dict.fromkeys(terms)]


def _counts(word: str) -> bool:
    return len(word) > 1 and word.lower() not in STOP


def is_unspaced(letter: str) -> bool:
    return letter > "\u0e00" and any(first <= letter <= last for first, last in UNSPACED)


def _pairs(word: str) -> tuple[str, ...]:
    pairs: list[str] = []
    run = ""
    for letter in [*word, ""]:
        if run and (not letter or is_unspaced(letter) != is_unspaced(run[-1])):
            if is_unspaced(run[-1]) and len(run) > 1:
                pairs += [run[i : i + 2] for i in range(len(run) - 1)]
            elif is_unspaced(run[-1]) or _counts(run):
                pairs.append(run if is_unspaced(run[-1]) else stem_word(run.lower()))
            run = ""
        run += letter
    return tuple(pairs)


def _is_plain(word: str) -> bool:
    return word.isalpha() and (word.islower() or word[1:].islower())


def _parts(word: str) -> list[str]:
    if word.isdigit() or _is_plain(word):
        return [word]
    letters = word.rstrip("0123456789")
    if _is_plain(letters):  # v2, the most common form with parts
        return [letters, word[len(letters) :]]
    parts = [""]
    for i, letter in enumerate(word):
        last = parts[-1][-1:]
        if letter == "_":
            parts.append("")
            continue
        hump = letter.isupper() and (last.islower() or word[i + 1 : i + 2].islower())
        if last and (hump or letter.isdigit() != last.isdigit()):
            parts.append("")
        parts[-1] += letter
    return [part for part in parts if part]

"""Whether a prompt asks to remember something: a quick look; capture looks closely later."""

MAX_PROMPT_CHARACTERS = 3_000  # longer ones are mostly pasted
# Capture saves what is not saved by the end of the turn, so this list may be short.
PHRASES = (
    *("remember that ", "remember: ", "remember this", "please remember ", "in mind that"),
    *("this in mind", "that in mind", "keep in mind", "forget that ", "make a note", "your memory"),
    *("from now on", "write it down", "note this down", "for future reference"),
    *("recuerda que", "ten en cuenta", "no olvides que", "a partir de ahora", "ricorda che"),
    *(
        "ricordati",
        "tieni presente",
        "tieni a mente",
        "d'ora in poi",
        "souviens-toi",
        "retiens que",
    ),
    *("n'oublie pas que", "désormais", "merk dir", "merke dir", "vergiss nicht", "denk daran"),
    *("ab jetzt", "ab sofort", "lembre-se", "tenha em mente", "a partir de agora", "запомни"),
    *("имей в виду", "отныне", "记住", "記住", "别忘了", "从现在", "覚えて", "忘れないで"),
    *("念頭に置いて", "기억해", "잊지", "명심해"),
)
# Such words before a phrase tell of memory instead.
NOT_ASKED = ("i ", "we ", "do you ", "did you ", "don't you ")
SAVE_IT = (
    "<memdir-note>The user seems to ask you to remember something. If it is to outlast this task, "
    "save it now, once, in their words: as a memory, or with `memdir remember TEXT`.</memdir-note>"
)


def asks_to_remember(prompt: str) -> bool:
    if len(prompt) > MAX_PROMPT_CHARACTERS or prompt.lstrip()[:1] in ("/", "!", "<"):
        return False
    low = prompt.lower().replace("’", "'")
    for phrase in PHRASES:
        start = low.find(phrase)
        if start >= 0 and not low[:start].endswith(NOT_ASKED):
            return True
    return False

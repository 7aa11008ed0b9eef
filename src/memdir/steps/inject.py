"""inject: what an agent is told for a prompt, within what the session has left. Hot path."""

from memdir.core import injection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memdir.core.injection import Recalled
    from memdir.core.ports import Sessions
    from memdir.core.session_state import SessionState

BODY_ROOM = 2000  # characters of bodies for one prompt; the first comes whole, whatever its size


class Injected:
    """The text for the agent, which memories came whole, and which as a pointer."""

    __slots__ = ("bodies", "pointers", "text")

    def __init__(self, text: str, bodies: "list[Recalled]", pointers: "list[Recalled]") -> None:
        self.text = text
        self.bodies = bodies
        self.pointers = pointers

    @property
    def told(self) -> list[str]:
        """Every memory in it, as the session remembers it."""
        return [one.version for one in self.bodies + self.pointers]


def inject(
    bodies: "Sequence[Recalled]",
    pointers: "Sequence[Recalled]",
    state: "SessionState",
    *,
    now: float,
    nonce: str,
) -> Injected:
    """Bodies first; those beyond the room for them, and then pointers, one line each.

    What the session was told while these were chosen is left out.
    """
    bodies, pointers = (
        [one for one in given if one.version not in state.surfaced] for given in (bodies, pointers)
    )
    texts: list[str] = []
    whole: list[Recalled] = []
    room = BODY_ROOM
    for one in bodies:
        text = injection.body(one, now)
        if not whole or len(text) <= room:
            whole.append(one)
            texts.append(text)
            room -= len(text)
    rest = [one for one in (*bodies, *pointers) if one not in whole]
    while whole or rest:
        framed = _frame(whole, texts, rest, nonce, now)
        if len(framed.text.encode("utf-8", "replace")) <= state.left:
            shown = [whole[at] for at in framed.bodies]
            lines = [whole[at] for at in framed.pointed] + rest[: framed.pointers]
            return Injected(framed.text, shown, lines)
        if whole:
            rest.insert(0, whole.pop())  # no room left in this session for the last body
        else:
            rest = rest[: len(rest) // 2]
    return Injected("", [], [])


def _frame(
    whole: "list[Recalled]", texts: list[str], rest: "list[Recalled]", nonce: str, now: float
) -> injection.Framed:
    places = list(dict.fromkeys((one.scope, one.root) for one in (*whole, *rest)))
    several = len(places) > 1
    pairs = [
        (text, injection.pointer(one, now, several))
        for one, text in zip(whole, texts, strict=False)
    ]
    lines = [injection.pointer(one, now, several) for one in rest]
    return injection.frame(nonce, pairs, lines, places=places)


def inject_once(
    bodies: "Sequence[Recalled]",
    pointers: "Sequence[Recalled]",
    sessions: "Sessions",
    session: str,
    *,
    now: float,
    nonce: str,
) -> Injected:
    """The same for a session: one teller at a time, so that none repeats what another told."""
    if not bodies and not pointers:
        return Injected("", [], [])
    with sessions.held(session):
        state = sessions.load(session)
        injected = inject(bodies, pointers, state, now=now, nonce=nonce)
        if injected.text:
            size = len(injected.text.encode("utf-8", "replace"))
            sessions.add_told(session, injected.told, size)
    return injected

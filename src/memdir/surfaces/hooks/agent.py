"""The start of an agent that another one called: the memory that agents of its name have.

Hot path. Most agents have none, so what tells it is imported where one has.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.surfaces.hooks.detached import Work
    from memdir.surfaces.hooks.event import Event
    from memdir.surfaces.hooks.place import Here

NAME = "SubagentStart"


def answer(event: str, asked: "Event", here: "Here") -> "tuple[str, Work | None]":
    """What an agent of that name should know; nothing where it has no memories."""
    places = here.agents(asked.agent) if asked.agent else []
    if not places:
        return "", None
    from memdir.surfaces.hooks.agent_memory import told

    text = told(asked.agent, places, here)
    return asked.context(NAME, text) if text else "", None

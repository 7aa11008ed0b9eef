"""The page of the user interface: `memdir ui`."""

from __future__ import annotations

import os
import sys
import threading

import click

from memdir.cli.command import Session, command
from memdir.cli.output import Answer
from memdir.errors import Unwritable

IDLE_SECONDS = 1_800.0
PORTS = click.IntRange(0, 65_535)
SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")  # without one a browser would take the terminal


@command("ui", "memdir ui --no-open")
@click.option("--port", type=PORTS, default=0, metavar="PORT", help="Default: any free one.")
@click.option("--no-open", is_flag=True, help="Print the address; open no browser.")
@click.option("--html", metavar="FILE", help="Write the first screen as one file, and end.")
@click.option("--idle-seconds", type=float, default=IDLE_SECONDS, hidden=True)
def ui_command(
    session: Session, port: int, no_open: bool, html: str | None, idle_seconds: float
) -> Answer | int:
    """It shows what changed, what waits for you, what agents were told and what needs a look, and
    undoes each of it. It listens on this machine only, opens with the printed address, once, and
    ends by itself after 30 minutes without a request. Every change goes the way of the commands.
    """
    import time

    from memdir.ui.gate import Gate
    from memdir.ui.loopback import HOST, open_port, serve
    from memdir.ui.routes import Ui, open_page
    from memdir.ui.workspace import Spot, Workspace

    asked = session.asked
    cwd = asked.project or os.getcwd()
    spot = Spot("", asked.project, asked.dir, asked.scope)
    workspace = Workspace(os.environ, cwd, spot)
    if html is not None:
        return _write_file(session, Ui(workspace, ""), html)
    listener = open_port(port)
    port = listener.getsockname()[1]
    gate = Gate(port, time.monotonic)
    gate.inside = open_page(Ui(workspace, gate.form_token))
    url = f"http://{HOST}:{port}/?token={gate.token}"
    lines = [url, "", "The address works once. Ctrl-C ends it, or 30 minutes without a request."]
    session.screen.answer({"url": url, "port": port, "pid": os.getpid()}, lines)

    if not no_open and (sys.platform == "darwin" or any(map(os.environ.get, SCREENS))):
        import webbrowser  # the port listens already

        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
    idle = serve(listener, gate, idle_seconds)
    session.screen.tell("nobody asked for a while; ended" if idle else "ended")
    return 0


def _write_file(session: Session, page: object, path: str) -> Answer:
    from memdir.hot.disk import disk_failure
    from memdir.ui.routes import Ui, draw_first_screen

    assert isinstance(page, Ui)
    data = draw_first_screen(page)
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
    except OSError as error:
        raise disk_failure(error, path, "the page cannot be written") from None
    except ValueError:
        raise Unwritable(f"{path!r} is not a file name", next="name a file to write") from None
    return Answer({"path": path, "bytes": len(data)}, [f"wrote {session.short(path)}"])

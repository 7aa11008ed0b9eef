"""gc, window: what time does to records, done now or shown."""

from __future__ import annotations

from memdir.flows.records.tidying import tidy
from memdir.flows.records.tidying import window as roll
from memdir.surfaces.cli.answers import tell_done
from memdir.surfaces.cli.records.declaring import record_command
from memdir.surfaces.cli.session import Session

UNDO = "Undo: memdir undo"


@record_command("gc", "memdir records gc --dry-run", changes=True, bulk=True)
def gc(session: Session) -> None:
    """Archive or purge what was retired before the grace period; retire what has expired.

    delete.archive_retired in memory-config.json says which of the two. Archived records stay.
    """
    app = session.app
    tidy(app, tell_done(session, app, None, UNDO))


@record_command("window", "memdir records window --dry-run", changes=True, bulk=True)
def window(session: Session) -> None:
    """Keep the newest session summaries and retire the others.

    categories.session_summary.max_retained says how many. It happens by itself after each new
    summary; what only an old one holds is named before it goes.
    """
    app = session.app
    roll(app, tell_done(session, app, None, UNDO))

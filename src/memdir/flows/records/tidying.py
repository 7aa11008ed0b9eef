"""What time does to records: the rolling window, retention, and what is archived or purged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memdir.app import App, Desk, Done, Told
from memdir.core.draft import PURGED, Change
from memdir.core.memory import stem
from memdir.core.records import retention, windowing
from memdir.core.records.checking import is_newer
from memdir.core.records.errors import RecordError
from memdir.core.records.settings import RecordSettings
from memdir.flows.records.indexing import healed, indexed
from memdir.flows.records.placing import everything, sure_settings_of
from memdir.steps.collect import collect
from memdir.steps.turn import turn

RETIRE, ARCHIVE = "delete", "archive"
NEWER = "a newer version has written it"


def _untold(done: Done) -> None:
    """For callers that only want the answer."""


def window(app: App, told: Told = _untold) -> Done:
    """The newest session summaries stay, the others are retired → enlist"""

    def act(desk: Desk) -> list[Change]:
        settings, warnings = sure_settings_of(desk.store)
        desk.remarks += [one.message for one in warnings]
        changes = roll(desk, settings, app.now())
        return indexed(desk, changes)

    return app.change("retire", healed(act), told)


def roll(desk: Desk, settings: RecordSettings, now: float, newest: str = "") -> list[Change]:
    """Retire what the window has no room for; what is captured nowhere else is a remark."""
    records, findings = everything(desk.store)
    desk.remarks += [f"{one.message}; {one.fix}" for one in findings]
    if newest:  # on a dry run it is not on disk
        records |= collect(desk.store, [newest])[0]
    going = windowing.plan(records, settings, newest)
    desk.remarks += [one.warning for one in going if one.warning]
    return _turn_each(desk, RETIRE, [(one.path, one.reason) for one in going], now)


def _turn_each(
    desk: Desk, action: str, going: Sequence[tuple[str, str]], now: float
) -> list[Change]:
    """Turn these by the reason of each; what must stay as it is stays, and that is a remark."""
    done = []
    for path, reason in going:
        try:
            change = turn(path, action, reason, desk.store, now, "")
            done.append(replace(change, reason=reason))
        except RecordError as error:
            desk.remarks.append(f"{path} stays: {error.message}")
    return done


def tidy(app: App, told: Told = _untold) -> Done:
    """retention retires, the grace period archives or purges → enlist; archived ones stay"""

    def act(desk: Desk) -> list[Change]:
        settings, warnings = sure_settings_of(desk.store)
        desk.remarks += [one.message for one in warnings]
        records, findings = everything(desk.store)
        desk.remarks += [f"{one.message}; {one.fix}" for one in findings]
        now = app.now()
        going = retention.leaving(records, settings, now)
        expired = retention.expiring(records, settings, now)
        desk.plan = [*(one.path for one in expired), *(one.path for one in going)]
        changes = _turn_each(desk, RETIRE, [(one.path, one.reason) for one in expired], now)
        archived = [(one.path, one.reason) for one in going if one.action == retention.ARCHIVE]
        changes += _turn_each(desk, ARCHIVE, archived, now)
        for one in going:
            if one.action == retention.PURGE and not is_newer(records[one.path]):
                desk.store.drop(one.path)
                changes.append(Change(PURGED, stem(one.path), one.path, reason=one.reason))
            elif one.action != retention.ARCHIVE:
                why = one.reason if one.action == retention.KEEP else NEWER
                desk.remarks.append(f"{one.path} stays: {why}")
        return indexed(desk, changes)

    return app.change("purge", healed(act), told)

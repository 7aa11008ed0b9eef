"""Records out of a conversation that nobody asked for: drafted, and held until a person says yes.

read → score → draft → hold. A model drafts and verifies where the settings name one and the budget
lasts; else the words of the conversation do. What was held once is not held again.
"""

from __future__ import annotations

from dataclasses import replace

from memdir.adapters.inbox import open_inbox
from memdir.flows.budgeting import open_model
from memdir.adapters.captures import Captures
from memdir.adapters.log_file import log
from memdir.app import App, Done, state_folder
from memdir.core import frontmatter
from memdir.core.budget import LedgerBroken, OverBudget
from memdir.core.capturing import Catch, Origin
from memdir.core.draft import Draft
from memdir.core.errors import BadInput, Missing
from memdir.core.held import Held, reason_of
from memdir.core.model import ModelFailed
from memdir.core.records import rendering
from memdir.core.records.checking import check
from memdir.core.records.excerpts import excerpt
from memdir.core.records.fields import Record
from memdir.core.records.mechanical import drafted
from memdir.core.records.questions import (
    draft_question,
    failed,
    read_draft,
    verdict_question,
)
from memdir.core.records.repairing import repair
from memdir.core.records.scoring import Score, Scored, score
from memdir.core.records.settings import SESSION_SUMMARY
from memdir.core.secrets import find_secrets
from memdir.core.transcript import PERSON
from memdir.flows.records.placing import settings_of
from memdir.flows.records.saving import save_record
from memdir.flows.records.triaging import Reader

HOLD = "a record, drafted in the words of the conversation: add what is missing"
BY_MODEL = "a record, drafted and verified by a model"
PURPOSE = "records"


def hold_records(
    app: App, transcript: str, reader: Reader, origin: Origin, last: str = "", *, ends: bool = True
) -> list[Held]:
    """read → score → draft, each type that triggers → hold; the cursor moves when something was

    A session is summed up when it ends, not after each turn.
    """
    captures = Captures(state_folder(app.config))
    with captures.lock.held("memdir capture", app.tell):
        known = captures.load(origin.session)
        try:
            stretch = reader.read(transcript, known.cursor, last)
        except Missing:
            return []
        scored = score(stretch.said, settings_of(app.store)[0])
        triggered = [one for one in scored.triggered if ends or one.type != SESSION_SUMMARY]
        drafts = [_drafted(app, scored, one, origin.session) for one in triggered]
        catches = [_catch(scored, *one, origin) for one in drafts if one]
        held = [_hold(app, one) for one in catches if one and not app.dry_run]
        if triggered and not app.dry_run:
            captures.keep(replace(known, cursor=stretch.cursor, path=transcript, time=app.now()))
    return [one for one in held if one]


def approve_record(app: App, held: Held) -> Done:
    """The draft as the person left it → save; saved again, it is a change that was there"""
    draft = held.catch.draft
    if draft is None:
        raise Missing("this draft holds no record", next=f"memdir review reject {held.id}")
    return save_record(app, draft.type, record_in(draft), reason_of(held.id))


def record_in(draft: Draft) -> Record:
    """What a held draft says, as a record; its body is the view of one."""
    text = frontmatter.write([("description", draft.description), ("type", draft.type)], draft.body)
    found = rendering.read_view(text)
    return {key: value for key, value in found.items() if value not in ("", None)}


def _drafted(app: App, scored: Scored, one: Score, session: str) -> tuple[Record, str] | None:
    """A draft and why it is held; None where a model finds that nothing is worth it, or wrong."""
    options = app.config.options
    named = options.capture_model or options.model
    if named and not app.dry_run:
        try:
            record = _by_model(app, scored, one, session, named)
            return (record, BY_MODEL) if record else None
        except (OverBudget, ModelFailed, LedgerBroken, BadInput) as error:
            log(app.config.state_dir, PURPOSE, error.message)
    return drafted(scored, one), HOLD


def _by_model(app: App, scored: Scored, one: Score, session: str, named: str) -> Record | None:
    """draft → check → verify; one run of the budget"""
    settings, _ = settings_of(app.store)
    context = excerpt(scored, one, settings)
    model = open_model(app, PURPOSE, session, named=named, run=app.config.options.run_tokens)
    asked = draft_question(one.type, settings.types[one.type].description, context)
    record = read_draft(model.answer(asked).data, one.type)
    if record is None:
        return None
    whole, _ = repair({**record, "id": "draft", "record_status": "active"}, app.now())
    if problems := check(whole):
        raise BadInput(f"the model's draft: {problems[0].field} {problems[0].rule}")
    return None if failed(model.answer(verdict_question(record, context)).data) else record


def _catch(scored: Scored, record: Record, why: str, origin: Origin) -> Catch | None:
    body = frontmatter.read(rendering.view(record)).body.strip("\n")
    if find_secrets(body) or find_secrets(str(record["title"])):
        return None  # records are committed with the code
    message = next((said.id for said in reversed(scored.said) if said.who == PERSON), "")
    draft = Draft(body, str(record["category"]), description=str(record["title"]))
    return Catch(replace(origin, message=message), draft, hold=why)


def _hold(app: App, catch: Catch) -> Held | None:
    try:
        held = open_inbox(app).hold(catch, catch.hold, app.now())
        open_inbox(app).read(held.id)
    except (BadInput, Missing):  # no room, or a review has settled it
        return None
    return held

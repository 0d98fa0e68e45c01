"""The summarise job: a language model writes summary, keywords and tags of a source.

The rules have described it before (`describe.py`), and their text stays whenever the model gives
none that stands the check. Only the user's own sources are given to a model, without passages that
read like instructions, and none of sensitivity high.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from commonplace.engine.context import EngineContext
from commonplace.engine.follow_up_jobs import can_be_summarised
from commonplace.engine.llm.model_calls import ModelOutcome
from commonplace.engine.llm.texts import GivenTurn, SummaryReply, WrittenSummary, summarise
from commonplace.engine.sources.originals import ingest_record_in
from commonplace.errors import ModelUnavailable
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Bookkeeping, Changeset, ChangeSource
from commonplace.model.jobs import Job
from commonplace.model.journal import Entry, Event, JournalNode, JournalStatus, Op
from commonplace.model.sources.source import (
    SOURCE_CATEGORY,
    TITLE_BY,
    Passage,
    Source,
    SpeakerRole,
)
from commonplace.store.queries import PassagesOf

ACTOR = "worker:summarise"
MIN_TEXT = 300  # characters: the rules' summary of less is the text itself
_OWNER, _ASSISTANT = "owner", "assistant"


@dataclass(frozen=True, slots=True)
class _GivenSource:
    source: Source
    passages: tuple[Passage, ...]  # visible, and not suspicious

    @property
    def turns(self) -> list[GivenTurn]:
        return [
            GivenTurn(each.text, _speaker(each), self.source.local_time(each.at).date())
            for each in self.passages
        ]

    @property
    def is_long_enough(self) -> bool:
        return sum(len(each.text) for each in self.passages) > MIN_TEXT


def summarise_source(engine: EngineContext, job: Job) -> Callable[[], Changeset]:
    """The model is asked now, outside any transaction; the changeset is computed in one."""
    scope, id = job.scope, str(job.payload["source"])
    given, reply = _ask(engine, scope, id, 1.0)
    if reply is not None and reply.outcome is ModelOutcome.TOO_LONG:
        given, reply = _ask(engine, scope, id, 0.5)
    if given is None or reply is None:
        return lambda: Changeset(scope, engine.clock(), ACTOR, ())
    if reply.written is None:
        _note_outcome(engine, scope, id, reply)
    if reply.outcome is ModelOutcome.DOWN and job.tries < job.max_tries:
        raise ModelUnavailable("The language model gave no answer.")
    return lambda: Changeset(scope, engine.clock(), ACTOR, _change(engine, scope, given, reply))


def _ask(
    engine: EngineContext, scope: Scope, id: str, share: float
) -> tuple[_GivenSource | None, SummaryReply | None]:
    """No reply: there is nothing to summarise. ``share``: of what is usually shown."""
    with engine.store.read_session():
        given = _load(engine, scope, id)
        if given is None or not given.is_long_enough:
            return None, None
        return given, summarise(engine, scope, id, given.source.title, given.turns, share=share)


def _load(engine: EngineContext, scope: Scope, id: str) -> _GivenSource | None:
    found = engine.live_sources(scope, [id])
    if not found or not can_be_summarised(found[0], scope):
        return None
    passages = engine.store.passages(scope, PassagesOf(id)).values()
    shown = (each for each in passages if not (each.is_hidden or each.suspicious))
    return _GivenSource(found[0], tuple(shown))


def _speaker(passage: Passage) -> str:
    if passage.role == SpeakerRole.USER and passage.speaker is None:
        return _OWNER
    if passage.role in (SpeakerRole.ASSISTANT, SpeakerRole.TOOL):
        return _ASSISTANT
    return passage.speaker or "text"


def _change(
    engine: EngineContext, scope: Scope, given: _GivenSource, reply: SummaryReply
) -> tuple[ChangeSource, ...]:
    """Nothing if the source has changed since: its new text has a job of its own."""
    if reply.written is None:
        return ()
    now = _load(engine, scope, given.source.id)
    if now is None or now.passages != given.passages or now.source.summary != given.source.summary:
        return ()
    source = now.source
    after = _with_texts(source, reply.written)
    if after == source:
        return ()
    after = after.evolve(version=source.version + 1)
    entry = Entry(
        op=Op.UPDATE,
        event=Event.UPDATE,
        node=JournalNode.WORKER,
        subject=source.id,
        category=SOURCE_CATEGORY,
        old_ref=source.ref,
        new_ref=after.ref,
        meta={"described": True, "model": reply.model},
    )
    return (ChangeSource(source, after, entry),)


def _with_texts(source: Source, written: WrittenSummary) -> Source:
    """A title is taken only by a source that has none, and that it is the model's is recorded: it
    goes with the words that it rests on."""
    given = ingest_record_in(source.provenance).tags
    described = source.evolve(
        summary=written.summary,
        keywords=written.keywords,
        tags=tuple(dict.fromkeys((*given, *(written.tags or source.tags)))),
    )
    if source.title or not written.title:
        return described
    provenance = {**source.provenance, TITLE_BY: "model"}
    return described.evolve(title=written.title, provenance=provenance)


def _note_outcome(engine: EngineContext, scope: Scope, id: str, reply: SummaryReply) -> None:
    """The journal says why the rules' text stays."""
    outcome = "ungrounded" if reply.outcome in _ANSWERS else str(reply.outcome)
    entry = Entry(
        op=Op.UPDATE,
        node=JournalNode.WORKER,
        status=JournalStatus.SKIPPED,
        subject=id,
        category=SOURCE_CATEGORY,
        meta={"described": True, "model": outcome},
    )
    engine.store.record(Bookkeeping(scope, engine.clock(), entries=(entry,), actor=ACTOR))


_ANSWERS = (ModelOutcome.ANSWERED, ModelOutcome.CACHED)

"""extract without ids: what is not extracted yet, and what a language model has not read yet.

A source from before a model was configured is read only when somebody asks for it, since that is
paid for. What a model could not read is read again by itself, as soon as another one is configured
or its prompt has changed. The dry run shows the prompts that would be sent.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice

from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.follow_up_jobs import READ_JOB, build_read_job
from commonplace.engine.graph.extraction.extract import (
    Extracted,
    extract_pending,
    pending_sources,
    processed_sources,
    readable_source,
)
from commonplace.engine.llm.shown_prompt import ShownPrompt
from commonplace.engine.reading.prepared import (
    PreparedWindow,
    load_source_to_read,
    prepare_all_windows,
    reading_prompt,
    windows_to_repeat,
)
from commonplace.engine.transaction import apply_changeset
from commonplace.errors import CommonplaceError, NotFound
from commonplace.language.text.tokens import count_tokens
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import Changeset, EnqueueJob
from commonplace.model.graph.snapshot import MODEL_ACTOR
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.model_calls import ModelReading
from commonplace.model.sources.source import THREAD_ORIGIN, Source
from commonplace.store.queries import JobQuery

log = logging.getLogger("commonplace")


@dataclass(frozen=True, slots=True)
class ExtractedForAll:
    """What a run extracted for all users."""

    users: int
    sources: int
    nodes: int  # new ones
    edges: int
    notes: int
    memories: int
    left: int  # sources left for another run
    failed: int  # users whose sources could not be extracted; the log says why
    to_read: int = 0  # sources that a language model reads from now on


def extract_for_all_users(
    engine: EngineContext, scopes: Iterable[Scope], limit: int
) -> ExtractedForAll:
    """An error of one user does not stop the others."""
    results, failed = [], 0
    for scope in scopes:
        if not scope.is_user:
            continue
        try:
            results.append(extract_and_read(engine, RequestContext(Principal(scope.name)), limit))
        except CommonplaceError as error:
            log.warning("extraction postponed: %s", error.code)
            failed += 1
    return ExtractedForAll(
        users=len(results),
        sources=sum(each.sources for each in results),
        nodes=sum(each.nodes for each in results),
        edges=sum(each.edges for each in results),
        notes=sum(each.notes for each in results),
        memories=sum(each.memories for each in results),
        left=sum(each.left for each in results),
        failed=failed,
        to_read=sum(each.to_read for each in results),
    )


def extract_and_read(engine: EngineContext, request: RequestContext, limit: int) -> Extracted:
    extracted = extract_pending(engine, request, limit)
    if engine.model is None:
        return extracted
    unread = list(islice(unread_sources(engine, request.principal), limit))
    _queue(engine, request, [each.id for each in unread])
    return replace(extracted, to_read=extracted.to_read + len(unread))


def unread_sources(engine: EngineContext, reader: Principal) -> Iterator[Source]:
    """Which no job is there to read, the earliest first: later ones correct what they tell."""
    readings = {
        (each.source_scope, each.source): each
        for each in engine.store.model_readings(reader.own_scope)
    }
    queued = {each.key for each in engine.store.jobs(reader.own_scope, JobQuery(kinds=[READ_JOB]))}
    for source in sorted(processed_sources(engine, reader), key=_began):
        if source.id in queued or source.sensitivity is Sensitivity.HIGH:
            continue
        reading = readings.get((source.scope.key, source.id))
        if reading is None or _is_unread(engine, reader, source, reading):
            yield source


def _began(source: Source) -> datetime:
    return source.started_at or source.created_at


def _is_unread(
    engine: EngineContext, reader: Principal, source: Source, reading: ModelReading
) -> bool:
    is_thread = source.origin == THREAD_ORIGIN
    if reading.passages < source.passages or (reading.digest != source.digest and not is_thread):
        return True
    return bool(windows_to_repeat(engine, reader, reading.skipped, reading_prompt(source)))


def queue_repeated(engine: EngineContext, scope: Scope) -> int:
    """The sources of which an earlier model, or an earlier prompt, could not read a part."""
    if engine.model is None:
        return 0
    reader = Principal(scope.name)
    with engine.store.read_session():
        ids = [
            each.source
            for each in engine.store.model_readings(scope, unsettled=True)
            if (source := readable_source(engine, reader, each.source))
            and windows_to_repeat(engine, reader, each.skipped, reading_prompt(source))
        ]
    _queue(engine, RequestContext(reader), ids)
    return len(ids)


def _queue(engine: EngineContext, request: RequestContext, ids: Iterable[str]) -> None:
    """One after the other: of jobs that are due at the same time, any is the first."""
    scope, now = request.principal.own_scope, engine.clock()
    steps = tuple(
        EnqueueJob(
            build_read_job(id, scope, engine.new_id(), now + timedelta(microseconds=place), now)
        )
        for place, id in enumerate(ids)
    )
    if steps:
        apply_changeset(engine, request, Changeset(scope, now, MODEL_ACTOR, steps))


# ——— the dry run: nothing is sent ———


def show_prompts_of(
    engine: EngineContext, reader: Principal, ids: Sequence[str], limit: int
) -> Extracted:
    """As if nothing of these sources was read yet."""
    shown: list[ShownPrompt] = []
    for id in ids:
        with engine.store.read_session():
            if readable_source(engine, reader, id) is None:
                raise NotFound(f"No source {id!r}.", remedy="Look it up: sources.", field="ids")
            shown += _prompts(engine, reader, id, anew=True)
    return _shown(engine, reader, shown[:limit])


def show_pending_prompts(engine: EngineContext, reader: Principal, limit: int) -> Extracted:
    """Of what is not extracted or not read yet."""
    shown: list[ShownPrompt] = []
    pending = (each.id for each in pending_sources(engine, reader))
    unread = (each.id for each in unread_sources(engine, reader))
    for id in dict.fromkeys((*pending, *unread)):
        with engine.store.read_session():
            shown += _prompts(engine, reader, id, anew=False)
        if len(shown) >= limit:
            break
    return _shown(engine, reader, shown[:limit])


def _shown(engine: EngineContext, reader: Principal, prompts: Sequence[ShownPrompt]) -> Extracted:
    revision = engine.store.counters(reader.own_scope).revision
    return Extracted(0, 0, 0, 0, 0, 0, revision, tuple(prompts))


def _prompts(
    engine: EngineContext, reader: Principal, id: str, *, anew: bool
) -> Iterator[ShownPrompt]:
    to_read = load_source_to_read(engine, reader, id, anew=anew)
    if to_read is None:
        return
    for prepared in prepare_all_windows(engine, reader, to_read):
        if prepared.says_anything:
            yield _shown_prompt(prepared)


def _shown_prompt(prepared: PreparedWindow) -> ShownPrompt:
    request = prepared.prompt.request(prepared.values)
    texts = {str(message.role): message.content for message in request.messages}
    return ShownPrompt(
        prepared.source.id,
        prepared.prompt.id,
        tuple(each.id for each in prepared.window.new),
        sum(map(count_tokens, texts.values())),
        texts.get("system", ""),
        texts.get("user", ""),
    )

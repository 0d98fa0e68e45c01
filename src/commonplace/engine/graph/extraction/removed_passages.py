"""What a graph has from passages that are forgotten, restored or erased.

Relations and notes of such a passage are hidden or removed with it. A node that other passages of
the source mention stays, without what only the removed one said of it. A new extraction, queued
here, then reads what is left, and finds what another passage states as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.engine.context import EngineContext
from commonplace.engine.follow_up_jobs import build_extract_job
from commonplace.engine.graph.extraction.previous_extraction import (
    DIGEST_LENGTH,
    compute_sentence_digests,
    digest,
)
from commonplace.engine.graph.remove import load_assertions_of
from commonplace.engine.graph.unit_of_work import GraphUnitOfWork
from commonplace.language.text.normalise import fold
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import EnqueueJob
from commonplace.model.graph.assertion import EdgeAssertion, NodeAssertion, Note
from commonplace.model.graph.steps import SetExtraction
from commonplace.model.journal import Entry, Op
from commonplace.model.sleep import SLEEP_ACTOR
from commonplace.model.sources.source import Passage, Source
from commonplace.store.queries import AssertionQuery

Statement = NodeAssertion | EdgeAssertion | Note


@dataclass(frozen=True, slots=True)
class RemovedPassages:
    """Passages of one source, with their words, and the others of it that are visible."""

    source: Source
    removed: tuple[Passage, ...]
    visible: tuple[Passage, ...]


def show_passages(work: GraphUnitOfWork, passages: RemovedPassages) -> list[str]:
    """The assertions and notes that are to be shown again."""
    return [each.id for each in _load_cited(work, passages)]


def leave_passages(work: GraphUnitOfWork, passages: RemovedPassages) -> list[str]:
    """The assertions and notes that are to be hidden or retracted. Nodes that other passages
    mention cite these from now on."""
    cited = _load_cited(work, passages)
    work.reworded.add(passages.source.id)
    kept = _cite_elsewhere(work, passages, cited)
    _retract_summaries(work, passages)
    return [each.id for each in cited if each.id not in kept]


def _retract_summaries(work: GraphUnitOfWork, passages: RemovedPassages) -> None:
    """Notes that a night made of the whole source may contain words of any passage."""
    cited = passages.source.id
    work.retract(
        note.id
        for note in list(work.notes.values())
        if note.added_by == SLEEP_ACTOR and note.source and note.source.id == cited
    )


def _load_cited(work: GraphUnitOfWork, passages: RemovedPassages) -> list[Statement]:
    """The assertions and notes that cite one of the removed passages."""
    ids = load_assertions_of(work, [passages.source.id])
    numbers = {passage.number for passage in passages.removed}
    known: dict[str, Statement] = {**work.node_assertions, **work.edge_assertions, **work.notes}
    of_source = (known[id] for id in ids if id in known)
    return [each for each in of_source if each.source and each.source.passage in numbers]


def _cite_elsewhere(
    work: GraphUnitOfWork, passages: RemovedPassages, cited: Iterable[Statement]
) -> set[str]:
    """Let nodes that another passage mentions cite that one. Returns their assertions."""
    texts = [(passage.number, fold(passage.text)) for passage in passages.visible]
    kept = set()
    for assertion in cited:
        if not isinstance(assertion, NodeAssertion) or assertion.source is None:
            continue
        number = _mentioned_in([assertion.name], texts)
        if number is None:
            continue
        work.put_assertion(
            replace(
                assertion,
                source=replace(assertion.source, passage=number),
                aliases=_mentioned(assertion.aliases, texts),
                addresses=_mentioned(assertion.addresses, texts),
                description="",
            )
        )
        kept.add(assertion.id)
    return kept


def _mentioned_in(names: Iterable[str], texts: Sequence[tuple[int, str]]) -> int | None:
    wanted = re.compile("|".join(rf"(?<!\w){re.escape(fold(name))}(?!\w)" for name in names))
    return next((number for number, text in texts if wanted.search(text)), None)


def _mentioned(names: Sequence[str], texts: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(name for name in names if _mentioned_in([name], texts) is not None)


def forget_digests(
    engine: EngineContext, reader: Scope, passages: RemovedPassages, gone: Collection[str]
) -> list[SetExtraction]:
    """Erased sentences leave no digest. What a passage took along was not removed by a person: it
    may be extracted from another passage."""
    source = passages.source
    steps = []
    for extraction in engine.store.extractions(reader, [source.id]):
        heard = _without_digests(extraction.heard, passages, gone)
        if len(heard) < len(extraction.heard):
            changed = replace(extraction, heard=heard)
            steps.append(SetExtraction(changed, Entry(op=Op.DELETE, subject=source.id)))
    return steps


def heard_without(
    engine: EngineContext, reader: Scope, passages: RemovedPassages, heard: Sequence[str]
) -> tuple[str, ...]:
    """The same for what a model read."""
    if not heard:
        return ()
    numbers = {passage.number for passage in passages.removed}
    found = engine.store.assertions(reader, AssertionQuery(sources=[passages.source.id]))
    gone = [
        each.id
        for items in found
        for each in items
        if each.source is not None and each.source.passage in numbers
    ]
    return _without_digests(heard, passages, gone)


def _without_digests(
    heard: Sequence[str], passages: RemovedPassages, gone: Collection[str]
) -> tuple[str, ...]:
    left = Counter(compute_sentence_digests(passages.source, passages.removed))
    by = {digest(passages.source.alias, id) for id in gone}
    kept = []
    for entry in heard:
        if left[entry]:
            left[entry] -= 1
        elif entry[DIGEST_LENGTH:] not in by:
            kept.append(entry)
    return tuple(kept)


def extract_again(
    engine: EngineContext, reader: Scope, source: Source, at: datetime
) -> list[EnqueueJob]:
    if not engine.extracts or not engine.store.extractions(reader, [source.id]):
        return []
    return [EnqueueJob(build_extract_job(source.id, reader, engine.new_id(), at))]

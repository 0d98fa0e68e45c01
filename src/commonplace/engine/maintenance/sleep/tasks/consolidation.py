"""Episodic to semantic: old sources that nobody reads become notes on the nodes that they mention,
and are archived in the same action.

A note cites its source, so it goes with it. Sources of an open storyline stay as they are: its text
is still written from them. A team's source is archived for this reader only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from commonplace.engine.graph.extraction.import_extraction import cite_source
from commonplace.engine.graph.graph_diff import diff_graph
from commonplace.engine.graph.unit_of_work import GraphUnitOfWork
from commonplace.engine.maintenance.sleep.task import Batch, Decide, Night, NightAction
from commonplace.engine.maintenance.sleep.tasks.archive import (
    archive_sources,
    archived_ids,
    read_graph,
)
from commonplace.engine.prompt_injection import is_prompt_injection
from commonplace.language.text.normalise import fold
from commonplace.model.changeset import ChangesetStep
from commonplace.model.graph.assertion import (
    MAX_SNIPPET_LENGTH,
    NOTE_PREFIX,
    Note,
    NoteLifetime,
    note_expiry,
)
from commonplace.model.graph.salience import current_salience
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.journal import JournalNode
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.sleep import SLEEP_ACTOR
from commonplace.model.sources.source import Source

OLD = "not read for long, and kept in notes"
OLDER_THAN = timedelta(days=7)
SALIENCE_BELOW = 0.2
OVERLAPPING = 5  # sources that share a node, from which their age does not matter
MAX_NOTES = 10  # of a source
_SOURCES_AT_ONCE = 50  # of a batch


def run_consolidation(night: Night) -> Decide:
    def decide() -> Batch:
        graph = read_graph(night)
        # The text of a source is looked at last, and only of as many as are needed: it takes long.
        due = (
            each
            for each in sources_to_consolidate(graph, night.now)
            if each.id not in night.rests and not is_prompt_injection(each)
        )
        chosen = list(due if night.dry_run else islice(due, _SOURCES_AT_ONCE))
        mentioned = mentioned_nodes(graph)
        groups = group_by_nodes(chosen, mentioned)
        actions = [_consolidate(night, graph, group, mentioned) for group in groups]
        return Batch(actions, has_more=next(due, None) is not None)

    return decide


# ——— which sources ———


def sources_to_consolidate(graph: GraphSnapshot, now: datetime) -> list[Source]:
    """Oldest first; also what looks like instructions."""
    mentioned = mentioned_nodes(graph)
    kept = archived_ids(graph) | _of_open_storylines(graph)
    faded = [
        source
        for source in graph.sources.values()
        if source.id not in kept
        and mentioned.get(source.id)
        and _can_be_noted(source)
        and current_salience(source, graph.marks_of(source.id), now).salience < SALIENCE_BELOW
    ]
    overlapping = _overlapping(faded, mentioned)
    due = [each for each in faded if each.id in overlapping or _is_old(each, now)]
    return sorted(due, key=lambda each: (each.created_at, each.id))


def _can_be_noted(source: Source) -> bool:
    """What ends by itself leaves no notes."""
    return source.ttl_policy is not TtlPolicy.EPHEMERAL and bool(source.summary.strip())


def _is_old(source: Source, now: datetime) -> bool:
    said = source.ended_at or source.started_at or source.created_at
    return now - max(said, source.created_at) > OLDER_THAN


def _of_open_storylines(graph: GraphSnapshot) -> set[str]:
    open_ones = (each for each in graph.storylines.values() if each.is_open)
    return {source.id for storyline in open_ones for source in storyline.sources}


def _overlapping(sources: Iterable[Source], mentioned: Mapping[str, Sequence[str]]) -> set[str]:
    """Those that share a node with so many others of them that all belong together."""
    sources = list(sources)
    counts = Counter(node for source in sources for node in mentioned[source.id])
    return {
        source.id
        for source in sources
        if any(counts[node] >= OVERLAPPING for node in mentioned[source.id])
    }


def mentioned_nodes(graph: GraphSnapshot) -> dict[str, list[str]]:
    """By source; the owner only where nobody else is mentioned."""
    nodes: dict[str, list[str]] = {}
    for mention in graph.mentions:
        nodes.setdefault(mention.source, []).append(mention.node)
    owners = {node.id for node in graph.nodes.values() if node.is_owner}
    return {
        source: [node for node in found if node not in owners] or found
        for source, found in nodes.items()
    }


def group_by_nodes(
    sources: Sequence[Source], mentioned: Mapping[str, Collection[str]]
) -> list[list[Source]]:
    """Sources that share nodes are one action: two actions must not write one node."""
    groups: list[tuple[set[str], list[Source]]] = []
    for source in sources:
        nodes, members = set(mentioned[source.id]), [source]
        apart = []
        for other_nodes, others in groups:
            if nodes & other_nodes:
                nodes, members = nodes | other_nodes, [*others, *members]
            else:
                apart.append((other_nodes, others))
        groups = [*apart, (nodes, members)]
    return [members for _, members in groups]


# ——— notes ———


@dataclass(frozen=True, slots=True)
class SummaryNote:
    """What a source leaves on a node."""

    source: Source
    node: str
    content: str


def _consolidate(
    night: Night,
    graph: GraphSnapshot,
    sources: Sequence[Source],
    mentioned: Mapping[str, Sequence[str]],
) -> NightAction:
    notes = [
        note
        for source in sources
        if not _is_noted(graph, source, night.now)
        for note in notes_of(graph, source, mentioned[source.id])
    ]
    ids = [source.id for source in sources]
    steps = (*_note_steps(night, notes), archive_sources(ids, night.now))
    return NightAction(OLD, steps, items=len(ids) + len(notes))


def notes_of(graph: GraphSnapshot, source: Source, nodes: Sequence[str]) -> list[SummaryNote]:
    """Its summary on each node; those that the summary names first, if there are many."""
    summary = fold(source.summary)

    def is_named(node: str) -> bool:
        return any(fold(name) in summary for name in graph.nodes[node].names)

    known = [node for node in nodes if node in graph.nodes]
    chosen = sorted(known, key=lambda node: not is_named(node))[:MAX_NOTES]
    content = source.summary.strip()[:MAX_SNIPPET_LENGTH]
    return [SummaryNote(source, node, content) for node in chosen]


def _is_noted(graph: GraphSnapshot, source: Source, now: datetime) -> bool:
    """It was consolidated before, and was read again since."""
    noted = (note for notes in graph.notes.values() for note in notes if note.is_live(now))
    return any(
        note.added_by == SLEEP_ACTOR and note.source is not None and note.source.id == source.id
        for note in noted
    )


def _note_steps(night: Night, notes: Sequence[SummaryNote]) -> tuple[ChangesetStep, ...]:
    if not notes:
        return ()
    work = GraphUnitOfWork(night.engine, night.scope, SLEEP_ACTOR, night.now)
    work.load(each.node for each in notes)
    for note in _stored(night, notes):
        work.put_note(note)
    return diff_graph(work, place=JournalNode.WORKER)


def _stored(night: Night, notes: Sequence[SummaryNote]) -> Iterator[Note]:
    for each in notes:
        yield Note(
            id=NOTE_PREFIX + night.engine.new_id(),
            about=each.node,
            content=each.content,
            added_by=SLEEP_ACTOR,
            date_added=night.now,
            expires_at=note_expiry(NoteLifetime.YEAR, night.now),
            source=cite_source(each.source),
            sensitivity=each.source.sensitivity,
        )

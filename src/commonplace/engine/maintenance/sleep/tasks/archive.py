"""Sources that nobody has read for very long are archived: searches of this user count them less.

A read makes a source active again. Nothing of it is removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from commonplace.engine.graph.visible_graph import visible_graph
from commonplace.engine.maintenance.sleep.task import Batch, Decide, Night, NightAction
from commonplace.model.graph.salience import ARCHIVED_BELOW, current_salience
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.graph.steps import SetArchived
from commonplace.model.journal import Entry, JournalNode, Op
from commonplace.model.sources.source import SOURCE_CATEGORY

UNREAD = "not read for long"


def run_archive(night: Night) -> Decide:
    def decide() -> Batch:
        faded = faded_sources(read_graph(night), night.now)
        due = [id for id in faded if id not in night.rests]
        chosen = due[: night.actions_at_once]
        actions = [NightAction(UNREAD, (archive_sources([id], night.now),)) for id in chosen]
        return Batch(actions, has_more=len(chosen) < len(due))

    return decide


def read_graph(night: Night) -> GraphSnapshot:
    """The owner's graph, with all sources that they may read: also those of their teams, and those
    in which nothing is mentioned."""
    graph = visible_graph(night.engine, night.principal, whole=True, sources=True, silent=True)
    return graph.snapshot


def faded_sources(graph: GraphSnapshot, now: datetime) -> list[str]:
    """Those that are not archived yet, though their salience says so; oldest first. What has ended
    is no matter of this task."""
    done = archived_ids(graph)
    faded = [
        source
        for source in graph.sources.values()
        if source.id not in done
        and current_salience(source, graph.marks_of(source.id), now).salience < ARCHIVED_BELOW
    ]
    return [each.id for each in sorted(faded, key=lambda each: (each.created_at, each.id))]


def archived_ids(graph: GraphSnapshot) -> set[str]:
    return {id for id, marks in graph.marks.items() if marks.archived_at is not None}


def archive_sources(ids: Sequence[str], at: datetime) -> SetArchived:
    entry = Entry(op=Op.UPDATE, node=JournalNode.WORKER, subject=ids[0], category=SOURCE_CATEGORY)
    return SetArchived(tuple(ids), at, entry)

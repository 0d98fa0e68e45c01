"""A few talks that tell of people and contradict each other, and the graph that they come to."""

from __future__ import annotations

from typing import Any

from commonplace.api import User
from commonplace.engine.graph_search.listing import list_edges
from commonplace.model.memory.lifecycle import NOW

OWNER = "ana"
TALKS = (
    ("2026-01-05", "Ana: My friend Sarah Chen works at Acme. Sarah has a dog called Rex."),
    ("2026-01-12", "Ana: Sarah works at Globex now. My brother Dan lives in Haifa."),
    ("2026-01-20", "Ana: Dan moved to Berlin. I can't stand Globex."),
    ("2026-02-02", "Ana: Sarah Chen and Dan are married. I want to learn Greek."),
    ("2026-02-10", "Ana: My manager Noa Levi works at Acme. I'm worried about money."),
)


def take_in(me: User, number: int) -> str:
    date, said = TALKS[number]
    return me.ingest(said, format="transcript", date=date, external_id=f"talk-{number}").id


def told(me: User) -> tuple[set[Any], set[Any]]:
    """The whole graph without its ids."""
    names = {}
    nodes = set()
    for list_them in (me.people, me.concepts, me.entities):
        for node in list_them(limit=1000, include_archived=True).nodes:
            names[node.id] = node.name
            nodes.add(
                (
                    node.node_type,
                    node.type,
                    node.name,
                    frozenset(node.aliases),
                    node.source_count,
                    node.promotion_score,
                    node.first_mentioned_at,
                    node.last_mentioned_at,
                    node.distinct_source_days,
                    node.confidence,
                    frozenset(node.notes_snippets),
                )
            )
    edges = {
        (
            frozenset((edge.from_name, edge.to_name)),
            edge.relationship_type,
            edge.description,
            edge.attitude,
            edge.proximity,
            edge.confidence,
            edge.valid_from,
            edge.valid_to,
        )
        for edge in list_edges(
            me._engine, me.principal, None, (), NOW, limit=1000, after=None, past=True
        ).edges
    }
    return nodes, edges

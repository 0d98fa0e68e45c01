"""How storylines and macros follow a change of the graph, in the same changeset.

A node says whether it has any (`has_meso`, `has_macro`), so a change of others reads nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from commonplace.engine.graph.stories.embedded_stories import build_flag_step, has_other_flags
from commonplace.engine.graph.storylines import Anchors, fold_stories
from commonplace.engine.graph.unit_of_work import GraphUnitOfWork
from commonplace.model.graph.assertion import NodeAssertion
from commonplace.model.graph.elements import Node
from commonplace.model.graph.steps import PutNode, PutStory, RemoveNode, RemoveStories
from commonplace.model.graph.storylines import StorySource
from commonplace.model.journal import Event
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.sources.source import is_source_id


@dataclass(frozen=True, slots=True)
class StoryDiff:
    nodes: Sequence[PutNode]  # those of the decision, with their flags, and others with new flags
    removed: Sequence[RemoveStories] = ()
    put: Sequence[PutStory] = ()


def diff_stories(
    work: GraphUnitOfWork, put: Sequence[PutNode], removed: Sequence[RemoveNode], ended: Event
) -> StoryDiff:
    touched = {step.after.id for step in put} | {step.id for step in removed}
    roots = {work.root(id) for id in touched} | {_root_before(work, id) for id in touched}
    if not work.reworded and not any(_has_stories(work, id) for id in touched | roots):
        return StoryDiff(put)
    after = {step.after.id: step.after for step in put}
    gone = {step.id for step in removed}
    nodes = {
        root: None if root in gone else after.get(root) or work.node(root)
        for root in sorted(roots)
        if work.root(root) == root
    }
    anchors = Anchors(
        nodes=nodes,
        sources=_sources_of(work, nodes),
        restorable=_restorable(work, nodes),
        root_of=work.root,
        reworded=frozenset(work.reworded),
    )
    folded = fold_stories(work.engine, work.scope, anchors, work.at, ended=ended)
    return StoryDiff(_with_flags(work, put, folded.flags), folded.removed, folded.put)


def _root_before(work: GraphUnitOfWork, id: str) -> str:
    node = work.nodes.get(id)
    return node.merged_into if node and node.merged_into else id


def _has_stories(work: GraphUnitOfWork, id: str) -> bool:
    node = work.nodes.get(id)
    return node is not None and (node.has_meso or node.has_macro)


def _sources_of(
    work: GraphUnitOfWork, nodes: Mapping[str, Node | None]
) -> dict[str, list[StorySource]]:
    """Of what is loaded from its assertions, of others from the cached graph and what is new."""
    known: Mapping[str, Sequence[StorySource]] = {}
    if not all(map(work.is_loaded, nodes)):
        snapshot = work.engine.graph_cache.of(work.scope).snapshot
        known = snapshot.story_sources
    told: dict[str, list[NodeAssertion]] = {}
    for assertion in work.node_assertions.values():
        told.setdefault(work.root(assertion.node), []).append(assertion)
    return {
        root: merge_mentions(
            [
                *(() if work.is_loaded(root) else known.get(root, ())),
                *story_sources_in(told.get(root, ())),
            ]
        )
        for root in nodes
    }


def _restorable(
    work: GraphUnitOfWork, nodes: Mapping[str, Node | None]
) -> dict[str, list[StorySource]]:
    """Also what is forgotten; of what is loaded."""
    told: dict[str, list[NodeAssertion]] = {}
    for assertion in work.node_assertions.values():
        told.setdefault(work.root(assertion.node), []).append(assertion)
    return {
        root: merge_mentions(story_sources_in(told.get(root, ()), forgotten=True))
        for root, node in nodes.items()
        if work.is_loaded(root) and not (node and node.is_owner)
    }


def story_sources_in(
    assertions: Iterable[NodeAssertion], *, forgotten: bool = False
) -> Iterable[StorySource]:
    """``forgotten``: also of sources that are forgotten and may be restored."""
    for assertion in assertions:
        cited = assertion.source
        if (assertion.stands or forgotten) and cited is not None and is_source_id(cited.id):
            is_sensitive = cited.sensitivity is Sensitivity.HIGH
            yield StorySource(cited.said_at, cited.id, cited.scope, cited.weight, is_sensitive)


def merge_mentions(sources: Iterable[StorySource]) -> list[StorySource]:
    """Each source once, on its earliest date."""
    by_id: dict[str, StorySource] = {}
    for source in sorted(sources):
        first = by_id.setdefault(source.id, source)
        if source.is_sensitive and not first.is_sensitive:
            by_id[source.id] = replace(first, is_sensitive=True)
    return list(by_id.values())


def _with_flags(
    work: GraphUnitOfWork, put: Sequence[PutNode], flags: Mapping[str, Mapping[str, bool]]
) -> list[PutNode]:
    steps = [replace(step, after=step.after.evolve(**flags.get(step.after.id, {}))) for step in put]
    others = [id for id in flags if id not in {step.after.id for step in put}]
    work.load_identities(others)
    for id in others:
        node = work.node(id)
        if node is not None and has_other_flags(node, flags[id]):
            steps.append(build_flag_step(node, flags[id], work.at))
    return steps

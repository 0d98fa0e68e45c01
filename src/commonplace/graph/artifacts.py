"""Artifacts: what agents made for a user. Made, listed, looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from commonplace.desk import Desk, can_see_source, placed_for, visibility_of
from commonplace.errors import CategoryNotAllowed, NotFound
from commonplace.graph.canvas import Canvas
from commonplace.graph.owner import see_to_owner
from commonplace.graph.seen import seen
from commonplace.graph.take_in import cited
from commonplace.graph.weave import weave
from commonplace.model.changes import Changeset
from commonplace.model.graph.artifact import CATEGORY, PREFIX, Artifact
from commonplace.model.graph.steps import PutArtifact
from commonplace.model.graph.telling import Cited
from commonplace.model.graph.words import NodeType
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory import Sensitivity, State
from commonplace.model.paging import page
from commonplace.model.scope import Principal
from commonplace.model.ttl_policy import TtlPolicy


@dataclass(frozen=True, slots=True)
class Produced:
    id: str
    artifact: Artifact
    revision: int


@dataclass(frozen=True, slots=True)
class RelatedNode:
    entity_key: str
    node_type: NodeType
    name: str


@dataclass(frozen=True, slots=True)
class ShownArtifact:
    artifact: Artifact
    related_nodes: tuple[RelatedNode, ...]  # of which the source speaks that produced it


@dataclass(frozen=True, slots=True)
class ArtifactPage:
    artifacts: tuple[Artifact, ...]
    next: str | None


def create_artifact(
    desk: Desk,
    principal: Principal,
    name: str,
    content_type: str,
    output: Any,
    *,
    description: str,
    source: str | None,
    sensitivity: Sensitivity,
    ttl_policy: TtlPolicy,
) -> Produced:
    if not visibility_of(principal).admits_category(CATEGORY):
        raise CategoryNotAllowed(
            f"{principal.agent} may not read the category {CATEGORY!r}.", field="name"
        )
    now = desk.clock()
    told_in = _cited(desk, principal, source) if source else None
    guarded = told_in is not None and told_in.sensitivity is Sensitivity.HIGH
    made = Artifact(
        id=PREFIX + desk.new_id(),
        user_id=principal.user_id,
        name=name,
        content_type=content_type,
        output=output,
        description=description,
        source=told_in,
        sensitivity=Sensitivity.HIGH if guarded else sensitivity,
        ttl_policy=ttl_policy,
        created_by=principal.actor,
        created_at=now,
        updated_at=now,
    )
    entry = Entry(
        op=Op.CREATE, event=Event.ADD, subject=made.id, category=CATEGORY, new_ref=made.id
    )

    def decision() -> tuple[Changeset, None]:
        decided_on = desk.store.counters(principal.home).revision
        canvas = Canvas(desk, principal.home, principal.actor, now)
        see_to_owner(canvas)
        steps = (*weave(canvas), PutArtifact(made, entry))
        return Changeset(principal.home, now, principal.actor, steps, decided_on), None

    revision, _ = desk.decide(decision)
    return Produced(made.id, made, revision)


def _cited(desk: Desk, principal: Principal, id: str) -> Cited:
    place = placed_for(desk, principal, id)
    found = desk.sources(place.scope, [id])
    if not found or found[0].state is not State.ACTIVE or not can_see_source(place, found[0]):
        raise NotFound(f"There is no {id!r} here.", field="source")
    return cited(found[0])


def list_artifacts(desk: Desk, principal: Principal, limit: int, after: str | None) -> ArtifactPage:
    """Newest first."""
    seen_ones = seen(desk, principal, sources=True).picture.artifacts
    stored = desk.store.artifacts(principal.home)
    shown = [seen_ones[each.id] for each in stored if each.id in seen_ones]
    found = page(shown, after, limit + 1)
    return ArtifactPage(tuple(found[:limit]), found[limit - 1].id if len(found) > limit else None)


def show_artifact(desk: Desk, principal: Principal, id: str) -> ShownArtifact:
    picture = seen(desk, principal, whole=True, sources=True).picture
    artifact = picture.artifacts.get(id)
    if artifact is None:
        raise NotFound(f"There is no {id!r} here.", field="id")
    source = artifact.source.id if artifact.source else None
    nodes = dict.fromkeys(m.node for m in picture.mentions if m.source == source)
    related = [picture.nodes[node] for node in nodes]
    return ShownArtifact(
        artifact, tuple(RelatedNode(node.id, node.type, node.name) for node in related)
    )

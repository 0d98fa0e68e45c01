"""Artifacts that agents made for a user: create, list, show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from commonplace.engine.access import can_see_source, principal_at_source, visibility_of
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.errors import CategoryNotAllowed, NotFound
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import Changeset
from commonplace.model.graph.assertion import CitedSource
from commonplace.model.graph.elements import ARTIFACT_CATEGORY, ARTIFACT_PREFIX, Artifact
from commonplace.model.graph.steps import PutArtifact
from commonplace.model.graph.types import NodeType
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.memory.memory import Sensitivity, State
from commonplace.model.paging import take_page
from commonplace.store.queries import GraphQuery

with lazy_imports(__name__):
    from commonplace.engine.graph.extraction.import_extraction import cite_source
    from commonplace.engine.graph.graph_diff import diff_graph
    from commonplace.engine.graph.unit_of_work import GraphUnitOfWork, ensure_owner
    from commonplace.engine.graph.visible_graph import visible_graph
    from commonplace.engine.transaction import run_transaction


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
    related_nodes: tuple[RelatedNode, ...]  # mentioned by the source that produced it


@dataclass(frozen=True, slots=True)
class ArtifactPage:
    artifacts: tuple[Artifact, ...]
    next: str | None


def create_artifact(
    engine: EngineContext,
    request: RequestContext,
    name: str,
    content_type: str,
    output: Any,
    *,
    description: str,
    source: str | None,
    sensitivity: Sensitivity,
    ttl_policy: TtlPolicy,
) -> Produced:
    principal = request.principal
    if not visibility_of(principal).admits_category(ARTIFACT_CATEGORY):
        raise CategoryNotAllowed(
            f"{principal.agent} may not read the category {ARTIFACT_CATEGORY!r}.", field="name"
        )
    now = engine.clock()
    cited = _cite_visible_source(engine, principal, source) if source else None
    is_source_sensitive = cited is not None and cited.sensitivity is Sensitivity.HIGH
    artifact = Artifact(
        id=ARTIFACT_PREFIX + engine.new_id(),
        user_id=principal.user_id,
        name=name,
        content_type=content_type,
        output=output,
        description=description,
        source=cited,
        sensitivity=Sensitivity.HIGH if is_source_sensitive else sensitivity,
        ttl_policy=ttl_policy,
        created_by=principal.actor,
        created_at=now,
        updated_at=now,
    )
    entry = Entry(
        op=Op.CREATE,
        event=Event.ADD,
        subject=artifact.id,
        category=ARTIFACT_CATEGORY,
        new_ref=artifact.id,
    )

    def decision() -> tuple[Changeset, None]:
        decided_on = engine.store.counters(principal.own_scope).revision
        work = GraphUnitOfWork(engine, principal.own_scope, principal.actor, now)
        ensure_owner(work)
        steps = (*diff_graph(work), PutArtifact(artifact, entry))
        return Changeset(principal.own_scope, now, principal.actor, steps, decided_on), None

    revision, _ = run_transaction(engine, request, decision)
    return Produced(artifact.id, artifact, revision)


def _cite_visible_source(engine: EngineContext, principal: Principal, id: str) -> CitedSource:
    place = principal_at_source(engine, principal, id)
    found = engine.live_sources(place.scope, [id])
    if not found or found[0].state is not State.ACTIVE or not can_see_source(place, found[0]):
        raise NotFound(f"There is no {id!r} here.", field="source")
    return cite_source(found[0])


def list_artifacts(
    engine: EngineContext, principal: Principal, limit: int, after: str | None
) -> ArtifactPage:
    """Newest first."""
    visible = visible_graph(engine, principal, sources=True).snapshot.artifacts
    stored = engine.store.graph_items(principal.own_scope, GraphQuery(artifacts=None)).artifacts
    shown = [visible[each.id] for each in stored if each.id in visible]
    page = take_page(shown, after, limit + 1)
    return ArtifactPage(tuple(page[:limit]), page[limit - 1].id if len(page) > limit else None)


def show_artifact(engine: EngineContext, principal: Principal, id: str) -> ShownArtifact:
    snapshot = visible_graph(engine, principal, whole=True, sources=True).snapshot
    artifact = snapshot.artifacts.get(id)
    if artifact is None:
        raise NotFound(f"There is no {id!r} here.", field="id")
    source = artifact.source.id if artifact.source else None
    nodes = dict.fromkeys(m.node for m in snapshot.mentions if m.source == source)
    related = [snapshot.nodes[node] for node in nodes]
    return ShownArtifact(
        artifact, tuple(RelatedNode(node.id, node.type, node.name) for node in related)
    )

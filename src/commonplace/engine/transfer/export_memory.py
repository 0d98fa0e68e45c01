"""Export: all that a user owns, without texts made of others' sources that may not be read now."""

from __future__ import annotations

from dataclasses import replace

from commonplace.engine.context import EngineContext
from commonplace.engine.graph.visible_graph import visible_graph
from commonplace.engine.memories.listing import gather_export
from commonplace.model.access.principal import Principal
from commonplace.model.export.archive import ScopeExport
from commonplace.model.graph.snapshot import WholeGraph


def export_memory(engine: EngineContext, principal: Principal) -> ScopeExport:
    export = gather_export(engine, principal)
    return replace(export, graph=_without_hidden_stories(engine, principal, export.graph))


def _without_hidden_stories(
    engine: EngineContext, principal: Principal, graph: WholeGraph
) -> WholeGraph:
    """Without storylines of others' sources that may not be read now, and the macros that tell of
    such a storyline."""
    own = principal.own_scope.key
    cited = {each.id for line in graph.storylines for each in line.sources if each.scope != own}
    if not cited:
        return graph
    readable = visible_graph(engine, principal, whole=True, sources=True).snapshot.sources
    hidden = cited - readable.keys()
    storylines = tuple(
        line for line in graph.storylines if hidden.isdisjoint(each.id for each in line.sources)
    )
    kept = {line.id for line in storylines}
    macros = tuple(macro for macro in graph.macros if kept.issuperset(macro.storylines))
    return replace(graph, storylines=storylines, macros=macros)

"""Categories: list and explain them, check an agent's allowlist."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from commonplace.engine.access import visibility_of
from commonplace.engine.context import EngineContext
from commonplace.errors import NotAllowed
from commonplace.model.access.principal import Principal
from commonplace.model.filters import OWNER_VISIBILITY
from commonplace.model.memory.kinds import (
    DEFAULT_ALLOWLIST,
    Allowlist,
    Categories,
    ContextMode,
    fold_agent_name,
)
from commonplace.model.memory.memory import State
from commonplace.model.sources.source import SOURCE_CATEGORY


@dataclass(frozen=True, slots=True)
class ExplainedCategory:
    name: str
    context: ContextMode
    rag_length: int | None  # of mode rag
    is_system: bool
    is_named: bool  # by the file; other words are categories like any other once they are used
    memories: int  # live ones
    passages: int
    agents: tuple[str, ...]  # whose allowlists name it
    line: int | None  # where the file says so; None: nowhere


@dataclass(frozen=True, slots=True)
class KnownCategories:
    origin: str | None  # the file; it and what is wrong with it are told to the owner alone
    problem: str | None  # why its newest state does not count
    categories: tuple[ExplainedCategory, ...]
    allowlists: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class CheckedCategory:
    agent: str
    category: str
    is_allowed: bool
    because: str


def list_categories(engine: EngineContext, principal: Principal) -> KnownCategories:
    """To an agent only its own; to the owner all, with those that are only in use."""
    said = engine.categories()
    counts = _count_by_category(engine, principal)
    names = [name for name in said.categories if visibility_of(principal).admits_category(name)]
    names += sorted(counts.memories.keys() - said.categories.keys())
    return KnownCategories(
        said.origin if principal.is_owner else None,
        said.problem if principal.is_owner else None,
        tuple(_explain(said, name, counts, principal) for name in names),
        {
            name: tuple(sorted(each.categories))
            for name, each in said.allowlists.items()
            if principal.is_owner or name == said.allowlist_of(str(principal.agent)).agent
        },
    )


def explain_category(engine: EngineContext, principal: Principal, name: str) -> ExplainedCategory:
    if not visibility_of(principal).admits_category(name):
        raise NotAllowed(f"{principal.agent} may not read the category {name!r}.", field="category")
    return _explain(engine.categories(), name, _count_by_category(engine, principal), principal)


def check_category(
    engine: EngineContext, principal: Principal, agent: str, category: str
) -> CheckedCategory:
    """May this agent see that category, and which line says so?"""
    if principal.agent is not None and fold_agent_name(agent) != fold_agent_name(principal.agent):
        raise NotAllowed(f"{principal.agent} may only ask about itself.", field="reader")
    said = engine.categories()
    listed = said.allowlist_of(agent)
    allowed = category in listed.categories
    where = _location(said, listed) if principal.is_owner else ""
    return CheckedCategory(agent, category, allowed, _reason(listed, agent, allowed) + where)


def _reason(listed: Allowlist, agent: str, allowed: bool) -> str:
    whose = f"the allowlist {listed.agent!r}"
    if fold_agent_name(listed.agent) == DEFAULT_ALLOWLIST != fold_agent_name(agent):
        whose += f" (there is none of {agent!r})"
    return f"{whose} {'names' if allowed else 'does not name'} it"


def _location(said: Categories, listed: Allowlist) -> str:
    return f" ({said.origin}, line {listed.line})" if listed.line else f" ({said.origin})"


def _explain(
    said: Categories, name: str, counts: _CategoryCounts, principal: Principal
) -> ExplainedCategory:
    category = said.known(name)
    readers = said.readers_of(name)
    own = said.allowlist_of(principal.agent).agent if principal.agent else None
    return ExplainedCategory(
        name=name,
        context=category.context,
        rag_length=category.rag_length if category.context is ContextMode.RAG else None,
        is_system=category.system,
        is_named=name in said.categories,
        memories=counts.memories.get(name, 0),
        passages=counts.passages if name == SOURCE_CATEGORY else 0,
        agents=readers if own is None else tuple(each for each in readers if each == own),
        line=category.line,
    )


@dataclass(frozen=True, slots=True)
class _CategoryCounts:
    memories: Mapping[str, int]  # by category
    passages: int


def _count_by_category(engine: EngineContext, principal: Principal) -> _CategoryCounts:
    seen = OWNER_VISIBILITY if principal.is_owner else visibility_of(principal)
    census = engine.store.statistics(principal.scope, engine.clock(), seen)
    counts: Counter[str] = Counter()
    for row in census.memories:
        if row.state == State.ACTIVE:
            counts[row.category] += row.count
    live = [each.passages for each in census.sources if each.state == State.ACTIVE]
    return _CategoryCounts(dict(counts), sum(live))

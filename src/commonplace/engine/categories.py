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
    rag_length: int | None  # in mode rag
    is_system: bool
    is_named: bool  # in the file; any other word becomes a category when it is used
    memories: int  # active ones
    passages: int
    agents: tuple[str, ...]  # with allowlists that name it
    line: int | None  # in the file; None: not in the file


@dataclass(frozen=True, slots=True)
class KnownCategories:
    origin: str | None  # the file; it and its problem are shown to the owner only
    problem: str | None  # why the newest version of the file is not used
    categories: tuple[ExplainedCategory, ...]
    allowlists: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class CheckedCategory:
    agent: str
    category: str
    is_allowed: bool
    because: str


def list_categories(engine: EngineContext, principal: Principal) -> KnownCategories:
    """An agent gets those that it may read; the owner gets all, including categories in use that
    the file does not name."""
    file = engine.categories()
    counts = _count_by_category(engine, principal)
    names = [name for name in file.categories if visibility_of(principal).admits_category(name)]
    names += sorted(counts.memories.keys() - file.categories.keys())
    return KnownCategories(
        file.origin if principal.is_owner else None,
        file.problem if principal.is_owner else None,
        tuple(_explain(file, name, counts, principal) for name in names),
        {
            name: tuple(sorted(each.categories))
            for name, each in file.allowlists.items()
            if principal.is_owner or name == file.allowlist_of(str(principal.agent)).agent
        },
    )


def explain_category(engine: EngineContext, principal: Principal, name: str) -> ExplainedCategory:
    if not visibility_of(principal).admits_category(name):
        raise NotAllowed(f"{principal.agent} may not read the category {name!r}.", field="category")
    return _explain(engine.categories(), name, _count_by_category(engine, principal), principal)


def check_category(
    engine: EngineContext, principal: Principal, agent: str, category: str
) -> CheckedCategory:
    """Whether this agent may read that category, and which line of the file decides."""
    if principal.agent is not None and fold_agent_name(agent) != fold_agent_name(principal.agent):
        raise NotAllowed(f"{principal.agent} may only ask about itself.", field="reader")
    file = engine.categories()
    allowlist = file.allowlist_of(agent)
    allowed = category in allowlist.categories
    location = _location(file, allowlist) if principal.is_owner else ""
    return CheckedCategory(agent, category, allowed, _reason(allowlist, agent, allowed) + location)


def _reason(allowlist: Allowlist, agent: str, allowed: bool) -> str:
    subject = f"the allowlist {allowlist.agent!r}"
    if fold_agent_name(allowlist.agent) == DEFAULT_ALLOWLIST != fold_agent_name(agent):
        subject += f" (there is none of {agent!r})"
    return f"{subject} {'names' if allowed else 'does not name'} it"


def _location(file: Categories, allowlist: Allowlist) -> str:
    return f" ({file.origin}, line {allowlist.line})" if allowlist.line else f" ({file.origin})"


def _explain(
    file: Categories, name: str, counts: _CategoryCounts, principal: Principal
) -> ExplainedCategory:
    category = file.known(name)
    readers = file.readers_of(name)
    own_allowlist = file.allowlist_of(principal.agent).agent if principal.agent else None
    return ExplainedCategory(
        name=name,
        context=category.context,
        rag_length=category.rag_length if category.context is ContextMode.RAG else None,
        is_system=category.system,
        is_named=name in file.categories,
        memories=counts.memories.get(name, 0),
        passages=counts.passages if name == SOURCE_CATEGORY else 0,
        agents=readers
        if own_allowlist is None
        else tuple(each for each in readers if each == own_allowlist),
        line=category.line,
    )


@dataclass(frozen=True, slots=True)
class _CategoryCounts:
    memories: Mapping[str, int]  # by category
    passages: int


def _count_by_category(engine: EngineContext, principal: Principal) -> _CategoryCounts:
    visibility = OWNER_VISIBILITY if principal.is_owner else visibility_of(principal)
    census = engine.store.statistics(principal.scope, engine.clock(), visibility)
    counts: Counter[str] = Counter()
    for row in census.memories:
        if row.state == State.ACTIVE:
            counts[row.category] += row.count
    live = [each.passages for each in census.sources if each.state == State.ACTIVE]
    return _CategoryCounts(dict(counts), sum(live))

"""Origins of signals: whether what a signal cites is the owner's word or an agent's.

An agent can write any number of memories and sources. What it wrote itself therefore supports its
proposals no more than its bare word does, and all that another agent wrote counts as one origin.
Turns of the owner that an agent observed are the owner's words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from commonplace.engine.context import EngineContext
from commonplace.engine.provenance.evidence import source_of_evidence, supporting_passages
from commonplace.language.text.normalise import fold
from commonplace.model.access.principal import OWNER_ACTOR_PREFIX, Scope
from commonplace.model.journal import JournalNode
from commonplace.model.memory.memory import Memory
from commonplace.model.profile.fields import PROFILE_PREFIX, Signal, SignalKind
from commonplace.model.sources.source import THREAD_ORIGIN, Passage, Source, SpeakerRole
from commonplace.store.queries import JournalQuery, PassagesOf


@dataclass(frozen=True, slots=True)
class _Origin:
    texts: dict[str, str]  # what can be quoted, by the id of the item that says it
    agents: frozenset[str] = frozenset()  # that wrote it; empty: the owner's words

    def cited_id(self, signal: Signal) -> str | None:
        """What counts as its origin; None: it is the agent's own, or does not say what is
        quoted."""
        places = [id for id, text in self.texts.items() if _quotes(signal, text)]
        if not places or signal.actor in self.agents:
            return None
        return " ".join(sorted(self.agents)) or places[0]


@dataclass(frozen=True, slots=True)
class SignalOrigins:
    by_id: dict[str, _Origin] = field(default_factory=dict)

    def ground(self, signals: Iterable[Signal]) -> tuple[Signal, ...]:
        """The signals as they count: each cites only what its agent did not write itself."""
        return tuple(map(self._grounded, signals))

    def _grounded(self, signal: Signal) -> Signal:
        cited = [self.by_id[id] for id in (signal.source_id, signal.memory_id) if id in self.by_id]
        is_own = bool(cited) and all(signal.actor in each.agents for each in cited)
        ids = dict.fromkeys(id for each in cited if (id := each.cited_id(signal)))
        source, memory, *_ = (*ids, None, None)
        # What an agent infers from its own words is no insight about the owner.
        kind = SignalKind.HEARD if is_own else signal.kind
        return replace(signal, kind=kind, source_id=source, memory_id=memory)


def _quotes(signal: Signal, text: str) -> bool:
    said = _plain(text)
    return all(_plain(words) in said for words in signal.evidence)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def load_signal_origins(
    engine: EngineContext, scope: Scope, signals: Iterable[Signal]
) -> SignalOrigins:
    cited = {id for each in signals for id in (each.source_id, each.memory_id) if id}
    if not cited:
        return SignalOrigins()
    with engine.store.read_session():
        return SignalOrigins(_OriginReader(engine, scope).read(sorted(cited)))


class _OriginReader:
    def __init__(self, engine: EngineContext, scope: Scope):
        self.engine = engine
        self.scope = scope
        self.passages: dict[str, list[Passage]] = {}
        named = engine.store.fetch(scope, [PROFILE_PREFIX + "preferred_name"])
        self.owner_names = {fold(str(each.metadata.get("value", ""))) for each in named}
        self.owner_names.add(fold(scope.name))

    def read(self, ids: Sequence[str]) -> dict[str, _Origin]:
        memories = self.engine.store.fetch(self.scope, ids)
        sources = self.engine.live_sources(self.scope, ids)
        rests_on = {
            source_of_evidence(id) for memory in memories for id in supporting_passages(memory)
        }
        supporting = self.engine.live_sources(self.scope, sorted(rests_on))
        observed = {each.id for each in supporting if each.origin == THREAD_ORIGIN}
        return {each.id: self._of_source(each) for each in sources} | {
            each.id: self._of_memory(each, observed) for each in memories
        }

    def _of_source(self, source: Source) -> _Origin:
        if source.origin == THREAD_ORIGIN and (turns := self._owner_turns(source.id)):
            return _Origin({source.id: _joined(turns)})
        said = _joined(self._passages_of(source.id))
        return _Origin({source.id: said}, self._writing_agents(source.id))

    def _of_memory(self, memory: Memory, observed: set[str]) -> _Origin:
        """``observed``: sources of conversations. An agent's memory of what the owner said counts
        as the conversation that it rests on: several memories of that are one origin."""
        agents = self._writing_agents(memory.id)
        rests_on = set(map(source_of_evidence, supporting_passages(memory))) & observed
        said = {id: self._owner_turns(id) for id in sorted(rests_on)}
        texts = {id: _joined(turns) for id, turns in said.items() if turns}
        if agents and texts:
            return _Origin(texts)
        return _Origin({memory.id: memory.searchable_text}, agents)

    def _owner_turns(self, conversation: str) -> list[Passage]:
        return [each for each in self._passages_of(conversation) if self._is_by_owner(each)]

    def _is_by_owner(self, passage: Passage) -> bool:
        is_named = passage.speaker is None or fold(passage.speaker) in self.owner_names
        return passage.role == SpeakerRole.USER and is_named

    def _passages_of(self, source: str) -> list[Passage]:
        if source not in self.passages:
            found = self.engine.store.passages(self.scope, PassagesOf(source))
            self.passages[source] = list(found.values())
        return self.passages[source]

    def _writing_agents(self, id: str) -> frozenset[str]:
        """Of any version: an agent could otherwise write its words into an item of the owner's."""
        rows = self.engine.store.journal(self.scope, JournalQuery(subject=id))
        return frozenset(
            row.actor
            for row in rows
            if row.actor
            and row.entry.new_ref
            and row.entry.node is not JournalNode.WORKER
            and not row.actor.startswith(OWNER_ACTOR_PREFIX)
        )


def _joined(passages: Iterable[Passage]) -> str:
    return "\n".join(each.text for each in passages)

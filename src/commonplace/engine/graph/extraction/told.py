"""Told statements: what memories and conversation turns say reaches the graph with them.

A memory that somebody tells is extracted in the transaction that stores it, and its assertions cite
it: they are hidden, restored and removed with it. The turns of a conversation are extracted when
they arrive, too; a job extracts the whole conversation later, with what was said before and after.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from commonplace.engine.context import EngineContext
from commonplace.engine.graph.extraction.extraction_input import build_extraction_input
from commonplace.engine.graph.extraction.import_extraction import cite_source, import_statements
from commonplace.engine.graph.graph_diff import diff_graph
from commonplace.engine.graph.kept_ends import ChangedStatements, change_statements, release_cited
from commonplace.engine.graph.remove import load_assertions_of, set_cited_sensitivity
from commonplace.engine.graph.unit_of_work import GraphUnitOfWork, describe_owner
from commonplace.engine.graph.user_assertions import moment_after
from commonplace.engine.prompt_injection import is_prompt_injection
from commonplace.engine.provenance.evidence import source_of_evidence
from commonplace.language.extract.extract import extract
from commonplace.language.extract.values import (
    AttributedPassage,
    ExtractionInput,
    OwnerIdentity,
    SourceExtraction,
)
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import (
    AddMemory,
    AddSource,
    ChangeMemory,
    Changeset,
    ChangesetStep,
    ChangeSource,
    RemoveMemory,
    RewriteMemory,
)
from commonplace.model.graph.assertion import CitedSource
from commonplace.model.graph.snapshot import CALLER_ACTOR
from commonplace.model.journal import Event, Op
from commonplace.model.memory.kinds import POLICIES
from commonplace.model.memory.memory import HEARSAY_FACET, Memory, State
from commonplace.model.profile.fields import is_profile_item
from commonplace.model.sources.source import (
    THREAD_ORIGIN,
    Passage,
    ProcessingStatus,
    Source,
    SourceType,
)

# A graph item has the category of its type: what is kept in a category of the user's own, or is an
# instruction, stays out of it. Statements of the owner about themself are in the profile.
TOLD_CATEGORIES = frozenset(
    (
        "knowledge",
        "relationships",
        "interests",
        "preferences",
        "goals",
        "tasks",
        "projects",
        "event",
        "activity",
        "profile",
    )
)
MAX_TOLD_LENGTH = 2_000  # characters; longer texts are sources
_PASSAGE = 1

_OWNERS = re.compile(r"\b(?:the )?user['’]s\b", re.IGNORECASE)
_OWNER_DOES = re.compile(
    r"\b(?:the )?user (like|love|hate|dislike|enjoy|want|prefer|need|value|use|play|own)s\b",
    re.IGNORECASE,
)
_OWNER = re.compile(r"\bthe user\b|^user\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class HandedFindings:
    """What a caller found in turns of a conversation, with the numbers of their passages."""

    source: Source
    found: SourceExtraction


@dataclass(slots=True)
class ToldChanges:
    """What a changeset does to told memories, and the texts that it tells."""

    told: list[Memory] = field(default_factory=list)
    turns: list[tuple[Source, tuple[Passage, ...]]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)
    guarded: list[Memory] = field(default_factory=list)  # with another sensitivity
    rewritten: set[str] = field(default_factory=set)  # those of ``gone`` that are told again
    revived: list[Memory] = field(default_factory=list)  # were superseded, and are current again
    ended: Event = Event.DELETE  # or an erasure

    @property
    def removes(self) -> bool:
        return bool(self.gone or self.hidden or self.restored or self.guarded or self.revived)

    @property
    def revived_ids(self) -> set[str]:
        """Memories, and the passages that state them."""
        return {id for memory in self.revived for id in (memory.id, *memory.evidence)}

    @property
    def tells(self) -> bool:
        return bool(self.told or self.turns)


def find_told_changes(steps: Iterable[ChangesetStep]) -> ToldChanges:
    changes = ToldChanges()
    for step in steps:
        match step:
            case AddMemory() | AddSource() if step.entry.op is Op.IMPORT:
                continue  # the imported graph has what they say
            case AddMemory():
                _tell(changes, step.memory)
            case RewriteMemory():
                changes.gone.append(step.memory.id)
                changes.rewritten.add(step.memory.id)
                changes.ended = Event.ERASE
                _tell(changes, step.memory)
            case RemoveMemory():
                changes.gone.append(step.id)
                if step.entry.event is Event.ERASE:
                    changes.ended = Event.ERASE
            case ChangeMemory():
                _follow_change(changes, step)
            case AddSource(source=source) | ChangeSource(after=source) if step.passages:
                if _is_thread(source):
                    changes.turns.append((source, tuple(each for each, _ in step.passages)))
            case _:
                continue
    return changes


def _follow_change(changes: ToldChanges, step: ChangeMemory) -> None:
    before, after = step.before, step.after
    if before.state is State.SUPERSEDED and after.state is State.ACTIVE:
        changes.revived.append(after)
    if before.source_id is not None:
        return
    if before.content != after.content:
        changes.gone.append(after.id)
        changes.rewritten.add(after.id)
        _tell(changes, after)
    elif State.SOFT_DELETED in (before.state, after.state) and before.state is not after.state:
        is_hidden = after.state is State.SOFT_DELETED
        (changes.hidden if is_hidden else changes.restored).append(after.id)
    elif before.sensitivity is not after.sensitivity:
        changes.guarded.append(after)


def _tell(changes: ToldChanges, memory: Memory) -> None:
    if (
        memory.source_id is None
        and POLICIES[memory.kind].reaches_graph
        and memory.category in TOLD_CATEGORIES
        and memory.source_type in (None, SourceType.CHAT)
        and memory.expires_at is None
        and memory.state is not State.SOFT_DELETED
        and memory.facet != HEARSAY_FACET
        and not is_profile_item(memory.id)
        and len(memory.content) <= MAX_TOLD_LENGTH
    ):
        changes.told.append(memory)


def _is_thread(source: Source) -> bool:
    is_ready = source.status is not ProcessingStatus.RAW and source.state is State.ACTIVE
    return source.origin == THREAD_ORIGIN and is_ready and source.scope.is_user


def told_steps(
    engine: EngineContext, changeset: Changeset, changes: ToldChanges
) -> tuple[ChangesetStep, ...]:
    """What the changes mean for the owner's graph."""
    scope, handed = changeset.scope, _handed_over(changeset)
    tells, removes = changes.tells and engine.extracts, changes.removes
    if not scope.is_user or not (tells or removes or handed):
        return ()
    with engine.store.read_session():
        removes = removes and engine.store.counters(scope).graph > 0
        texts = list(_extracted_texts(engine, changeset, changes)) if tells else []
        if not removes and not texts and not handed:
            return ()
        work = GraphUnitOfWork(engine, scope, changeset.actor, changeset.at)
        if removes:
            follow_removals(work, changes, ChangedStatements())
        _add_statements(work, changes, texts, handed)
        return diff_graph(work, ended=changes.ended, is_derived=True)


def tell(work: GraphUnitOfWork, changeset: Changeset, changes: ToldChanges) -> None:
    """Add what the changeset tells to a unit of work that does more."""
    tells = changes.tells and work.engine.extracts
    texts = list(_extracted_texts(work.engine, changeset, changes)) if tells else []
    _add_statements(work, changes, texts, _handed_over(changeset))


def _add_statements(
    work: GraphUnitOfWork,
    changes: ToldChanges,
    texts: Sequence[_ExtractedText],
    handed: Sequence[HandedFindings],
) -> None:
    for each in texts:
        said_at = dict.fromkeys(each.passages, each.cited.said_at) | each.said_at
        import_statements(work, each.cited, each.found, said_at)
    for one in handed:
        said_at = _said_at_in(changes, one)
        cited = cite_source(one.source)
        import_statements(work, cited, one.found, said_at, by=CALLER_ACTOR)


def _handed_over(changeset: Changeset) -> list[HandedFindings]:
    return [each for each in changeset.handed if _says_anything(each.found)]


def _said_at_in(changes: ToldChanges, handed: HandedFindings) -> dict[int, datetime]:
    """The times of the passages that are stored with it."""
    return {
        passage.number: passage.at
        for source, passages in changes.turns
        for passage in passages
        if source.id == handed.source.id
    }


def follow_removals(
    work: GraphUnitOfWork, changes: ToldChanges, changed: ChangedStatements
) -> None:
    """``changed``: what goes, is hidden or restored in the same decision for other reasons."""
    changed.gone += load_assertions_of(work, changes.gone)
    changed.hidden += load_assertions_of(work, changes.hidden)
    changed.restored += load_assertions_of(work, changes.restored)
    _release_revived(work, changes)
    change_statements(work, changed, changes.rewritten, changes.revived_ids)
    for memory in changes.guarded:
        load_assertions_of(work, [memory.id])
        set_cited_sensitivity(work, memory.id, memory.sensitivity)


def _release_revived(work: GraphUnitOfWork, changes: ToldChanges) -> None:
    if changes.revived:
        ids = changes.revived_ids
        load_assertions_of(work, sorted({source_of_evidence(id) for id in ids}))
        release_cited(work, ids)


@dataclass(frozen=True, slots=True)
class _ExtractedText:
    cited: CitedSource
    found: SourceExtraction
    passages: Sequence[int]
    said_at: dict[int, datetime]


def _extracted_texts(
    engine: EngineContext, changeset: Changeset, changes: ToldChanges
) -> Iterable[_ExtractedText]:
    """The texts that say something for the graph."""
    scope, at = changeset.scope, changeset.at
    snapshot = engine.graph_cache.of(scope).snapshot
    owner = describe_owner(engine, scope, snapshot.nodes.values())
    told_at = moment_after(snapshot.edges.values(), at)
    for memory in changes.told:
        found = _extract_memory(memory, owner, at)
        if _says_anything(found) and not is_prompt_injection(memory):
            yield _ExtractedText(_cite_memory(scope, memory, told_at), found, [_PASSAGE], {})
    for source, passages in changes.turns:
        spoken = tuple(each for each in passages if not each.suspicious)
        account = build_extraction_input(source, spoken, owner, scope.name)
        own = tuple(each for each in account.passages if not each.by_machine)
        found = _without_notes(extract(replace(account, passages=own))) if own else _NOTHING
        if _says_anything(found):
            said_at = {each.number: each.at for each in passages}
            yield _ExtractedText(cite_source(source), found, list(said_at), said_at)


_NOTHING = SourceExtraction()


def _without_notes(found: SourceExtraction) -> SourceExtraction:
    """The memory, or the turn, says what a note would repeat."""
    return replace(found, notes=(), candidates=())


def _says_anything(found: SourceExtraction) -> bool:
    return bool(found.edges) or any(not node.is_owner for node in found.nodes)


def _cite_memory(scope: Scope, memory: Memory, at: datetime) -> CitedSource:
    return CitedSource(
        scope=scope.key,
        id=memory.id,
        source_type=SourceType.CHAT,
        said_at=at,
        sensitivity=memory.sensitivity,
    )


def _extract_memory(memory: Memory, owner: OwnerIdentity, at: datetime) -> SourceExtraction:
    """The memory's start date is that of relations without a date of their own."""
    text = _as_said_by_owner(memory.content)
    passage = AttributedPassage(
        number=_PASSAGE,
        text=text,
        at=at,
        by_owner=memory.role != "assistant",
        by_machine=memory.role == "assistant",
    )
    found = _without_notes(
        extract(
            ExtractionInput(
                passages=(passage,),
                owner=owner,
                source_type=SourceType.CHAT,
                date=at,
            )
        )
    )
    if memory.valid_from is None:
        return found
    edges = (
        edge if edge.valid_from else replace(edge, valid_from=memory.valid_from)
        for edge in found.edges
    )
    return replace(found, edges=tuple(edges))


def _as_said_by_owner(text: str) -> str:
    """Agents write of "the user"; extraction knows the owner as "I"."""
    text = _OWNER_DOES.sub(r"I \1", _OWNERS.sub("my", text))
    return _OWNER.sub("I", text)

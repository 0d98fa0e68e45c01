"""Extraction input: attribute passages to speakers; queue team sources on first read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from commonplace.engine.access import principal_at_source, readable_scopes
from commonplace.engine.context import EngineContext
from commonplace.engine.follow_up_jobs import (
    EXTRACT_JOB,
    RULES_FIRST,
    build_extract_job,
    build_read_job,
)
from commonplace.engine.transaction import apply_changeset
from commonplace.language.fields.names import SPEAKER_ROLES
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import Changeset, EnqueueJob
from commonplace.model.graph.elements import Node
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.sources.source import Passage, Source, SourceType, SpeakerRole
from commonplace.store.queries import AssertionQuery, JobQuery

with lazy_imports(__name__):
    from commonplace.language.extract.people.participants import (
        has_other_speaker,
        identify_owner,
        parse_participant,
    )
    from commonplace.language.extract.values import (
        AttributedPassage,
        ExtractionInput,
        OwnerIdentity,
    )
    from commonplace.language.fields.phone_email import email_key
    from commonplace.language.observe.forget_requests import asks_only_to_forget
    from commonplace.language.safety.prompt_injection import is_suspicious
    from commonplace.language.text.normalise import fold_case
    from commonplace.language.text.sentences import unwrap_lines

# Without a speaker, these are the words of the user who ingested them.
_OWN_WORD_TYPES = frozenset({SourceType.VOICE_MEMO, SourceType.TEXT_IMPORT, SourceType.CHAT})
_MACHINE_ROLES = frozenset({"assistant", "system", "tool", "ai", "bot", "agent"})


def build_extraction_input(
    source: Source, passages: Sequence[Passage], owner: OwnerIdentity, reader: str
) -> ExtractionInput:
    passages = [each for each in passages if not _is_forget_request(each)]
    participants = tuple(_with_address(each, source) for each in source.participants)
    by_name = (
        each for each in participants if each != reader
    )  # the user who ingests it is listed by id
    speakers = (each.speaker for each in passages if each.speaker)
    owner = identify_owner(owner, map(parse_participant, dict.fromkeys((*by_name, *speakers))))
    names = {fold_case(name) for name in owner.names}
    foreign = _parts_by_others(passages, owner.names)
    # A name in another user's source proves nothing: they may have written it.
    is_readers = source.user_id == reader
    return ExtractionInput(
        passages=tuple(
            _read_passage(
                each,
                source,
                names if is_readers else set(),
                is_readers and _part_of(each) not in foreign,
            )
            for each in passages
        ),
        owner=owner,
        source_type=source.source_type,
        date=source.started_at or source.created_at,
        participants=participants,
        title="" if is_suspicious(source.title) else source.title,
    )


def _is_forget_request(passage: Passage) -> bool:
    """It says nothing about what it names."""
    return passage.role == SpeakerRole.USER and asks_only_to_forget(passage.text)


def readable_text(passage: Passage) -> str:
    return unwrap_lines(passage.text)


def _parts_by_others(passages: Sequence[Passage], owner: Collection[str]) -> set[int | None]:
    """The parts without a named speaker whose text shows another speaker."""
    texts: dict[int | None, list[str]] = {}
    for each in passages:
        if not each.speaker or fold_case(each.speaker) in SPEAKER_ROLES:
            texts.setdefault(_part_of(each), []).append(each.text)
    return {part for part, lines in texts.items() if has_other_speaker(lines, owner)}


def _part_of(passage: Passage) -> int | None:
    """A turn of a conversation, which may hold a pasted chat; None: the whole source."""
    return passage.turn if passage.role else None


def _with_address(name: str, source: Source) -> str:
    """With the address from the mail header: it identifies a person under any name."""
    addresses = source.provenance.get("addresses")
    address = addresses.get(name) if isinstance(addresses, Mapping) else None
    return f"{name} <{address}>" if address else name


def _read_passage(
    passage: Passage, source: Source, names: set[str], is_own: bool
) -> AttributedPassage:
    """``is_own``: without a named speaker, the passage is by the reader, who ingested it."""
    speaker, role = fold_case(passage.speaker or ""), fold_case(passage.role or "")
    is_named = bool(speaker) and speaker not in SPEAKER_ROLES
    by_machine = role in _MACHINE_ROLES or speaker in _MACHINE_ROLES
    text = readable_text(passage)
    is_own_word = role in ("user", "human") or source.source_type in _OWN_WORD_TYPES
    return AttributedPassage(
        number=passage.number,
        text=text,
        at=source.local_time(passage.at),
        speaker=passage.speaker if is_named else None,
        by_owner=not by_machine and (speaker in names if is_named else is_own and is_own_word),
        by_machine=by_machine,
        suspicious=passage.suspicious,
    )


def load_owner_nicknames(
    engine: EngineContext, scope: Scope, nodes: Iterable[Node], passages: Iterable[Passage]
) -> dict[str, str]:
    """Names by the addresses of these speakers. Only user assertions count: a name from another
    source would stay in this source's memories after that one is erased."""
    addresses = {email_key(each.speaker) for each in passages if each.speaker} - {None}
    if not addresses:
        return {}
    people = {
        node.id: node
        for node in nodes
        if node.sensitivity is not Sensitivity.HIGH
        and addresses & {email_key(address) for address in node.addresses}
    }
    assertions = engine.store.assertions(scope, AssertionQuery(nodes=[*people])).nodes
    user_given = {(t.node, t.name) for t in assertions if t.source is None and t.stands}
    return {
        key: node.name
        for node in people.values()
        if (node.id, node.name) in user_given
        for key in map(email_key, node.addresses)
        if key is not None
    }


def queue_first_extraction(
    engine: EngineContext, principal: Principal, sources: Iterable[str]
) -> None:
    """Queue an extraction job for each of these team sources that has none yet, and one for a
    language model, if there is one."""
    wanted = list(dict.fromkeys(sources))
    if not wanted or not engine.extracts:
        return
    scope, now = principal.own_scope, engine.clock()
    known = _already_extracted(engine, scope, wanted)
    known |= {
        job.key for job in engine.store.jobs(scope, JobQuery(kinds=[EXTRACT_JOB], keys=wanted))
    }
    new = [
        id for id in wanted if id not in known and principal_for_extraction(engine, principal, id)
    ]
    steps = [EnqueueJob(build_extract_job(id, scope, engine.new_id(), now)) for id in new]
    if engine.model is not None:
        due = now + RULES_FIRST
        steps += [EnqueueJob(build_read_job(id, scope, engine.new_id(), due, now)) for id in new]
    if steps:
        apply_changeset(engine, None, Changeset(scope, now, principal.actor, tuple(steps)))


def principal_for_extraction(engine: EngineContext, reader: Principal, id: str) -> Principal | None:
    """The reader in the source's scope: their own, or a team that they are a member of. None for a
    guest, who may read a source but does not extract it."""
    principal = principal_at_source(engine, reader, id)
    if principal.is_in_own_scope:
        return principal
    readable = readable_scopes(engine, reader, searching=False)
    is_member = any(each.scope == principal.scope and not each.is_guest for each in readable)
    return principal if is_member else None


def _already_extracted(engine: EngineContext, reader: Scope, wanted: Sequence[str]) -> set[str]:
    extractions = {each.source: each for each in engine.store.extractions(reader, wanted)}
    sources = [
        source
        for owner in {each.scope for each in extractions.values()}
        for source in engine.live_sources(Scope(owner), list(extractions))
    ]
    return {source.id for source in sources if extractions[source.id].is_all_of(source)}

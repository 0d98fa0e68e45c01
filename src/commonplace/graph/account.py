"""A source as extraction reads it: who said what, and which of it is the reader's own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from commonplace.language.extracting.found import Account, Owner, Said
from commonplace.language.extracting.owner_here import as_called_here
from commonplace.language.extracting.taking_part import as_listed
from commonplace.language.extracting.voices import another_speaks
from commonplace.language.names import ROLES
from commonplace.language.normalise import fold_case
from commonplace.language.without_orders import without_orders
from commonplace.language.wrapped import unwrapped
from commonplace.model.source import Passage, Source, SourceType

# Without a speaker these are the words of whoever brought them.
_OWN_WORDS = frozenset({SourceType.VOICE_MEMO, SourceType.TEXT_IMPORT, SourceType.CHAT})
_MACHINES = frozenset({"assistant", "system", "tool", "ai", "bot", "agent"})


def account_of(source: Source, passages: Sequence[Passage], owner: Owner, reader: str) -> Account:
    participants = tuple(_with_address(each, source) for each in source.participants)
    by_name = (each for each in participants if each != reader)  # whoever brings it is listed by id
    speakers = (each.speaker for each in passages if each.speaker)
    owner = as_called_here(owner, map(as_listed, dict.fromkeys((*by_name, *speakers))))
    names = {fold_case(name) for name in owner.names}
    foreign = _of_others(passages, owner.names)
    is_readers = source.user_id == reader
    return Account(
        said=tuple(
            _said(each, source, names, is_readers and _part(each) not in foreign)
            for each in passages
        ),
        owner=owner,
        source_type=source.source_type,
        date=source.started_at or source.created_at,
        participants=participants,
        title=source.title,
    )


def words_to_read(passage: Passage) -> str:
    return unwrapped(without_orders(passage.text) if passage.suspicious else passage.text)


def _of_others(passages: Sequence[Passage], owner: Collection[str]) -> set[int | None]:
    """The parts in which somebody else speaks, of those that name no speaker."""
    texts: dict[int | None, list[str]] = {}
    for each in passages:
        if not each.speaker or fold_case(each.speaker) in ROLES:
            texts.setdefault(_part(each), []).append(each.text)
    return {part for part, said in texts.items() if another_speaks(said, owner)}


def _part(passage: Passage) -> int | None:
    """A turn of a talk with an agent, into which somebody pasted a chat; or the whole source."""
    return passage.turn if passage.role else None


def _with_address(name: str, source: Source) -> str:
    """As a mail's header has them: by the address somebody is known again under any name."""
    addresses = source.provenance.get("addresses")
    address = addresses.get(name) if isinstance(addresses, Mapping) else None
    return f"{name} <{address}>" if address else name


def _said(passage: Passage, source: Source, names: set[str], is_own: bool) -> Said:
    """``is_own``: where nobody is named, whoever brought it speaks, and that is the reader."""
    speaker, role = fold_case(passage.speaker or ""), fold_case(passage.role or "")
    is_named = bool(speaker) and speaker not in ROLES
    by_machine = role in _MACHINES or speaker in _MACHINES
    text = words_to_read(passage)
    own = role in ("user", "human") or source.source_type in _OWN_WORDS
    return Said(
        number=passage.number,
        text=text,
        at=passage.at,
        speaker=passage.speaker if is_named else None,
        by_owner=not by_machine and (speaker in names if is_named else is_own and own),
        by_machine=by_machine,
        suspicious=passage.suspicious and not text.strip(),
    )

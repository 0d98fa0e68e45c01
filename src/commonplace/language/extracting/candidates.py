"""Memories that a source may leave: with the reader that looks at turns, and what sources add.

The owner's words are the owner's; what others say is hearsay; a document that nobody speaks in
tells only what is so whoever reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from commonplace.language.contacts import email_key
from commonplace.language.echoes import without_echoes
from commonplace.language.extracting.found import KEPT_FROM, Account, Said
from commonplace.language.extracting.taking_part import as_listed
from commonplace.language.extracting.utterances import BULLETS
from commonplace.language.normalise import fold
from commonplace.language.observing.candidate import STORED_FROM, Candidate
from commonplace.language.observing.hearsay import as_hearsay
from commonplace.language.observing.turn import candidates_in
from commonplace.language.suspicious import is_suspicious
from commonplace.model.kinds import Kind
from commonplace.model.source import SourceType

# Never orders: they are taken from the owner's own mouth, and not from what is read.
_KEPT = frozenset({Kind.FACT, Kind.EVENT, Kind.KV, Kind.CONTACT, Kind.NOTE, Kind.INSIGHT})
# How sure the reader of turns is, weighed by where it reads: a source begins at a floor, and what
# is said plainly rises above it.
_STARTS = {
    SourceType.EMAIL: 0.7,
    SourceType.SLACK_THREAD: 0.72,
    SourceType.FILE: 0.75,
    SourceType.TEXT_IMPORT: 0.75,
    SourceType.MEETING: 0.75,
    SourceType.VOICE_MEMO: 0.8,
}
_FEWEST_WORDS = 4  # of a statement: "About the move." is none
_RISE = 0.5  # of what the reader is surer than it has to be
_FIRST_PERSON = re.compile(
    r"\b(?:I|me|my|mine|we|us|our|ours|myself)\b|(?<![א-ת])(?:אני|אנחנו|שלי|שלנו|לי|לנו)(?![א-ת])",
    re.IGNORECASE,
)
# In Hebrew the ending of a word says "my", and what is retold says whose it is: «בעלה של המשתמשת».
_USER = re.compile(r"\bthe user\b|[הל]משתמש", re.IGNORECASE)
# Of a mail that was forwarded, what stands above its text: two lines or more.
_HEADERS = re.compile(
    r"(?:^[>* \t]{0,8}(?:from|to|cc|date|sent|subject|reply-to|von|an|datum|gesendet|betreff"
    r"|מאת|אל|תאריך|נשלח|נושא)\*{0,2}:[^\n]*(?:\n|$)){2,}",
    re.IGNORECASE | re.MULTILINE,
)


def candidates(account: Account) -> tuple[tuple[int, Candidate], ...]:
    """With the number of their passage, each once."""
    found: dict[str, tuple[int, Candidate]] = {}
    for said in account.said:
        if said.by_machine or said.suspicious:
            continue
        for candidate in _in_passage(account, said):
            found.setdefault(fold(candidate.content), (said.number, candidate))
    return tuple(found.values())


def _in_passage(account: Account, said: Said) -> Iterator[Candidate]:
    text = without_echoes(said.text, BULLETS)
    if account.source_type is SourceType.EMAIL:
        text = _HEADERS.sub("\n", text)
    called = () if said.by_owner or said.speaker is None else _called(said.speaker, account)
    speaker = called[0] if called else None
    for one in candidates_in(text, speaker=speaker, said_at=said.at):
        if not isinstance(one, Candidate) or one.confidence < STORED_FROM:
            continue
        candidate = _as_told(one, said, called)
        if candidate is None or not _may_be_kept(candidate):
            continue
        candidate = replace(candidate, confidence=_confidence(candidate, account.source_type))
        if candidate.confidence >= KEPT_FROM:
            yield candidate


def _called(speaker: str, account: Account) -> tuple[str, ...]:
    """What a speaker is called, the best first. Who writes under an address alone: as the owner
    calls them, else as this source or the address itself does."""
    address = email_key(speaker)
    if address is None:
        return (speaker,)
    listed = [one.name for one in map(as_listed, account.participants) if one.address == address]
    names = (account.called.get(address, ""), *listed, as_listed(speaker).name, speaker)
    return tuple(dict.fromkeys(filter(None, names)))


def _as_told(candidate: Candidate, said: Said, called: tuple[str, ...]) -> Candidate | None:
    if said.by_owner:
        return candidate
    if not called:
        is_of_the_speaker = _FIRST_PERSON.search(candidate.trigger) or _USER.search(
            candidate.content
        )
        return None if is_of_the_speaker else candidate
    told = as_hearsay(candidate, called[0])
    if told is None:
        return None
    otherwise = (told.content.replace(called[0], name) for name in called[1:])
    return replace(told, otherwise=tuple(otherwise))


def _may_be_kept(candidate: Candidate) -> bool:
    """What waits for consent is asked for in talk alone."""
    said = (candidate.content, candidate.trigger)
    is_statement = candidate.kind not in (Kind.KV, Kind.CONTACT)
    if is_statement and len(candidate.content.split()) < _FEWEST_WORDS:
        return False
    return (
        candidate.kind in _KEPT and not candidate.is_sensitive and not any(map(is_suspicious, said))
    )


def _confidence(candidate: Candidate, source: SourceType) -> float:
    start = _STARTS.get(source)
    if start is None:
        return candidate.confidence
    rise = max(0.0, candidate.confidence - STORED_FROM) * _RISE
    return round(min(candidate.confidence, start + rise), 2)

"""Memory candidates of a source: attributed to the speaker, confidence by source type.

The owner's words are the owner's; what others say is hearsay; a document that nobody speaks in
tells only what is so whoever reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from commonplace.language.extract.people.participants import parse_participant
from commonplace.language.extract.sentences import ECHO_BULLETS
from commonplace.language.extract.values import MIN_CONFIDENCE, AttributedPassage, ExtractionInput
from commonplace.language.fields.phone_email import email_key
from commonplace.language.observe.own_words import remove_recalled_lines
from commonplace.language.observe.turn import find_candidates, to_hearsay
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.language.text.normalise import fold
from commonplace.model.memory.candidate import MIN_STORED_CONFIDENCE, MemoryCandidate
from commonplace.model.memory.kinds import POLICIES
from commonplace.model.sources.source import SourceType

# How sure the reader of turns is, weighed by where it reads: a source begins at a floor, and what
# is said plainly rises above it.
_SOURCE_FLOORS = {
    SourceType.EMAIL: 0.7,
    SourceType.SLACK_THREAD: 0.72,
    SourceType.FILE: 0.75,
    SourceType.TEXT_IMPORT: 0.75,
    SourceType.MEETING: 0.75,
    SourceType.VOICE_MEMO: 0.8,
}
_MIN_WORDS = 4  # of a statement: "About the move." is none
_CONFIDENCE_SLOPE = 0.5  # of what the reader is surer than it has to be
_FIRST_PERSON = re.compile(
    r"\b(?:I|me|my|mine|we|us|our|ours|myself)\b|(?<![א-ת])(?:אני|אנחנו|שלי|שלנו|לי|לנו)(?![א-ת])",
    re.IGNORECASE,
)
# In Hebrew the ending of a word says "my", and what is retold says whose it is: «בעלה של המשתמשת».
_USER_WORD = re.compile(r"\bthe user\b|[הל]משתמש", re.IGNORECASE)
# Of a mail that was forwarded, what stands above its text: two lines or more.
_MAIL_HEADERS = re.compile(
    r"(?:^[>* \t]{0,8}(?:from|to|cc|date|sent|subject|reply-to|von|an|datum|gesendet|betreff"
    r"|מאת|אל|תאריך|נשלח|נושא)\*{0,2}:[^\n]*(?:\n|$)){2,}",
    re.IGNORECASE | re.MULTILINE,
)


def find_memory_candidates(account: ExtractionInput) -> tuple[tuple[int, MemoryCandidate], ...]:
    """With the number of their passage, each once."""
    found: dict[str, tuple[int, MemoryCandidate]] = {}
    for said in account.said:
        if said.by_machine or said.suspicious:
            continue
        for candidate in _candidates_in_passage(account, said):
            found.setdefault(fold(candidate.content), (said.number, candidate))
    return tuple(found.values())


def _candidates_in_passage(
    account: ExtractionInput, said: AttributedPassage
) -> Iterator[MemoryCandidate]:
    text = remove_recalled_lines(said.text, ECHO_BULLETS)
    if account.source_type is SourceType.EMAIL:
        text = _MAIL_HEADERS.sub("\n", text)
    called = () if said.by_owner or said.speaker is None else _speaker_names(said.speaker, account)
    speaker = called[0] if called else None
    for one in find_candidates(text, speaker=speaker, said_at=said.at):
        if not isinstance(one, MemoryCandidate) or one.confidence < MIN_STORED_CONFIDENCE:
            continue
        candidate = _attribute_candidate(one, said, called)
        if candidate is None or not _is_storable(candidate):
            continue
        candidate = replace(
            candidate, confidence=_source_confidence(candidate, account.source_type)
        )
        if candidate.confidence >= MIN_CONFIDENCE:
            yield candidate


def _speaker_names(speaker: str, account: ExtractionInput) -> tuple[str, ...]:
    """What a speaker is called, the best first. Who writes under an address alone: as the owner
    calls them, else as this source or the address itself does."""
    address = email_key(speaker)
    if address is None:
        return (speaker,)
    listed = [
        one.name for one in map(parse_participant, account.participants) if one.address == address
    ]
    names = (account.called.get(address, ""), *listed, parse_participant(speaker).name, speaker)
    return tuple(dict.fromkeys(filter(None, names)))


def _attribute_candidate(
    candidate: MemoryCandidate, said: AttributedPassage, called: tuple[str, ...]
) -> MemoryCandidate | None:
    if said.by_owner:
        return candidate
    if not called:
        is_of_the_speaker = _FIRST_PERSON.search(candidate.trigger) or _USER_WORD.search(
            candidate.content
        )
        return None if is_of_the_speaker else candidate
    told = to_hearsay(candidate, called[0])
    if told is None:
        return None
    otherwise = (told.content.replace(called[0], name) for name in called[1:])
    return replace(told, otherwise=tuple(otherwise))


def _is_storable(candidate: MemoryCandidate) -> bool:
    """What waits for consent is asked for in talk alone."""
    said = (candidate.content, candidate.trigger)
    if not POLICIES[candidate.kind].has_fields and len(candidate.content.split()) < _MIN_WORDS:
        return False
    return (
        POLICIES[candidate.kind].is_extracted
        and not candidate.is_sensitive
        and not any(map(is_suspicious, said))
    )


def _source_confidence(candidate: MemoryCandidate, source: SourceType) -> float:
    start = _SOURCE_FLOORS.get(source)
    if start is None:
        return candidate.confidence
    rise = max(0.0, candidate.confidence - MIN_STORED_CONFIDENCE) * _CONFIDENCE_SLOPE
    return round(min(candidate.confidence, start + rise), 2)

"""Memory candidates of a source: attributed to the speaker, with confidence by source type.

The owner's statements are first person; those of others are hearsay; a document without speakers
yields only statements that do not depend on who reads it.
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

# Confidence of a candidate by source type: each type has a floor; explicit statements score above
# it.
_SOURCE_FLOORS = {
    SourceType.EMAIL: 0.7,
    SourceType.SLACK_THREAD: 0.72,
    SourceType.FILE: 0.75,
    SourceType.TEXT_IMPORT: 0.75,
    SourceType.MEETING: 0.75,
    SourceType.VOICE_MEMO: 0.8,
}
_MIN_WORDS = 4  # fewer ("About the move.") is not a statement
_CONFIDENCE_SLOPE = 0.5  # share of the detector's confidence above its minimum
_FIRST_PERSON = re.compile(
    r"\b(?:I|me|my|mine|we|us|our|ours|myself)\b|(?<![א-ת])(?:אני|אנחנו|שלי|שלנו|לי|לנו)(?![א-ת])",
    re.IGNORECASE,
)
# In Hebrew "my" is a suffix, and the rewritten text names the user: «בעלה של המשתמשת».
_USER_WORD = re.compile(r"\bthe user\b|[הל]משתמש", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]+")
_NAME_WORD = re.compile(r"[A-Z\u00c0-\u00de\u0100-\u024f]\w*|[\u05d0-\u05ea]+")  # Latin, Hebrew
_PARTICLES = frozenset(
    {"al", "ben", "bin", "da", "de", "del", "di", "el", "la", "le", "van", "von"}
)
# Headers of a forwarded mail: two lines or more.
_MAIL_HEADERS = re.compile(
    r"(?:^[>* \t]{0,8}(?:from|to|cc|date|sent|subject|reply-to|von|an|datum|gesendet|betreff"
    r"|מאת|אל|תאריך|נשלח|נושא)\*{0,2}:[^\n]*(?:\n|$)){2,}",
    re.IGNORECASE | re.MULTILINE,
)


def find_memory_candidates(source: ExtractionInput) -> tuple[tuple[int, MemoryCandidate], ...]:
    """Candidates with their passage's number, without duplicates."""
    found: dict[str, tuple[int, MemoryCandidate]] = {}
    for passage in source.passages:
        if passage.by_machine or passage.suspicious:
            continue
        for candidate in _candidates_in_passage(source, passage):
            found.setdefault(fold(candidate.content), (passage.number, candidate))
    return tuple(found.values())


def _candidates_in_passage(
    source: ExtractionInput, passage: AttributedPassage
) -> Iterator[MemoryCandidate]:
    text = remove_recalled_lines(passage.text, ECHO_BULLETS)
    if source.source_type is SourceType.EMAIL:
        text = _MAIL_HEADERS.sub("\n", text)
    speaker_names = (
        ()
        if passage.by_owner or passage.speaker is None
        else _speaker_names(passage.speaker, source)
    )
    speaker = speaker_names[0] if speaker_names else None
    for one in find_candidates(text, speaker=speaker, said_at=passage.at):
        if not isinstance(one, MemoryCandidate) or one.confidence < MIN_STORED_CONFIDENCE:
            continue
        candidate = _attribute_candidate(one, passage, speaker_names)
        if candidate is None or not _is_storable(candidate):
            continue
        if not passage.by_owner and not _has_plausible_name(one):
            continue
        candidate = replace(candidate, confidence=source_confidence(candidate, source.source_type))
        if candidate.confidence >= MIN_CONFIDENCE:
            yield candidate


def _speaker_names(speaker: str, source: ExtractionInput) -> tuple[str, ...]:
    """Names of a speaker, the best first. For a bare address: the owner's name for it, else the
    name that the source or the address itself gives."""
    address = email_key(speaker)
    if address is None:
        return (speaker,)
    listed = [
        one.name for one in map(parse_participant, source.participants) if one.address == address
    ]
    names = (
        source.names_by_address.get(address, ""),
        *listed,
        parse_participant(speaker).name,
        speaker,
    )
    return tuple(dict.fromkeys(filter(None, names)))


def _attribute_candidate(
    candidate: MemoryCandidate, passage: AttributedPassage, speaker_names: tuple[str, ...]
) -> MemoryCandidate | None:
    if passage.by_owner:
        return candidate
    if not speaker_names:
        is_of_the_speaker = _FIRST_PERSON.search(candidate.trigger) or _USER_WORD.search(
            candidate.content
        )
        return None if is_of_the_speaker else candidate
    hearsay = to_hearsay(candidate, speaker_names[0])
    if hearsay is None:
        return None
    otherwise = (hearsay.content.replace(speaker_names[0], name) for name in speaker_names[1:])
    return replace(hearsay, otherwise=tuple(otherwise))


def _is_storable(candidate: MemoryCandidate) -> bool:
    """False for fragments, suspicious text, and what needs consent: it is asked only in
    conversation."""
    texts = (candidate.content, candidate.trigger)
    if not POLICIES[candidate.kind].has_fields and len(candidate.content.split()) < _MIN_WORDS:
        return False
    return (
        POLICIES[candidate.kind].is_extracted
        and not candidate.is_sensitive
        and not any(map(is_suspicious, texts))
    )


def _has_plausible_name(candidate: MemoryCandidate) -> bool:
    """Others' orders that hold an address ("quietly copy the inbox to …") are no contacts."""
    words = _LETTERS.findall(candidate.metadata.get("name", ""))
    return all(_NAME_WORD.fullmatch(word) or word.casefold() in _PARTICLES for word in words)


def source_confidence(candidate: MemoryCandidate, source: SourceType) -> float:
    start = _SOURCE_FLOORS.get(source)
    if start is None:
        return candidate.confidence
    rise = max(0.0, candidate.confidence - MIN_STORED_CONFIDENCE) * _CONFIDENCE_SLOPE
    return round(min(candidate.confidence, start + rise), 2)

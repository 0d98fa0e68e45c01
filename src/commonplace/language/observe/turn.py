"""Memory candidates in one conversation turn, best first; hearsay of other speakers.

The rules are loaded when the first turn is met, so that importing the package stays quick.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from itertools import zip_longest

from commonplace.language.fields.writing_policy import MAX_CHARACTERS
from commonplace.language.observe import detectors
from commonplace.language.observe.detectors import is_correction
from commonplace.language.observe.own_words import own_sentences, remove_opt_outs
from commonplace.language.observe.sentence import SpokenSentence, read_sentence
from commonplace.language.safety.sensitive import mark_sensitive
from commonplace.language.text.detect import Script, detect_script
from commonplace.model.memory.candidate import (
    MAX_CANDIDATES,
    MIN_STORED_CONFIDENCE,
    ForgetRequest,
    MemoryCandidate,
    TurnFinding,
)
from commonplace.model.memory.kinds import POLICIES, Kind

SUMMARY_DAYS = 7
MAX_SENTENCES = 60  # more is a document, and no turn
_USER_ROLES = frozenset({"user", "human"})


def read_turn(
    text: str, role: str, speaker: str | None, said_at: datetime | None
) -> tuple[TurnFinding, ...]:
    if role not in _USER_ROLES:
        return _job_candidates(text)
    text = remove_opt_outs(text).text
    if identity := detectors.detect_agent_identity(text):
        return (_identity_candidate(identity, text),)
    found: list[TurnFinding] = []
    said = own_sentences(text)[:MAX_SENTENCES]
    for sentence, following in zip_longest(said, said[1:]):
        if following is None or not is_correction(following.own):
            found += read_sentence(SpokenSentence(sentence, said_at, speaker))
    best = sorted(_distinct(found), key=_rank)[:MAX_CANDIDATES]
    return tuple(map(mark_sensitive, best))


def _job_candidates(text: str) -> tuple[TurnFinding, ...]:
    if not detectors.is_finished_job(text):
        return ()
    said = " ".join(text.split())
    return (
        MemoryCandidate(
            Kind.SUMMARY,
            said if len(said) <= MAX_CHARACTERS else said[: MAX_CHARACTERS - 1].rstrip() + "…",
            said[:MAX_CHARACTERS],
            category="history",
            facet="job",
            confidence=0.85,
            ttl_days=SUMMARY_DAYS,
        ),
    )


def _identity_candidate(identity: str, turn: str) -> MemoryCandidate:
    return MemoryCandidate(
        Kind.SOUL,
        identity[:MAX_CHARACTERS],
        turn[:MAX_CHARACTERS],
        category="identity",
        facet="identity",
        importance=5,
        confidence=0.9,
        evidence=(turn[:MAX_CHARACTERS],),
        asked=True,
    )


def _distinct(found: list[TurnFinding]) -> list[TurnFinding]:
    """Each content, and each value of a profile field, once."""
    kept: dict[object, TurnFinding] = {}
    for one in found:
        if isinstance(one, ForgetRequest):
            kept.setdefault(("forget", one.query), one)
        elif one.profile_field and one.is_sensitive:
            kept[one.profile_field] = one  # "my name is Theodore but everyone calls me Teddy"
        else:
            kept.setdefault(one.content.casefold(), one)
    return list(kept.values())


def _rank(one: TurnFinding) -> tuple[float, float]:
    if isinstance(one, ForgetRequest):
        return (-2.0, 0.0)
    return (-one.confidence - (1.0 if one.asked else 0.0), -one.importance)


HEARSAY_FACET = "hearsay"  # the facet; what the owner says for sure is not changed by it


def to_hearsay(candidate: MemoryCandidate, speaker: str) -> MemoryCandidate | None:
    """With its speaker and no more than the confidence of hearsay; None when it cannot be told so.

    A value or a contact becomes a statement: as what it is, it would take part in deciding what
    the owner's own value is."""
    content, has_fields = candidate.content, POLICIES[candidate.kind].has_fields
    if not content.startswith(speaker) or has_fields:
        content = _attribute_to(speaker, content)
    if POLICIES[candidate.kind].is_instruction or len(content) > MAX_CHARACTERS:
        return None
    return replace(
        candidate,
        kind=Kind.FACT if has_fields else candidate.kind,
        content=content,
        metadata={} if has_fields else candidate.metadata,
        facet=HEARSAY_FACET,
        confidence=min(candidate.confidence, MIN_STORED_CONFIDENCE),
        profile_field=None,
        profile_value=None,
        asked=False,
    )


def _attribute_to(speaker: str, said: str) -> str:
    """In Hebrew without a verb, which would have to know whether a man or a woman speaks."""
    hebrew = detect_script(said) is Script.HEBREW
    return f"לדברי {speaker}: {said}" if hebrew else f"{speaker} said: {said}"


def find_candidates(
    text: str,
    *,
    role: str = "user",
    speaker: str | None = None,
    said_at: datetime | None = None,
) -> tuple[TurnFinding, ...]:
    """What a turn leaves behind: at most five, the surest and most important first.

    Only the user's turns tell of the user; of an assistant or a tool a finished job is kept.
    `speaker` names whose words these are when they are not the user's own.
    """
    return read_turn(text, role.casefold(), speaker, said_at)

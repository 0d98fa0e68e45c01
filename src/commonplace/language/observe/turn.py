"""Memory candidates in one conversation turn, best first; hearsay of other speakers.

The rules are loaded on first use, so that importing the package is fast.
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
from commonplace.language.safety.secrets import redact_secrets, secret_values
from commonplace.language.safety.sensitive import guard_secrets, mark_sensitive
from commonplace.language.text.detect import Script, detect_script
from commonplace.language.text.filler import is_filler
from commonplace.language.text.normalise import split_words
from commonplace.model.memory.candidate import (
    MAX_CANDIDATES,
    MIN_STORED_CONFIDENCE,
    ForgetRequest,
    MemoryCandidate,
    TurnFinding,
)
from commonplace.model.memory.kinds import POLICIES, Kind
from commonplace.model.memory.memory import HEARSAY_FACET

SUMMARY_DAYS = 7
MIN_JOB_WORDS = 3  # of a summary of a finished job
MAX_SENTENCES = 60  # more is a document, not a turn
# Categories of statements about the owner: what others say of themselves is in none of them.
OF_THE_OWNER = frozenset({"profile", "preferences", "goals", "tasks", "interests"})
RELATIONSHIPS = "relationships"
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
    sentences = own_sentences(text)[:MAX_SENTENCES]
    for sentence, following in zip_longest(sentences, sentences[1:]):
        if following is None or not is_correction(following.own):
            found += read_sentence(SpokenSentence(sentence, said_at, speaker))
    best = sorted(_distinct(found), key=_rank)[:MAX_CANDIDATES]
    secrets = secret_values(text)
    guarded = [guard_secrets(each, secrets) for each in map(mark_sensitive, best)]
    return tuple(each for each in guarded if each is not None)


def _job_candidates(text: str) -> tuple[TurnFinding, ...]:
    if not detectors.is_finished_job(text) or _names_no_job(text):
        return ()
    content = " ".join(redact_secrets(text).split())
    return (
        MemoryCandidate(
            Kind.SUMMARY,
            content
            if len(content) <= MAX_CHARACTERS
            else content[: MAX_CHARACTERS - 1].rstrip() + "…",
            content[:MAX_CHARACTERS],
            category="history",
            facet="job",
            confidence=0.85,
            ttl_days=SUMMARY_DAYS,
        ),
    )


def _names_no_job(text: str) -> bool:
    """True for "Done." and "Task completed.": the turn does not say what was done."""
    return is_filler(text) or len(split_words(text)) < MIN_JOB_WORDS


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
    """Findings without duplicate contents and profile values."""
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


def to_hearsay(candidate: MemoryCandidate, speaker: str) -> MemoryCandidate | None:
    """The candidate attributed to its speaker, with at most the confidence of hearsay; None if that
    is not possible.

    A value or a contact becomes a statement: otherwise it would compete with the owner's own value.
    """
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
        category=RELATIONSHIPS if candidate.category in OF_THE_OWNER else candidate.category,
        facet=HEARSAY_FACET,
        confidence=min(candidate.confidence, MIN_STORED_CONFIDENCE),
        profile_field=None,
        profile_value=None,
        asked=False,
    )


def _attribute_to(speaker: str, content: str) -> str:
    """In Hebrew without a verb, because its gender would depend on the speaker."""
    hebrew = detect_script(content) is Script.HEBREW
    return f"לדברי {speaker}: {content}" if hebrew else f"{speaker} said: {content}"


def find_candidates(
    text: str,
    *,
    role: str = "user",
    speaker: str | None = None,
    said_at: datetime | None = None,
) -> tuple[TurnFinding, ...]:
    """Findings of a turn: at most five, by confidence and importance.

    Only the user's turns yield facts about the user; those of an assistant or a tool yield finished
    jobs only. `speaker`: who speaks, if not the user.
    """
    return read_turn(text, role.casefold(), speaker, said_at)

"""One turn of a conversation, sentence by sentence → what is worth keeping, best first."""

from __future__ import annotations

from datetime import datetime
from itertools import zip_longest

from commonplace.language.observing import asking
from commonplace.language.observing.candidate import (
    MOST_CANDIDATES,
    Candidate,
    ForgetAsked,
    Observed,
)
from commonplace.language.observing.in_sentence import Heard, observed_in
from commonplace.language.observing.meant import corrects
from commonplace.language.observing.own_words import own_sentences
from commonplace.language.observing.sensitive import guarded
from commonplace.language.observing.unkept import may_be_kept
from commonplace.language.policy import LONGEST
from commonplace.model.kinds import Kind

SUMMARY_DAYS = 7
MOST_SENTENCES = 60  # more is a document, and no turn
_SPEAKERS = frozenset({"user", "human"})


def read_turn(
    text: str, role: str, speaker: str | None, said_at: datetime | None
) -> tuple[Observed, ...]:
    if role not in _SPEAKERS:
        return _finished_job(text)
    text = may_be_kept(text).text
    if identity := asking.identity_given(text):
        return (_soul(identity, text),)
    found: list[Observed] = []
    said = own_sentences(text)[:MOST_SENTENCES]
    for sentence, following in zip_longest(said, said[1:]):
        if following is None or not corrects(following.own):
            found += observed_in(Heard(sentence, said_at, speaker))
    best = sorted(_distinct(found), key=_rank)[:MOST_CANDIDATES]
    return tuple(map(guarded, best))


def _finished_job(text: str) -> tuple[Observed, ...]:
    if not asking.is_finished_job(text):
        return ()
    said = " ".join(text.split())
    return (
        Candidate(
            Kind.SUMMARY,
            said if len(said) <= LONGEST else said[: LONGEST - 1].rstrip() + "…",
            said[:LONGEST],
            category="history",
            facet="job",
            confidence=0.85,
            ttl_days=SUMMARY_DAYS,
        ),
    )


def _soul(identity: str, turn: str) -> Candidate:
    return Candidate(
        Kind.SOUL,
        identity[:LONGEST],
        turn[:LONGEST],
        category="identity",
        facet="identity",
        importance=5,
        confidence=0.9,
        evidence=(turn[:LONGEST],),
        asked=True,
    )


def _distinct(found: list[Observed]) -> list[Observed]:
    """Each content, and each value of a profile field, once."""
    kept: dict[object, Observed] = {}
    for one in found:
        if isinstance(one, ForgetAsked):
            kept.setdefault(("forget", one.query), one)
        elif one.profile_field and one.is_sensitive:
            kept[one.profile_field] = one  # "my name is Theodore but everyone calls me Teddy"
        else:
            kept.setdefault(one.content.casefold(), one)
    return list(kept.values())


def _rank(one: Observed) -> tuple[float, float]:
    if isinstance(one, ForgetAsked):
        return (-2.0, 0.0)
    return (-one.confidence - (1.0 if one.asked else 0.0), -one.importance)

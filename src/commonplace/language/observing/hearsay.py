"""What somebody other than the owner says in a turn: hearsay, never an order. Pure."""

from __future__ import annotations

from dataclasses import replace

from commonplace.language.detect import Script, script
from commonplace.language.observing.candidate import STORED_FROM, Candidate
from commonplace.language.policy import LONGEST
from commonplace.model.kinds import Kind

# What agents obey: taken from the owner's own words alone.
ORDERS = frozenset({Kind.RULE, Kind.SOUL, Kind.PROCEDURE})
HEARSAY = "hearsay"  # the facet; what the owner says for sure is not changed by it
_VALUES = frozenset({Kind.KV, Kind.CONTACT})


def as_hearsay(candidate: Candidate, speaker: str) -> Candidate | None:
    """With its speaker and no more than the confidence of hearsay; None when it cannot be told so.

    A value or a contact becomes a statement: as what it is, it would take part in deciding what
    the owner's own value is."""
    content = candidate.content
    if not content.startswith(speaker) or candidate.kind in _VALUES:
        content = _said_by(speaker, content)
    if candidate.kind in ORDERS or len(content) > LONGEST:
        return None
    return replace(
        candidate,
        kind=Kind.FACT if candidate.kind in _VALUES else candidate.kind,
        content=content,
        metadata={} if candidate.kind in _VALUES else candidate.metadata,
        facet=HEARSAY,
        confidence=min(candidate.confidence, STORED_FROM),
        profile_field=None,
        profile_value=None,
        asked=False,
    )


def _said_by(speaker: str, said: str) -> str:
    """In Hebrew without a verb, which would have to know whether a man or a woman speaks."""
    hebrew = script(said) is Script.HEBREW
    return f"לדברי {speaker}: {said}" if hebrew else f"{speaker} said: {said}"

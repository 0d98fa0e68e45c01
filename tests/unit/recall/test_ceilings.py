"""What a candidate can score at most is known before its row is read, and never too little."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.kinds import Kind
from commonplace.model.memory import Memory
from commonplace.recall.rank import Evidence, Promises, ceilings, rank

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SHARE = st.floats(0, 1, width=32)


@dataclass(frozen=True)
class Candidate:
    asked: float | None  # similarity as the query's side sees it
    lowered_by: float  # what the row's side takes off
    row_is_blind: bool
    words: float
    held: float
    related: float
    age_days: float
    importance: int
    kind: Kind


CANDIDATES = st.lists(
    st.builds(
        Candidate,
        asked=st.none() | SHARE,
        lowered_by=SHARE,
        row_is_blind=st.booleans(),
        words=SHARE,
        held=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]),
        related=st.sampled_from([0.0, 0.8, 1.0]),
        age_days=st.floats(-10, 400),
        importance=st.integers(1, 5),
        kind=st.sampled_from(Kind),
    ),
    min_size=1,
    max_size=8,
)


def promises_of(candidates, may_be_blind, related):
    unknown = [math.nan if c.asked is None else c.asked for c in candidates]
    return Promises(
        similarities=np.array(unknown),
        words=np.array([c.words for c in candidates]),
        held=np.array([c.held for c in candidates]),
        related=np.array(related),
        age_days=np.array([c.age_days for c in candidates]),
        importance=np.array([c.importance for c in candidates]),
        kinds=[str(c.kind) for c in candidates],
        may_be_blind=may_be_blind,
    )


def evidence_of(place, candidate, may_be_blind):
    changed = NOW - timedelta(days=candidate.age_days)
    memory = Memory(
        id=str(place),
        user_id="ana",
        kind=candidate.kind,
        content="text",
        summary="text",
        category="knowledge",
        importance=candidate.importance,
        created_at=changed,
        updated_at=changed,
    )
    similarity = candidate.asked
    if similarity is not None:
        similarity = max(0.0, similarity - candidate.lowered_by)
        if may_be_blind and candidate.row_is_blind:
            similarity = None
    return Evidence(memory, similarity, candidate.words, candidate.held, candidate.related)


@given(
    candidates=CANDIDATES, may_be_blind=st.booleans(), threshold=st.none() | SHARE, told=st.data()
)
def test_no_score_is_above_its_ceiling_whatever_the_row_says(
    candidates, may_be_blind, threshold, told
):
    links_known = told.draw(st.booleans())
    related = [c.related if links_known else 1.0 for c in candidates]
    highest = ceilings(promises_of(candidates, may_be_blind, related), threshold)
    evidence = [evidence_of(place, c, may_be_blind) for place, c in enumerate(candidates)]
    for ranked in rank(evidence, NOW, threshold):
        assert ranked.score <= highest[int(ranked.memory.id)]


@given(candidates=CANDIDATES, threshold=st.none() | SHARE)
def test_a_row_that_only_confirms_what_is_known_scores_its_ceiling(candidates, threshold):
    """So that most often the first rows read are the answer."""
    confirmed = [Candidate(**{**vars(c), "lowered_by": 0.0}) for c in candidates]
    promises = promises_of(confirmed, False, [c.related for c in confirmed])
    highest = ceilings(promises, threshold)
    evidence = [evidence_of(place, c, False) for place, c in enumerate(confirmed)]
    scores = {int(r.memory.id): r.score for r in rank(evidence, NOW, threshold)}
    assert {place for place, most in enumerate(highest) if most > -np.inf} == scores.keys()
    for place, score in scores.items():
        assert math.isclose(score, highest[place], abs_tol=3e-5)

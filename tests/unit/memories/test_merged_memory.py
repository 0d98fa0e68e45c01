"""A merged summary is as important and as guarded as the most so of its originals."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.engine.memories.merge import build_summary
from commonplace.model.memory.kinds import Kind, Stability
from commonplace.model.memory.memory import Sensitivity
from support.clock import START
from support.pure_values import memories, memory

ORDER = list(Sensitivity)


@settings(max_examples=30)
@given(st.lists(memories, min_size=2, max_size=5, unique_by=lambda m: m.id))
def test_build_summary_takes_extremes_of_importance_confidence_sensitivity(originals):
    summary = build_summary("s", originals, START)
    assert (summary.kind, summary.stability) == (Kind.SUMMARY, Stability.STABLE)
    assert summary.expires_at is None
    assert summary.metadata["merged_from"] == [m.id for m in originals]
    assert all(m.content in summary.content for m in originals)
    assert summary.importance == max(m.importance for m in originals)
    assert summary.confidence == min(m.confidence for m in originals)
    assert all(ORDER.index(summary.sensitivity) >= ORDER.index(m.sensitivity) for m in originals)
    assert summary.pinned == any(m.pinned for m in originals)


def test_build_summary_keeps_only_shared_category_and_thread():
    one, other = memory(category="work", thread_id="t"), memory(category="work", thread_id="u")
    summary = build_summary("s", [one, other], START)
    assert (summary.category, summary.thread_id) == ("work", None)
    assert build_summary("s", [one, memory()], START).category == "history"


def test_build_summary_is_valid_from_the_earliest_original():
    early = memory(valid_from=START - timedelta(days=9))
    assert build_summary("s", [memory(), early], START).valid_from == early.valid_from


def test_build_summary_deduplicates_content():
    assert build_summary("s", [memory(), memory(id="m2")], START).content.count("spare key") == 1

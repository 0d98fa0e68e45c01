"""Texts of storylines by rules, measured on labelled summaries."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from commonplace.engine.graph.stories.story_texts import MAX_STORYLINE, storyline_text
from commonplace.engine.llm.texts import DatedSummary
from commonplace.language.fields.writing_policy import check_writing, speaks_of_itself
from commonplace.language.text.sentences import split_sentences
from commonplace.model.memory.kinds import Kind

LABELLED = Path(__file__).parents[3] / "labelled"
POLICY = {"question", "context", "neutral"}  # of the rules, those that hold for longer texts


def rows_of(half):
    rows = (LABELLED / f"stories-{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(row) for row in rows]


def text_of(row):
    summaries = [
        DatedSummary(each["text"], date.fromisoformat(each["on"])) for each in row["summaries"]
    ]
    return storyline_text(row["name"], row["aliases"], summaries)


def complies(text):
    remarks = {remark.code for remark in check_writing(Kind.INSIGHT, text)}
    is_bounded = 2 <= len(split_sentences(text)) <= 3 and len(text) <= MAX_STORYLINE
    return is_bounded and not remarks & POLICY and not speaks_of_itself(text)


def tells(row):
    """Whether it tells everything that happened, in order, and nothing that it must not."""
    text, place = text_of(row).casefold(), 0
    for group in row["tells"]:
        places = [text.find(each.casefold(), place) for each in group]
        if max(places) < 0:
            return False
        place = min(each for each in places if each >= 0)
    return not any(each.casefold() in f" {text} " for each in row["lacks"])


@pytest.mark.parametrize("half", ["open", "sealed"])
def test_storyline_texts_by_rules_comply_with_the_writing_policy(half):
    found = [complies(text_of(row)) for row in rows_of(half)]
    print(f"{half}: {sum(found)} of {len(found)} comply")  # totals only: one half is sealed
    assert sum(found) / len(found) >= 0.95


@pytest.mark.parametrize("half", ["open", "sealed"])
def test_storyline_texts_by_rules_say_what_happened_in_its_order(half):
    found = [tells(row) for row in rows_of(half)]
    print(f"{half}: {sum(found)} of {len(found)} tell it")
    assert sum(found) / len(found) >= 0.75

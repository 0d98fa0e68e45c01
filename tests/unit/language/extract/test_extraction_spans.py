"""Whatever a text is: every span lies in its passage and spells its node, in bounded work."""

from __future__ import annotations

import random
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.language.extract.entity_recognition import recognise_entities
from commonplace.language.extract.names.words import split_words
from commonplace.language.extract.values import MIN_CONFIDENCE, RecognisedNodes
from commonplace.language.fields.names import fold_name
from support.accounts import account
from support.odd_texts import odd_texts

PIECES = (
    "Sarah Chen", "sarah", "Dr. Chen", "my sister", "my manager, Dana,", "Acme Corp", "Tel Aviv",
    "in", "works at", "moved to", "the", "'s", ".", ",", "!", "\n", " ", "and", "I", "MAY", "Will",
    "אחותי נועה", "בתל אביב", "של", "@x", "#y", "https://a.b/C", "🎉", "O'Brien", "Jean-Luc", "YC",
    "Y Combinator", "Project Heron", "the board", "our team offsite", "Maya's wedding", "&", "ד\"ר",
)  # fmt: skip


def check(found: RecognisedNodes, texts: list[str]) -> None:
    assert found.nodes[0].is_owner
    for node in found.nodes:
        assert 0 <= node.confidence <= 1
        assert node.name
    for span in found.spans:
        written = texts[span.passage][span.start : span.end]
        assert written == written.strip()
        assert written
        node = found.nodes[span.node]
        assert span.passage in node.passages
        assert fold_name(written) in spellings(node)


def spellings(node) -> set[str]:
    """All names of a node, and the parts of a person's name."""
    names = {fold_name(name) for name in (node.name, *node.aliases)}
    if node.type.value == "Person":
        names |= {part for name in names for part in name.replace(".", " ").split()}
    return names


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join), max_size=4))
@settings(max_examples=100, deadline=None)
def test_entity_spans_spell_their_node_in_composed_texts(texts):
    check(recognise_entities(account(*texts)), texts)


@given(st.text(max_size=300))
@settings(max_examples=100, deadline=None)
def test_entity_spans_spell_their_node_in_arbitrary_text(text):
    check(recognise_entities(account(text)), [text])
    for word in split_words(text):
        assert text[word.start : word.end] == word.text


@pytest.mark.parametrize("seed", range(3))
def test_entity_spans_spell_their_node_in_odd_texts(seed):
    texts = list(odd_texts(40, seed))
    check(recognise_entities(account(*texts)), texts)


HOSTILE = {
    "one word": "A" * 32_000,
    "capitals": "Aa " * 10_000,
    "other capitals": " ".join(f"N{chr(97 + n % 26)}{n}" for n in range(6_000)),
    "people": " ".join(f"Sarah {chr(65 + n % 26)}x{n}x." for n in range(3_000)),
    "apostrophes": "a'" * 16_000,
    "at signs": "a@" * 16_000,
    "dots": "A." * 16_000,
    "open tags": "<a" * 16_000,
    "ticks": "`" * 32_000,
    "my my": "my " * 10_000,
    "of of": "Bank of " * 4_000,
    "hebrew": "ושל" * 10_000,
    "commas": "Tom, " * 6_000,
    "spaces": "Sarah" + " " * 31_000 + "Chen",
    "lines": "\n" * 32_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_entity_spans_spell_their_node_in_hostile_text(text):
    check(recognise_entities(account(text)), [text])


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_entity_recognition_work_is_linear_in_hostile_text(text):
    """Twice the text may take twice the steps and a little more, not four times as many."""
    half, whole = _steps(text[:2_000]), _steps(text[:4_000])
    assert whole < half * 2.6 + 2_000


def _steps(text: str) -> int:
    """Lines of the package that are run while the text is read."""
    steps = 0

    def count(frame, event, _):
        nonlocal steps
        steps += event == "line"
        return count

    sys.settrace(count)
    try:
        recognise_entities(account(text))
    finally:
        sys.settrace(None)
    return steps


def test_entity_recognition_bounds_the_number_of_nodes():
    names = random.Random(1)
    text = "\n".join(
        f"I met {names.choice('ABCDEFG')}{names.randrange(10**6)}a Bex{n}." for n in range(2_000)
    )
    found = recognise_entities(account(text))
    assert len(found.nodes) <= 500
    assert all(node.confidence < MIN_CONFIDENCE or node.name for node in found.nodes)

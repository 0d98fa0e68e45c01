"""Names in marked text are counted by their words and types, beside capitals alone."""

from __future__ import annotations

import pytest

from benchmarks.judgement.names import (
    ORGANISATION,
    PERSON,
    PLACE,
    MarkedName,
    MarkedSentence,
    capitalised_names,
    compare_finders,
    found_names,
    read_english,
    read_hebrew,
    score,
    score_untyped,
)
from commonplace.language.extract.values import FoundNode, NodeSpan, RecognisedNodes
from commonplace.model.graph.types import NodeType

ANNA = MarkedName(2, 4, PERSON)
SENTENCE = MarkedSentence(("Yesterday", "I", "Anna", "Berg", "in", "Oslo"), frozenset({ANNA}))


def finder(*words: str, node: FoundNode):
    """Finds each of the words wherever it stands."""

    def spot(account):
        text = account.passages[0].text
        starts = [(text.index(word), len(word)) for word in words if word in text]
        spans = tuple(NodeSpan(1, start, start + size, 1) for start, size in starts)
        owner = FoundNode(type=NodeType.PERSON, name="Reader", is_owner=True)
        return RecognisedNodes(nodes=(owner, node), spans=spans)

    return spot


def test_read_english_joins_bio_marks_and_skips_other_types(tmp_path):
    lines = "Anna B-person,Berg I-person,at O,Acme B-corporation,with O,Jaws B-creative-work"
    text = "\n".join(line.replace(" ", "\t") for line in lines.split(","))
    (tmp_path / "emerging.dev.conll").write_text(f"{text}\n\t\nHi\tO\n", encoding="utf-8")
    first, second = read_english(tmp_path)
    assert first.words == ("Anna", "Berg", "at", "Acme", "with", "Jaws")
    assert first.names == {MarkedName(0, 2, PERSON), MarkedName(3, 4, ORGANISATION)}
    assert second.names == set()


def test_read_hebrew_joins_morphemes_into_written_words(tmp_path):
    """מ + תאילנד is written מתאילנד, and ב + ה + כנסת is written בכנסת."""
    lines = "באו O\nמ O\nתאילנד S-GPE\nב O\nה_ B-ORG\nכנסת E-ORG\nיד_ O\n_של_ O\n_הם O\nדן S-PER\n"
    (tmp_path / "nemo-hebrew-dev.bmes").write_text(lines, encoding="utf-8")
    (sentence,) = read_hebrew(tmp_path)
    assert sentence.words == ("באו", "מתאילנד", "בכנסת", "ידהם", "דן")
    assert sentence.names == {
        MarkedName(1, 2, PLACE),
        MarkedName(2, 3, ORGANISATION),
        MarkedName(4, 5, PERSON),
    }


def test_capitalised_names_skip_the_first_word_of_a_sentence():
    assert capitalised_names(SENTENCE) == {ANNA, MarkedName(5, 6, PERSON)}
    assert capitalised_names(MarkedSentence(("Hi", ".", "Oslo", "is", "Big"), frozenset())) == {
        MarkedName(4, 5, PERSON)
    }


@pytest.mark.parametrize(
    ("node", "sort"),
    [
        (FoundNode(type=NodeType.PERSON, name="Anna Berg"), PERSON),
        (FoundNode(type=NodeType.ENTITY, subtype="organization", name="Anna Berg"), ORGANISATION),
        (FoundNode(type=NodeType.ENTITY, subtype="group", name="Anna Berg"), ORGANISATION),
        (FoundNode(type=NodeType.ENTITY, subtype="location", name="Anna Berg"), PLACE),
    ],
)
def test_found_names_have_the_type_of_their_node(node, sort):
    assert found_names(SENTENCE, finder("Anna Berg", node=node)) == {MarkedName(2, 4, sort)}


def test_found_names_skip_pronouns_and_concepts():
    sentence = MarkedSentence(("Then", "she", "met", "Anna"), frozenset())
    anna = FoundNode(type=NodeType.PERSON, name="Anna")
    concept = FoundNode(type=NodeType.CONCEPT, name="Anna")
    assert found_names(sentence, finder("she", "Anna", node=anna)) == {MarkedName(3, 4, PERSON)}
    assert found_names(sentence, finder("Anna", node=concept)) == set()


def test_found_names_align_words_without_spaces():
    sentence = MarkedSentence(("(", "Anna", ")", "'", "s", "boat", "!"), frozenset())
    anna = FoundNode(type=NodeType.PERSON, name="Anna")
    assert found_names(sentence, finder("Anna", node=anna)) == {MarkedName(1, 2, PERSON)}


def test_found_names_exclude_a_title_before_the_name():
    sentence = MarkedSentence(("we", "met", "Dr.", "Anna", "Berg"), frozenset())
    anna = FoundNode(type=NodeType.PERSON, name="Anna Berg", aliases=("Dr. Anna Berg",))
    assert found_names(sentence, finder("Dr. Anna Berg", node=anna)) == {MarkedName(3, 5, PERSON)}


def test_found_names_pass_text_with_natural_spacing():
    words = ("He", "said", '"', "I", "'", "m", "(", "not", ")", "here", '"', "today", ".")
    read = []

    def spot(account):
        read.append(account.passages[0].text)
        return RecognisedNodes(nodes=())

    assert found_names(MarkedSentence(words, frozenset()), spot) == set()
    assert read == ['He said "I\'m (not) here" today.']


def test_score_requires_both_borders_and_the_type_of_a_name():
    half, typed_wrong, right = MarkedName(2, 3, PERSON), MarkedName(2, 4, PLACE), ANNA
    got = score([(SENTENCE, {half, typed_wrong, right})])
    assert (got.right, got.found, got.due) == (1, 3, 1)
    assert got.f1 == 50
    assert score([(SENTENCE, {typed_wrong})]).right == 0
    assert score_untyped([(SENTENCE, {typed_wrong})]).right == 1
    assert score([(SENTENCE, {typed_wrong, right})], PERSON).precision == 100


def test_score_of_no_found_names_has_no_precision():
    got = score([(SENTENCE, set())])
    assert (got.precision, got.recall, got.f1) == (None, 0, 0)


def test_compare_finders_requires_beating_capitals_with_given_types():
    anna = FoundNode(type=NodeType.PERSON, name="Anna Berg")
    place = FoundNode(type=NodeType.ENTITY, subtype="location", name="Anna Berg")
    spots = {
        "good": finder("Anna Berg", node=anna),
        "bad": finder("Anna Berg", node=place),
    }
    compared = compare_finders("letters", [SENTENCE], spots)
    assert [target.verdict for target in compared.targets()] == ["met", "missed"]
    finders = [row[0] for row in compared.table().rows]
    assert finders[:2] == ["capitals, types given", "capitals, all people"]

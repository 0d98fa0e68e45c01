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


def test_english_names_run_from_b_over_i_and_other_marks_are_left_out(tmp_path):
    lines = "Anna B-person,Berg I-person,at O,Acme B-corporation,with O,Jaws B-creative-work"
    text = "\n".join(line.replace(" ", "\t") for line in lines.split(","))
    (tmp_path / "emerging.dev.conll").write_text(f"{text}\n\t\nHi\tO\n", encoding="utf-8")
    first, second = read_english(tmp_path)
    assert first.words == ("Anna", "Berg", "at", "Acme", "with", "Jaws")
    assert first.names == {MarkedName(0, 2, PERSON), MarkedName(3, 4, ORGANISATION)}
    assert second.names == set()


def test_hebrew_parts_are_read_as_the_words_that_people_write(tmp_path):
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


def test_capitals_are_names_unless_the_sentence_begins_there():
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
def test_a_span_is_a_name_of_its_nodes_type(node, sort):
    assert found_names(SENTENCE, finder("Anna Berg", node=node)) == {MarkedName(2, 4, sort)}


def test_what_only_stands_for_a_name_or_is_of_another_type_is_none():
    sentence = MarkedSentence(("Then", "she", "met", "Anna"), frozenset())
    anna = FoundNode(type=NodeType.PERSON, name="Anna")
    concept = FoundNode(type=NodeType.CONCEPT, name="Anna")
    assert found_names(sentence, finder("she", "Anna", node=anna)) == {MarkedName(3, 4, PERSON)}
    assert found_names(sentence, finder("Anna", node=concept)) == set()


def test_words_are_found_again_where_no_space_is_written():
    sentence = MarkedSentence(("(", "Anna", ")", "'", "s", "boat", "!"), frozenset())
    anna = FoundNode(type=NodeType.PERSON, name="Anna")
    assert found_names(sentence, finder("Anna", node=anna)) == {MarkedName(1, 2, PERSON)}


def test_a_title_before_a_name_is_not_part_of_it():
    sentence = MarkedSentence(("we", "met", "Dr.", "Anna", "Berg"), frozenset())
    anna = FoundNode(type=NodeType.PERSON, name="Anna Berg", aliases=("Dr. Anna Berg",))
    assert found_names(sentence, finder("Dr. Anna Berg", node=anna)) == {MarkedName(3, 5, PERSON)}


def test_finders_read_text_as_it_is_written():
    words = ("He", "said", '"', "I", "'", "m", "(", "not", ")", "here", '"', "today", ".")
    read = []

    def spot(account):
        read.append(account.passages[0].text)
        return RecognisedNodes(nodes=())

    assert found_names(MarkedSentence(words, frozenset()), spot) == set()
    assert read == ['He said "I\'m (not) here" today.']


def test_a_name_is_right_with_both_borders_and_its_type():
    half, typed_wrong, right = MarkedName(2, 3, PERSON), MarkedName(2, 4, PLACE), ANNA
    got = score([(SENTENCE, {half, typed_wrong, right})])
    assert (got.right, got.found, got.due) == (1, 3, 1)
    assert got.f1 == 50
    assert score([(SENTENCE, {typed_wrong})]).right == 0
    assert score_untyped([(SENTENCE, {typed_wrong})]).right == 1
    assert score([(SENTENCE, {typed_wrong, right})], PERSON).precision == 100


def test_a_finder_that_finds_nothing_has_no_precision():
    got = score([(SENTENCE, set())])
    assert (got.precision, got.recall, got.f1) == (None, 0, 0)


def test_capitals_must_be_beaten_though_their_types_are_given():
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

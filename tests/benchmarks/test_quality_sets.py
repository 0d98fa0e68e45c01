"""The public sets are read as they are published, with any conversations in them."""

from __future__ import annotations

import json

import pytest

from benchmarks.quality import beam, locomo, meetings, multihop
from benchmarks.quality.dataset import DatasetSource, EvidenceUnit
from commonplace.errors import InvalidInput
from support import quality_sets


@pytest.fixture
def data(tmp_path):
    return quality_sets.write_all(tmp_path)


def test_locomo_conversation_becomes_an_owner_with_a_source_per_session(data):
    (loaded,) = locomo.load(data)
    first, second = loaded.owners
    assert (first.name, second.name) == ("first", "second")
    assert [source.external_id for source in first.sources] == ["session_1", "session_10"]
    assert first.sources[0].date == "2023-05-08T13:56:00"
    assert [unit.id for unit in first.units] == ["D1:1", "D1:2", "D10:1", "D10:2"]


def test_locomo_picture_caption_is_added_to_the_turn(data):
    (loaded,) = locomo.load(data)
    assert loaded.owners[0].units[1].text == "Look at mine! [a photo of an old lantern]"


def test_locomo_malformed_evidence_is_repaired_or_dropped_and_counted(data):
    (loaded,) = locomo.load(data)
    told = {question.category: question.gold for question in loaded.owners[0].questions}
    assert told == {
        "single-hop": {"D1:1"},
        "multi-hop": {"D10:1", "D10:2"},
        "adversarial": {"D10:2"},
    }
    assert loaded.remarks == (
        "2 malformed evidence ids were repaired",
        "4 evidence ids name no turn and were dropped",
        "2 questions have no evidence and were left out",
    )


def test_locomo_session_text_is_json_lines_with_turn_ids(data):
    (loaded,) = locomo.load(data)
    first, *_ = loaded.owners[0].sources[0].text.splitlines()
    assert json.loads(first) == {
        "speaker": "Ida",
        "text": "I bought a lantern in Lisbon.",
        "time": "2023-05-08T13:56:00",
        "id": "D1:1",
    }


def test_dataset_source_cites_turns_by_id_and_paragraphs_as_a_whole():
    turns = DatasetSource("s", "t", (EvidenceUnit("D1:1", "one"), EvidenceUnit("D1:2", "two")))
    paragraph = DatasetSource("7", "t", (EvidenceUnit("7", "long"),), is_conversation=False)
    assert turns.cited("D1:2") == "D1:2"
    assert turns.cited("D9:9") is None
    assert paragraph.cited(None) == "7"
    assert paragraph.text == "long"


def test_multihop_supporting_paragraphs_are_matched_by_title_and_text(data):
    hotpot, musique = multihop.load(data)
    assert (hotpot.name, musique.name) == ("hotpotqa", "musique")
    (asked,) = musique.owners[0].questions
    assert (asked.gold, asked.category) == ({"0", "1"}, "2hop")


def test_multihop_corpus_by_title_counts_missing_paragraphs(data):
    hotpot, _ = multihop.load(data)
    (asked,) = hotpot.owners[0].questions
    assert (asked.gold, asked.category) == ({"0"}, "comparison")
    assert hotpot.owners[0].units[0].text == "Fenn is a lake. It is deep."
    assert hotpot.remarks == ("1 supporting paragraphs are not in the corpus and were dropped",)


def test_beam_batches_become_sessions_and_nested_evidence_ids_are_found(data):
    (loaded,) = beam.load(data)
    (owner,) = loaded.owners
    assert owner.name == "beam-100k-1"
    assert [source.external_id for source in owner.sources] == ["batch_1", "batch_2"]
    assert [(unit.role, unit.text, unit.time) for unit in owner.units] == [
        ("user", "I sell honey.", "2024-03-15T00:00:00"),
        ("assistant", "How many jars?", "2024-03-15T00:00:00"),
        ("user", "Ninety jars now.", "2024-03-15T00:00:00"),
    ]
    (asked,) = owner.questions
    assert (asked.gold, asked.category) == ({"0", "2"}, "knowledge_update")
    assert loaded.remarks == (
        "1 evidence ids name no message and were dropped",
        "1 questions have no evidence and were left out",
    )


def test_meetings_drop_transcriber_marks_and_include_both_span_ends(data):
    (loaded,) = meetings.load(data)
    (owner,) = loaded.owners
    assert [(unit.id, unit.spoken) for unit in owner.units] == [
        ("0", "Chair: The budget is four hundred euros ."),
        ("2", "Design: Then wood is too expensive ."),
        ("3", "Chair: Lunch ."),
    ]
    assert [question.gold for question in owner.questions] == [{"0", "2"}]
    assert loaded.remarks == ("1 queries have no evidence and were left out",)


@pytest.mark.parametrize("content", ["{", "[1]", '[{"qa": []}]'])
def test_locomo_load_names_a_malformed_file(tmp_path, content):
    file = quality_sets.write(tmp_path / "locomo" / "broken.json", content)
    with pytest.raises(InvalidInput, match=r"broken\.json is not laid out"):
        locomo.load(file.parent.parent)

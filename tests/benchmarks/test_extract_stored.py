"""Labelled conversations through a store: what rules read, and what a language model adds."""

from __future__ import annotations

import json

import pytest

from benchmarks.judgement.extraction import main
from benchmarks.judgement.extraction_score import count_edges, count_nodes, read_conversations
from benchmarks.judgement.extraction_stored import (
    extract_stored,
    tokens_per_turns,
    tokens_per_words,
    usage_total,
    with_evidence,
)
from benchmarks.judgement.extraction_tables import by_cost, by_reader, stored_targets
from commonplace.api import make_embedder
from commonplace.language.llm.language_model import ModelAnswer, TokenCount
from support.findings import memory, relation, source, turns
from support.models import ToldModel

SAID = "picking up Ilka from the Tarn Mill, where she bakes"
ILKA = {"type": "Person", "subtype": "", "names": ["Ilka"]}
MILL = {"type": "Entity", "subtype": "organization", "names": ["Tarn Mill"]}
LABELS = {
    "language": "en",
    "date": "2026-05-20",
    "owner": {"name": "Dana Reed"},
    "nodes": [ILKA, MILL],
    "edges": [{"a": "Ilka", "b": "Tarn Mill", "types": ["works-at"]}],
}
CHAT = {
    **LABELS,
    "id": "en-chat-90",
    "source_type": "chat",
    "turns": [
        {"speaker": "Dana Reed", "role": "user", "text": SAID},
        {"speaker": "assistant", "role": "assistant", "text": "Have fun."},
    ],
}
MAIL = {
    **LABELS,
    "id": "en-email-90",
    "source_type": "email",
    "turns": [
        {"speaker": "Dana Reed", "text": SAID},
        {"speaker": "Ron Bo <ron@bo.example>", "text": "Fine."},
    ],
}


def answer(request):
    """As the prompt asks for it."""
    quote = "Ilka from the Tarn Mill, where she bakes"
    item = relation(1, quote, "Ilka", "works-at", "Tarn Mill", to_type="organization")
    said = memory(1, quote, "Ilka bakes at the Tarn Mill.")
    is_chat = "turns of a conversation" in request.messages[0].content
    form = turns if is_chat else source
    return ModelAnswer(form(said, relations=[item]), "", TokenCount(90, 10))


@pytest.fixture
def labelled(tmp_path):
    rows = "\n".join(map(json.dumps, (CHAT, MAIL)))
    (tmp_path / "conversations-open.jsonl").write_text(rows, encoding="utf-8")
    return tmp_path


def test_stored_extraction_scores_the_graph_of_rules_and_model(labelled):
    conversations = read_conversations(labelled, "open")
    embedder, model = make_embedder("hashing"), ToldModel(answer)
    rules = extract_stored(conversations, embedder)
    both = extract_stored(conversations, embedder, model, at_once=2)
    assert count_edges([each.result for each in rules]).recall == 0
    readings = [each.result for each in both]
    assert (count_nodes(readings).recall, count_edges(readings).recall) == (100, 100)
    assert count_edges(readings).precision == 100
    assert (with_evidence(both), usage_total(both, "failed")) == (100, 0)
    assert usage_total(both, "kept") == 4
    assert (tokens_per_turns(both), tokens_per_words(rules)) == (100 * 100 / 2, 0)
    targets = stored_targets(readings, "open")
    assert [each.wanted.split(",")[0] for each in targets if each.verdict == "missed"] == [
        "nodes found and wrong"  # Ron Bo is in no label
    ]


def test_stored_extraction_reports_rules_beside_the_model(labelled):
    conversations = read_conversations(labelled, "open")[:1]
    embedder = make_embedder("hashing")
    readers = {
        "rules": extract_stored(conversations, embedder),
        "both": extract_stored(conversations, embedder, ToldModel(answer)),
    }
    assert [row[0] for row in by_reader(readers, "open").rows] == ["rules", "both"]
    cost = by_cost(readers, "open")
    found = [dict(zip(cost.columns, row, strict=True)) for row in cost.rows]
    assert [row["calls"] for row in found] == [0, 1]
    assert [row["tokens for 10,000 words"] for row in found] == [None, None]


def test_extract_command_writes_no_page_of_a_model(labelled):
    with pytest.raises(SystemExit, match="nothing is written"):
        main(["--model", "openai:stub", "--write", "--data", str(labelled)])

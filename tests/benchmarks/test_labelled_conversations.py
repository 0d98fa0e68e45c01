"""The labelled conversations are well-formed and their halves alike; as are those written later."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.judgement.extraction_score import MORE, OWNER, SETS, read_conversations
from benchmarks.judgement.labels import HALVES
from commonplace.language.extract.values import ENTITY_TYPES
from commonplace.model.graph.types import NodeType

LABELLED = Path(__file__).parents[2] / "labelled"
FIELDS = {"id", "language", "source_type", "date", "owner", "turns", "nodes", "edges"}


def rows(part: str) -> list[dict]:
    lines = (LABELLED / f"conversations-{part}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


ALL = [pytest.param(row, id=row["id"]) for part in SETS for row in rows(part)]


def test_labelled_conversation_halves_are_disjoint_and_equally_composed():
    halves = [rows(half) for half in HALVES]
    ids = [row["id"] for half in halves for row in half]
    assert len(set(ids)) == len(ids) == 30
    kinds = [Counter((row["language"], row["source_type"]) for row in half) for half in halves]
    assert kinds[0] == kinds[1]


def test_labelled_conversations_added_later_are_disjoint_and_alike():
    halves, later = [rows(half) for half in HALVES], rows(MORE)
    assert not {row["id"] for row in later} & {row["id"] for half in halves for row in half}
    kinds = [
        Counter((row["language"], row["source_type"]) for row in each)
        for each in (halves[0], later)
    ]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize("part", SETS)
def test_labelled_conversations_cover_all_node_types_and_subtypes(part):
    nodes = [node for each in read_conversations(LABELLED, part) for node in each.nodes]
    assert {node.type for node in nodes} == set(NodeType)
    assert {subtype for node in nodes for subtype in node.subtypes} == set(ENTITY_TYPES)


@pytest.mark.parametrize("row", ALL)
def test_labelled_conversations_have_4_to_14_nonempty_turns(row):
    assert row.keys() == FIELDS
    assert 4 <= len(row["turns"]) <= 14
    assert all(turn["text"].strip() for turn in row["turns"])


@pytest.mark.parametrize("row", ALL)
def test_labelled_nodes_have_a_known_type_and_a_name_in_the_text(row):
    said = " ".join(f"{turn['speaker']} {turn['text']}" for turn in row["turns"]).casefold()
    names = [node["names"][0] for node in row["nodes"]]
    assert len(set(names)) == len(names)
    for node in row["nodes"]:
        known = ENTITY_TYPES if NodeType(node["type"]) == NodeType.ENTITY else ("",)
        assert {node["subtype"], *node.get("also", ())} <= set(known)
        assert any(name.casefold() in said for name in node["names"])
        assert row["owner"]["name"] not in node["names"]


@pytest.mark.parametrize("row", ALL)
def test_labelled_edges_join_labelled_nodes_required_ones_required_nodes(row):
    ends = {node["names"][0]: node.get("optional", False) for node in row["nodes"]}
    ends[OWNER] = False
    for edge in row["edges"]:
        assert edge["a"] in ends
        assert edge["b"] in ends
        assert edge["a"] != edge["b"]
        assert edge.get("optional", False) >= (ends[edge["a"]] or ends[edge["b"]])


@pytest.mark.parametrize("row", ALL)
def test_labelled_edges_have_well_formed_types_dates_and_attitudes(row):
    for edge in row["edges"]:
        assert edge["types"]
        assert all(re.fullmatch(r"[a-z]+(?:-[a-z]+)*", type) for type in edge["types"])
        assert re.fullmatch(r"(?:\d{4}-\d\d(?:-\d\d)?)?", edge.get("valid_from", ""))
        assert set(edge.get("attitude", ())) <= {1, 2, 3, 4, 5}

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


def test_the_halves_share_nothing_and_have_as_many_of_each_language_and_source():
    halves = [rows(half) for half in HALVES]
    ids = [row["id"] for half in halves for row in half]
    assert len(set(ids)) == len(ids) == 30
    kinds = [Counter((row["language"], row["source_type"]) for row in half) for half in halves]
    assert kinds[0] == kinds[1]


def test_those_written_later_are_composed_like_a_half_and_are_none_of_it():
    halves, later = [rows(half) for half in HALVES], rows(MORE)
    assert not {row["id"] for row in later} & {row["id"] for half in halves for row in half}
    kinds = [
        Counter((row["language"], row["source_type"]) for row in each)
        for each in (halves[0], later)
    ]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize("part", SETS)
def test_each_part_can_be_read_and_has_something_of_every_sort(part):
    nodes = [node for each in read_conversations(LABELLED, part) for node in each.nodes]
    assert {node.type for node in nodes} == set(NodeType)
    assert {subtype for node in nodes for subtype in node.subtypes} == set(ENTITY_TYPES)


@pytest.mark.parametrize("row", ALL)
def test_turns_are_between_four_and_fourteen(row):
    assert row.keys() == FIELDS
    assert 4 <= len(row["turns"]) <= 14
    assert all(turn["text"].strip() for turn in row["turns"])


@pytest.mark.parametrize("row", ALL)
def test_nodes_have_a_known_type_and_a_name_that_is_said(row):
    said = " ".join(f"{turn['speaker']} {turn['text']}" for turn in row["turns"]).casefold()
    names = [node["names"][0] for node in row["nodes"]]
    assert len(set(names)) == len(names)
    for node in row["nodes"]:
        known = ENTITY_TYPES if NodeType(node["type"]) == NodeType.ENTITY else ("",)
        assert {node["subtype"], *node.get("also", ())} <= set(known)
        assert any(name.casefold() in said for name in node["names"])
        assert row["owner"]["name"] not in node["names"]


@pytest.mark.parametrize("row", ALL)
def test_the_ends_of_edges_are_nodes_and_what_must_be_found_stands_on_what_must_be(row):
    ends = {node["names"][0]: node.get("optional", False) for node in row["nodes"]}
    ends[OWNER] = False
    for edge in row["edges"]:
        assert edge["a"] in ends
        assert edge["b"] in ends
        assert edge["a"] != edge["b"]
        assert edge.get("optional", False) >= (ends[edge["a"]] or ends[edge["b"]])


@pytest.mark.parametrize("row", ALL)
def test_edges_have_types_dates_and_attitudes_of_the_agreed_form(row):
    for edge in row["edges"]:
        assert edge["types"]
        assert all(re.fullmatch(r"[a-z]+(?:-[a-z]+)*", type) for type in edge["types"])
        assert re.fullmatch(r"(?:\d{4}-\d\d(?:-\d\d)?)?", edge.get("valid_from", ""))
        assert set(edge.get("attitude", ())) <= {1, 2, 3, 4, 5}

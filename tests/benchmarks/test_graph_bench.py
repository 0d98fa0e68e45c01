"""The benches of the graph: what they load, and that they compare what they say they do."""

from dataclasses import replace

from benchmarks.quality.dataset import DatasetSource, EvidenceUnit
from benchmarks.quality.graph_recall import (
    FLOOR_WITH,
    FLOOR_WITHOUT,
    GRAPH_WEIGHT,
    NOT_EXTRACTED,
    WEIGHTS,
    at_weight,
    graph_of_triples,
    invented_graph,
    measure_own_graph,
    measure_published_graphs,
    triples_file,
)
from benchmarks.walks import QUERIES, GraphSize, cypher_table, graph_speed_table
from commonplace.engine.search.pack import Hit
from commonplace.language.embedders.hashing import HashingEmbedder
from support.clock import START
from support.quality_sets import write

FILM = ("The Long Road", "The Long Road is a film by Ines Moreau.")
HER = ("Ines Moreau", "She was born in Lorient.")
OTHERS = [(f"Film {number}", f"Film {number} was shown in {1950 + number}.") for number in range(9)]
QUESTION = "Where was the director of The Long Road born?"


def paragraph(title, text):
    return {"title": title, "text": text}


def write_set(data):
    corpus = [paragraph(*each) for each in (FILM, HER, *OTHERS)]
    write(data / "multihop" / "musique_test_corpus.json", corpus)
    marked = [
        {"title": title, "paragraph_text": text, "is_supporting": (title, text) in (FILM, HER)}
        for title, text in (FILM, HER, *OTHERS)
    ]
    asked = {"id": "2hop__1", "question": QUESTION, "paragraphs": marked}
    write(data / "multihop" / "musique_test.json", [asked])
    read = [
        {
            **paragraph(*FILM),
            "extracted_entities": ["The Long Road"],
            "extracted_triples": [["The Long Road", "is by", "Ines Moreau"], ["a", "lone"]],
        },
        {
            **paragraph(*HER),
            "extracted_entities": ["Lorient"],
            "extracted_triples": [["INES MOREAU", "was born in", "Lorient"]],
        },
    ]
    write(data / "multihop" / "openie_musique_test_results.json", {"docs": read})


def test_graph_of_triples_makes_edges_and_mentions(tmp_path):
    write_set(tmp_path)
    file = triples_file(tmp_path, "musique_test")
    originals = {
        "source:1": DatasetSource(
            "1", FILM[0], (EvidenceUnit("1", FILM[1]),), is_conversation=False
        ),
        "source:2": DatasetSource("2", HER[0], (EvidenceUnit("2", HER[1]),), is_conversation=False),
    }
    snapshot = graph_of_triples(file, originals)
    names = {id: node.name for id, node in snapshot.nodes.items()}
    assert sorted(names.values()) == ["Ines Moreau", "Lorient", "The Long Road"]
    told = {(names[edge.a], edge.type, names[edge.b]) for edge in snapshot.edges.values()}
    assert told == {
        ("The Long Road", "is by", "Ines Moreau"),
        ("Ines Moreau", "was born in", "Lorient"),
    }
    assert {(mention.source, names[mention.node]) for mention in snapshot.mentions} == {
        ("source:1", "The Long Road"),
        ("source:1", "Ines Moreau"),
        ("source:2", "Ines Moreau"),
        ("source:2", "Lorient"),
    }


def test_triples_file_is_none_for_a_corpus_without_triples(tmp_path):
    assert triples_file(tmp_path, "hotpotqa_test") is None


def test_published_graph_bench_compares_arms_and_weights_with_plain_recall(tmp_path):
    write_set(tmp_path)
    (table,) = measure_published_graphs(tmp_path, HashingEmbedder(64), lambda: None)
    rows = {row[0]: row[1:] for row in table.rows}
    assert "without" in rows
    assert len(rows) == 1 + 2 * len({*WEIGHTS, GRAPH_WEIGHT})
    assert rows["names, weight 1"][0] == 100.0  # both paragraphs among the first five


def test_invented_graph_has_the_requested_size_and_is_deterministic():
    snapshot = invented_graph(50, 200, 10, 30)
    assert (len(snapshot.nodes), len(snapshot.edges), len(snapshot.sources)) == (50, 200, 10)
    assert snapshot == invented_graph(50, 200, 10, 30)


def test_graph_speed_table_times_pagerank_and_explore():
    table = graph_speed_table(GraphSize(nodes=60, edges=200, sources=10, mentions=30))
    assert [row[0] for row in table.rows] == ["PageRank from one node", "explore by a name"]
    assert all(cell > 0 for row in table.rows for cell in row[1:])


def test_cypher_table_times_every_query():
    table = cypher_table(GraphSize(nodes=120, edges=300, sources=10, mentions=40))
    assert [row[0] for row in table.rows][2:] == list(QUERIES)
    assert all(row[1] > 0 for row in table.rows)


def test_own_graph_bench_compares_weights_with_no_extraction(tmp_path):
    write_set(tmp_path)
    (table,) = measure_own_graph(tmp_path, HashingEmbedder(), lambda: None)
    weights = [f"weight {weight:g}" for weight in sorted({*WEIGHTS, GRAPH_WEIGHT})]
    assert [row[0] for row in table.rows] == [NOT_EXTRACTED, FLOOR_WITHOUT, *weights, FLOOR_WITH]


def test_at_weight_reranks_one_answer_by_graph_weight():
    plain = Hit("plain", "", "passage", "history", START, None, 1.0, parts={"words": 1.0})
    parts = {"words": 0.9, "graph": GRAPH_WEIGHT}
    lifted = replace(plain, id="lifted", score=0.9 + GRAPH_WEIGHT, parts=parts)
    assert [hit.id for hit in at_weight([lifted, plain], GRAPH_WEIGHT)] == ["lifted", "plain"]
    assert [hit.id for hit in at_weight([lifted, plain], 0.0)] == ["plain", "lifted"]

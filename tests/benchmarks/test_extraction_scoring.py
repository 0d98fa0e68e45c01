"""What is found in a labelled conversation is counted as labelled/README.md says."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from benchmarks.judgement.extraction_score import (
    Conversation,
    ExtractionResult,
    GoldEdge,
    GoldNode,
    account_of,
    count_edges,
    count_nodes,
    extract_all,
)
from benchmarks.judgement.extraction_tables import by_language, mistakes, targets
from commonplace.language.extract.values import FoundEdge, FoundNode, SourceExtraction, TextLocation
from commonplace.model.graph.types import NodeType

MAY = datetime(2026, 5, 4, tzinfo=UTC)
ROW = {
    "owner": {"name": "Dana Reed"},
    "date": "2026-05-20",
    "source_type": "email",
    "turns": [
        {"speaker": "Dana Reed", "role": "user", "text": "Hello."},
        {"speaker": "assistant", "role": "assistant", "text": "Hi.", "at": "2026-05-21"},
        {"speaker": "Priya Raman <priya@example.com>", "text": "Good morning."},
    ],
}

PRIYA = GoldNode(type=NodeType.PERSON, subtypes=frozenset(), names=("Priya Raman", "Priya"))
LEO = GoldNode(type=NodeType.PERSON, subtypes=frozenset(), names=("Leo",))
ACME = GoldNode(type=NodeType.ENTITY, subtypes=frozenset({"organization"}), names=("Acme",))
BOSTON = GoldNode(type=NodeType.ENTITY, subtypes=frozenset({"location"}), names=("Boston",))
CLUB = GoldNode(
    type=NodeType.ENTITY,
    subtypes=frozenset({"group", "organization"}),
    names=("running club",),
    optional=True,
)

OWNER = FoundNode(type=NodeType.PERSON, name="Dana Reed", is_owner=True)
FOUND_PRIYA = FoundNode(type=NodeType.PERSON, name="Priya Raman")
FOUND_LEO = FoundNode(type=NodeType.PERSON, name="Leo")
FOUND_ACME = FoundNode(type=NodeType.ENTITY, subtype="organization", name="Acme")
FOUND_BOSTON = FoundNode(type=NodeType.ENTITY, subtype="location", name="Boston")
FOUND_CLUB = FoundNode(type=NodeType.ENTITY, subtype="group", name="the running club")
NODES = (OWNER, FOUND_PRIYA, FOUND_LEO, FOUND_ACME, FOUND_BOSTON)
ME, THE_PRIYA, THE_LEO, THE_ACME, THE_BOSTON = range(5)


def reading(
    *found: FoundNode | FoundEdge,
    nodes: tuple[GoldNode, ...] = (PRIYA, LEO, ACME, BOSTON),
    edges: tuple[GoldEdge, ...] = (),
) -> ExtractionResult:
    conversation = Conversation(
        id="x", language="en", account=account_of(ROW), nodes=nodes, edges=edges
    )
    return ExtractionResult(
        conversation,
        SourceExtraction(
            nodes=tuple(one for one in found if isinstance(one, FoundNode)),
            edges=tuple(one for one in found if isinstance(one, FoundEdge)),
        ),
    )


def edge(a: int, b: int, type: str, **more) -> FoundEdge:
    return FoundEdge(a=a, b=b, type=type, place=TextLocation(1, 0, 0), **more)


def wanted(a: str, b: str, *types: str, **more) -> GoldEdge:
    return GoldEdge(a=a, b=b, types=types, **more)


def edge_counts(found: FoundEdge, gold: GoldEdge) -> tuple[float | None, float | None]:
    count = count_edges([reading(*NODES, found, edges=(gold,))])
    return count.precision, count.recall


RIGHT, WRONG = (100, 100), (0, 0)


# ——— nodes ———


@pytest.mark.parametrize(
    ("found", "is_right"),
    [
        (FOUND_PRIYA, True),
        (FoundNode(type=NodeType.PERSON, name="priya"), True),
        (FoundNode(type=NodeType.PERSON, name="P. Raman", aliases=("Priya",)), True),
        (FoundNode(type=NodeType.PERSON, name="Priya R"), False),
        (FoundNode(type=NodeType.CONCEPT, name="Priya Raman"), False),
    ],
)
def test_gold_node_accepts_a_matching_type_and_any_spelling(found, is_right):
    assert PRIYA.accepts(found) is is_right


def test_gold_node_accepts_any_listed_subtype_and_ignores_articles():
    assert CLUB.accepts(FOUND_CLUB)
    assert CLUB.accepts(
        FoundNode(type=NodeType.ENTITY, subtype="organization", name="My running club")
    )
    assert not CLUB.accepts(FoundNode(type=NodeType.ENTITY, subtype="event", name="running club"))


def test_count_nodes_counts_unlabelled_as_wrong_and_unfound_as_missing():
    stranger = FoundNode(type=NodeType.PERSON, name="Monday")
    got = reading(OWNER, FOUND_PRIYA, stranger, nodes=(PRIYA, LEO))
    assert got.wrong_nodes == [stranger]
    assert got.missing_nodes == [LEO]
    count = count_nodes([got])
    assert (count.precision, count.recall) == (50, 50)


def test_count_nodes_counts_optional_nodes_as_right_and_never_missing():
    found, left = reading(FOUND_CLUB, nodes=(CLUB,)), reading(nodes=(CLUB,))
    assert count_nodes([found]).precision == 100
    assert count_nodes([found, left]).recall is None


def test_count_nodes_counts_a_duplicate_person_as_wrong_once():
    nickname = FoundNode(type=NodeType.PERSON, name="Priya")
    got = reading(nickname, FOUND_PRIYA, nodes=(PRIYA,))
    assert (count_nodes([got]).precision, count_nodes([got]).recall) == (50, 100)


def test_count_nodes_matches_names_before_aliases():
    """Leo is not lost to somebody who is only also called Leo."""
    also_leo = FoundNode(type=NodeType.PERSON, name="Leonora", aliases=("Leo",))
    assert reading(also_leo, FOUND_LEO, nodes=(LEO,)).wrong_nodes == [also_leo]


def test_count_nodes_skips_the_owner_and_low_confidence_nodes():
    unsure = FoundNode(type=NodeType.PERSON, name="Will", confidence=0.6)
    assert count_nodes([reading(OWNER, unsure)]).found == 0


def test_count_nodes_filters_by_type_or_subtype():
    got = reading(*NODES, FOUND_CLUB, nodes=(PRIYA, ACME))
    assert count_nodes([got], "Person").found == 2
    assert count_nodes([got], "organization").wrong == 0
    assert count_nodes([got], "location").wrong == 1


# ——— edges ———


def test_count_edges_requires_both_ends_and_an_accepted_type():
    gold = wanted("I", "Acme", "works-at", "founded")
    assert edge_counts(edge(ME, THE_ACME, "founded"), gold) == RIGHT
    assert edge_counts(edge(ME, THE_ACME, "dislikes"), gold) == WRONG
    assert edge_counts(edge(THE_LEO, THE_ACME, "works-at"), gold) == WRONG


def test_count_edges_accepts_either_direction_of_a_symmetric_type():
    gold = wanted("I", "Leo", "spouse")
    assert edge_counts(edge(THE_LEO, ME, "spouse"), gold) == RIGHT


def test_count_edges_accepts_the_inverse_type_but_not_a_reversed_edge():
    gold = wanted("I", "Priya Raman", "reports-to")
    assert edge_counts(edge(THE_PRIYA, ME, "reports-to"), gold) == WRONG
    assert edge_counts(edge(THE_PRIYA, ME, "manages"), gold) == RIGHT


def test_count_edges_ignores_direction_between_person_and_entity():
    gold = wanted("Leo", "Acme", "works-at")
    assert edge_counts(edge(THE_ACME, THE_LEO, "works-at"), gold) == RIGHT


def test_count_edges_respects_direction_between_two_entities():
    gold = wanted("Acme", "Boston", "located-in")
    assert edge_counts(edge(THE_ACME, THE_BOSTON, "located-in"), gold) == RIGHT
    assert edge_counts(edge(THE_BOSTON, THE_ACME, "located-in"), gold) == WRONG


def test_count_edges_accepts_a_role_in_either_direction():
    gold = wanted("I", "Priya Raman", "dentist")
    assert edge_counts(edge(THE_PRIYA, ME, "dentist"), gold) == RIGHT


def test_count_edges_distinguishes_ended_from_current_relations():
    gold = wanted("I", "Acme", "works-at", ends=True)
    assert edge_counts(edge(ME, THE_ACME, "works-at"), gold) == WRONG
    assert edge_counts(edge(ME, THE_ACME, "works-at", ends=True), gold) == RIGHT
    assert edge_counts(edge(ME, THE_ACME, "works-at", valid_to=MAY), gold) == RIGHT


def test_count_edges_counts_an_edge_with_a_wrong_end_as_wrong():
    monday = FoundNode(type=NodeType.PERSON, name="Monday")
    got = reading(OWNER, monday, edge(0, 1, "friend"), edges=(wanted("I", "Leo", "friend"),))
    assert len(got.wrong_edges) == 1
    assert len(got.missing_edges) == 1


def test_count_edges_counts_a_duplicate_relation_once():
    twice = (edge(ME, THE_LEO, "spouse"), edge(THE_LEO, ME, "spouse"))
    assert count_edges([reading(*NODES, *twice)]).found == 1


def test_count_edges_groups_by_the_first_labelled_type():
    gold = (wanted("I", "Acme", "works-at", "founded"),)
    got = reading(*NODES, edge(ME, THE_ACME, "founded"), edge(ME, THE_LEO, "rival"), edges=gold)
    assert count_edges([got], "works-at").found == 1
    assert count_edges([got], "founded").found == 0
    assert count_edges([got], "rival").wrong == 1


def test_extraction_result_checks_dates_and_attitudes_of_found_edges():
    gold = (
        wanted("I", "Acme", "works-at", valid_from="2026-05"),
        wanted("I", "Leo", "spouse", attitude=frozenset({4, 5})),
        wanted("I", "Boston", "lives-in", valid_from="2026-05-05"),
        wanted("I", "Priya Raman", "friend", attitude=frozenset({5})),
    )
    found = (
        edge(ME, THE_ACME, "works-at", valid_from=MAY),
        edge(ME, THE_LEO, "spouse", attitude=5),
        edge(ME, THE_BOSTON, "lives-in", valid_from=MAY),
    )
    got = reading(*NODES, *found, edges=gold)
    assert got.dates_right == [True, False]
    assert got.attitudes_right == [True]


# ——— the report ———


def test_mistakes_list_wrong_and_missing_nodes_and_edges():
    monday = FoundNode(type=NodeType.PERSON, name="Monday", aliases=("Mon",))
    got = reading(
        OWNER,
        monday,
        edge(0, 1, "friend"),
        nodes=(LEO,),
        edges=(wanted("I", "Leo", "spouse", ends=True),),
    )
    assert list(mistakes([got])) == [
        "x",
        "    wrong node: Person  'Monday' = Mon",
        "    missing node: Person  'Leo'",
        "    wrong edge: Dana Reed > Monday: friend (passage 1)",
        "    missing edge: I > Leo: spouse, over",
    ]


def test_extraction_targets_verdicts_follow_node_and_edge_precision():
    gold = (wanted("I", "Leo", "spouse"),)
    good = reading(*NODES, edge(ME, THE_LEO, "spouse"), edges=gold)
    bad = reading(*NODES, edge(ME, THE_LEO, "sibling"), nodes=(PRIYA,), edges=gold)
    assert [target.verdict for target in targets([good], "open")] == ["met", "met"]
    assert [target.verdict for target in targets([bad], "open")] == ["missed", "missed"]
    assert by_language([good], "open").rows[-1][:5] == ("all", 1, 4, 100, 100)


# ——— as extraction reads it ———


def test_account_of_reads_speakers_roles_and_times():
    account = account_of(ROW)
    mine, machine, theirs = account.passages
    assert (mine.by_owner, mine.by_machine) == (True, False)
    assert (machine.by_owner, machine.by_machine) == (False, True)
    assert machine.at.date().isoformat() == "2026-05-21"
    assert (theirs.speaker, theirs.by_owner) == ("Priya Raman", False)
    assert account.participants == ("Dana Reed", "Priya Raman <priya@example.com>")


def test_extract_all_reads_each_conversation_once():
    conversation = reading().conversation
    asked = []

    def extract(account):
        asked.append(account)
        return SourceExtraction()

    assert [each.conversation for each in extract_all([conversation], extract)] == [conversation]
    assert asked == [conversation.account]

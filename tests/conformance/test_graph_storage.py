"""What a store promises of the graph: it comes back as it was told, all of a changeset or nothing,
and nobody else sees it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from commonplace.errors import StaleDecision
from commonplace.model.changeset import ClearScope
from commonplace.model.graph.assertion import NoteLifetime, note_expiry
from commonplace.model.graph.elements import Mentioned
from commonplace.model.graph.steps import RemoveArtifact
from commonplace.model.graph.types import NodeType
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.sources.source import SourceType
from commonplace.store import failpoints
from commonplace.store.queries import (
    AssertionQuery,
    EndedQuery,
    GraphItems,
    GraphQuery,
    JournalQuery,
)
from support.clock import START
from support.graph_making import (
    a_node,
    a_node_telling,
    a_note,
    an_artifact,
    an_edge,
    an_edge_telling,
    an_extraction,
    changing_node,
    cited,
    extracted,
    going,
    putting_artifact,
    putting_edge,
    putting_node,
    putting_note,
    removing_edge,
    removing_node,
    removing_notes,
)
from support.making import ANA, BOB, changeset
from support.stores import all_rows

LATER = START + timedelta(days=3)
FULL = a_node(
    "Miriam Levi",
    aliases=("Miri", "מירי"),
    addresses=("miri@example.org",),
    description="The one with the cello",
    confidence=0.95,
    sensitivity=Sensitivity.HIGH,
    ttl_policy=TtlPolicy.KEEP_FOREVER,
    mentioned=Mentioned(
        source_count=2,
        promotion_score=1.25,
        first_at=START,
        last_at=LATER,
        days=(date(2026, 1, 1), date(2026, 1, 4)),
    ),
    is_dirty=True,
    has_meso=True,
    has_macro=True,
    stands=False,
)


def loose_ends(store, scope=ANA):
    return {what: n for what, n in store.statistics(scope).loose_ends.items() if n}


@pytest.fixture
def friends(store):
    mira, noa = a_node("Mira"), a_node("Noa")
    edge = an_edge(mira, noa)
    store.apply(changeset(putting_node(mira), putting_node(noa), putting_edge(edge)))
    return mira, noa, edge


# ——— what comes back ———


def test_node_round_trips_every_field(store):
    plain = a_node("Rust", type=NodeType.CONCEPT)
    store.apply(changeset(putting_node(FULL), putting_node(plain)))
    assert store.graph_items(
        ANA, GraphQuery(nodes=[plain.id, "node:none", FULL.id, plain.id])
    ).nodes == [plain, FULL]


def test_edge_round_trips_every_field(store, friends):
    mira, noa, edge = friends
    past = an_edge(
        noa,
        mira,
        "neighbour",
        description="Across the hall",
        attitude=5,
        proximity=1,
        confidence=0.5,
        sensitivity=Sensitivity.HIGH,
        valid_to=LATER,
        invalidated_at=LATER,
        is_dirty=True,
        created_at=START + timedelta(days=1),
    )
    store.apply(changeset(putting_edge(past)))
    assert store.graph_items(ANA, GraphQuery(edges=[past.id, edge.id])).edges == [past, edge]


def test_assertions_and_notes_round_trip_every_field(store):
    mira, noa = a_node("Mira"), a_node("Noa")
    edge = an_edge(mira, noa)
    own_word = a_node_telling(mira, source=None, aliases=("Mi",), addresses=("m@x.org",))
    team = cited("source:9", scope="team:crew", source_type=SourceType.EMAIL, passage=4)
    read = a_node_telling(mira, source=team, subtype="x", stands=False, recorded_at=LATER)
    ended = an_edge_telling(edge, source=team, ends=True, valid_to=LATER, attitude=2)
    store.apply(
        changeset(putting_node(mira, own_word, read), putting_node(noa), putting_edge(edge, ended))
    )
    assert store.assertions(ANA, AssertionQuery(nodes=[mira.id])).nodes == [own_word, read]
    assert store.assertions(ANA, AssertionQuery(ends=[noa.id])).edges == [ended]
    note = a_note(edge, source=team, expires_at=note_expiry(NoteLifetime.WEEK, START))
    store.apply(changeset(putting_note(note)))
    assert store.assertions(ANA, AssertionQuery(sources=["source:9"])) == ([read], [ended], [note])
    assert (
        store.assertions(ANA, AssertionQuery(sources=["source:none"]))
        == store.assertions(ANA, AssertionQuery(sources=[]))
        == ([], [], [])
    )


def test_node_update_inserts_changes_and_removes_assertions(store):
    mira = a_node("Mira")
    first, second = a_node_telling(mira), a_node_telling(mira, source=cited("source:2"))
    store.apply(changeset(putting_node(mira, first, second)))
    forgotten = a_node_telling(mira, id=second.id, source=second.source, stands=False)
    store.apply(
        changeset(changing_node(mira, assertions=(forgotten,), removed_assertions=(first.id,)))
    )
    assert store.assertions(ANA, AssertionQuery(nodes=[mira.id])).nodes == [forgotten]
    assert loose_ends(store) == {}


def test_notes_are_listed_by_subject_newest_first_and_by_expiry(store, friends):
    mira, _, edge = friends
    old, new = a_note(mira, "old"), a_note(mira, "new", date_added=LATER)
    ending = a_note(edge, "brief", expires_at=LATER, date_added=START - timedelta(days=1))
    store.apply(changeset(*map(putting_note, (old, new, ending))))
    assert store.graph_items(ANA, GraphQuery(notes_about=[mira.id])).notes == [new, old]
    assert store.graph_items(ANA, GraphQuery(notes_about=[edge.id, mira.id])).notes == [
        new,
        old,
        ending,
    ]
    assert store.ended_graph_items(ANA, EndedQuery(notes_by=LATER, limit=10)).notes == [ending]
    assert store.ended_graph_items(ANA, EndedQuery(notes_by=START, limit=10)).notes == []
    store.apply(changeset(putting_note(replace(new, stands=False))))
    assert store.graph_items(ANA, GraphQuery(notes_about=[mira.id])).notes == [
        replace(new, stands=False),
        old,
    ]
    store.apply(changeset(removing_notes(old, ending, event=Event.TTL)))
    assert [
        note.id for note in store.graph_items(ANA, GraphQuery(notes_about=[mira.id, edge.id])).notes
    ] == [new.id]


def test_artifacts_round_trip_text_and_json(store):
    text = an_artifact("text")
    data = an_artifact(
        "data", output={"steps": [1, None, "שלום"]}, source=cited(), created_at=LATER
    )
    store.apply(changeset(putting_artifact(text), putting_artifact(data)))
    assert store.graph_items(ANA, GraphQuery(artifacts=None)).artifacts == [data, text]
    assert store.graph_items(ANA, GraphQuery(artifacts=[text.id])).artifacts == [text]
    store.apply(changeset(putting_artifact(text.evolve(output=["other"]))))
    assert store.graph_items(ANA, GraphQuery(artifacts=[text.id])).artifacts == [
        text.evolve(output=["other"])
    ]
    store.apply(changeset(RemoveArtifact(data.id, going(data.id))))
    assert [each.id for each in store.graph_items(ANA, GraphQuery(artifacts=None)).artifacts] == [
        text.id
    ]


def test_extraction_marks_change_neither_revision_nor_graph_counter(store, friends):
    before = store.counters(ANA)
    own, team = an_extraction(), an_extraction(scope="team:crew", passages=9, stands=False)
    store.apply(changeset(extracted(own), extracted(team), decided_on=before.revision))
    assert sorted(store.extractions(ANA), key=lambda e: e.scope) == [team, own]
    assert store.extractions(ANA, ["source:2"]) == []
    store.apply(changeset(extracted(team, gone=True)))
    assert store.extractions(ANA) == [own]
    after = store.counters(ANA)
    assert (after.revision, after.graph) == (before.revision, before.graph)


def test_merged_nodes_are_found_by_their_target(store):
    mira, miri, other = a_node("Mira"), a_node("Miri"), a_node("Noa")
    store.apply(changeset(*map(putting_node, (mira, miri, other))))
    store.apply(changeset(changing_node(miri, merged_into=mira.id)))
    [found] = store.graph_items(ANA, GraphQuery(merged_into=[mira.id, other.id])).nodes
    assert (found.id, found.merged_into) == (miri.id, mira.id)


# ——— all or nothing ———


def test_graph_changes_increment_memory_and_graph_revision(store, friends):
    before = store.counters(ANA)
    store.apply(changeset(putting_node(a_node("Ido")), putting_node(a_node("Tal"))))
    after = store.counters(ANA)
    assert (after.revision, after.graph) == (before.revision + 1, before.graph + 1)
    assert store.counters(ANA).graph == after.graph
    told = store.journal(ANA, JournalQuery(after_revision=before.revision))
    assert [row.entry.event for row in told] == [Event.ADD, Event.ADD]


def test_graph_apply_refuses_a_stale_decision_and_writes_nothing(store, store_url, friends):
    mira, _, edge = friends
    stale = store.counters(ANA).revision
    store.apply(changeset(changing_node(mira, name="Mira L")))
    rows = all_rows(store_url)
    with pytest.raises(StaleDecision):
        store.apply(changeset(putting_node(a_node("Ido")), decided_on=stale))
    with pytest.raises(StaleDecision):
        store.apply(changeset(putting_node(a_node("Ido")), changing_node(mira, name="Other")))
    moved = putting_edge(edge.evolve(version=3), before=edge.evolve(version=2))
    with pytest.raises(StaleDecision):
        store.apply(changeset(moved))
    assert all_rows(store_url) == rows


@pytest.mark.parametrize("moment", ["apply.rows", "apply.journal", "apply.before_commit"])
def test_graph_apply_interrupted_before_commit_leaves_no_rows(store, store_url, friends, moment):
    mira, noa, edge = friends
    rows = all_rows(store_url)

    def pull_the_plug(reached: str) -> None:
        if reached == moment:
            raise RuntimeError(moment)

    failpoints.install_hook(pull_the_plug)
    try:
        with pytest.raises(RuntimeError):
            store.apply(
                changeset(
                    putting_node(a_node("Ido")),
                    changing_node(mira, name="Mira L"),
                    putting_note(a_note(noa)),
                    removing_edge(edge),
                )
            )
    finally:
        failpoints.install_hook(None)
    assert all_rows(store_url) == rows


# ——— what goes ———


def test_graph_removal_removes_assertions_and_notes(store, friends):
    mira, noa, edge = friends
    store.apply(changeset(putting_note(a_note(mira)), putting_note(a_note(edge))))
    store.apply(changeset(removing_edge(edge), removing_node(mira)))
    assert store.graph_items(ANA, GraphQuery(nodes=[mira.id, noa.id])).nodes == [noa]
    assert store.graph_items(ANA, GraphQuery(edges=[edge.id])).edges == []
    assert (
        store.assertions(ANA, AssertionQuery(nodes=[mira.id])).nodes
        == store.assertions(ANA, AssertionQuery(ends=[noa.id])).edges
        == []
    )
    assert store.graph_items(ANA, GraphQuery(notes_about=[mira.id, edge.id])).notes == []
    assert loose_ends(store) == {}


def test_graph_erase_moves_the_epoch_and_delete_only_the_graph_epoch(store, friends):
    mira, _, edge = friends
    before = store.counters(ANA)
    store.apply(changeset(removing_edge(edge, event=Event.DELETE)))
    between = store.counters(ANA)
    assert between.epoch == before.epoch
    assert between.epoch_of_graph > before.epoch_of_graph
    store.apply(changeset(removing_node(mira)))
    after = store.counters(ANA)
    assert after.epoch > between.epoch
    assert after.epoch_of_graph > between.epoch_of_graph


def test_graph_erase_leaves_no_text_in_the_journal(store, friends):
    mira, _, edge = friends
    store.apply(changeset(removing_edge(edge), removing_node(mira)))
    told = store.journal(ANA, JournalQuery(subject=mira.id))
    assert [row.entry.event for row in told] == [Event.ADD, Event.ERASE]
    assert told[0].entry.category is None


def test_clear_scope_leaves_no_graph_rows(store, store_url, friends):
    _, _, edge = friends
    store.apply(
        changeset(
            putting_note(a_note(edge)), putting_artifact(an_artifact()), extracted(an_extraction())
        )
    )
    everything = ClearScope(Entry(op=Op.DELETE, event=Event.ERASE))
    store.apply(changeset(everything))
    kept = {table: rows for table, rows in all_rows(store_url).items() if rows}
    assert kept.keys() <= {"scopes", "journal", "migrations", "generations", "store_facts"}


# ——— whose it is ———


def test_graph_of_another_scope_is_neither_readable_nor_writable(store, friends):
    mira, _, edge = friends
    note = a_note(mira)
    store.apply(changeset(putting_note(note), extracted(an_extraction())))
    store.apply(changeset(putting_artifact(an_artifact())))
    by_id = GraphQuery(nodes=[mira.id], edges=[edge.id], notes=[note.id])
    assert store.graph_items(BOB, by_id) == GraphItems([], [], [], [], {}, [], [])
    assert store.assertions(BOB, AssertionQuery(nodes=[mira.id])).nodes == []
    assert (
        store.assertions(BOB, AssertionQuery(ends=[mira.id])).edges
        == store.graph_items(BOB, GraphQuery(notes_about=[mira.id])).notes
        == []
    )
    assert store.assertions(BOB, AssertionQuery(sources=["source:1"])) == ([], [], [])
    assert (
        store.graph_items(BOB, GraphQuery(artifacts=None)).artifacts == store.extractions(BOB) == []
    )
    assert store.graph_page(BOB, 0, -1).nodes == []
    assert store.whole_graph(BOB).is_empty
    store.apply(changeset(removing_notes(note), scope=BOB))
    with pytest.raises(StaleDecision):
        store.apply(changeset(changing_node(mira, name="Mine"), scope=BOB))
    assert store.graph_items(ANA, GraphQuery(nodes=[mira.id])).nodes == [mira]
    assert store.graph_items(ANA, GraphQuery(notes_about=[mira.id])).notes == [note]


def test_graph_ids_may_repeat_across_scopes(store, friends):
    mira, noa, edge = friends
    his = [each.evolve(user_id="bob") for each in (mira, noa)]
    store.apply(
        changeset(*map(putting_node, his), putting_edge(edge.evolve(user_id="bob")), scope=BOB)
    )
    store.apply(changeset(removing_edge(edge), removing_node(mira)))
    assert store.graph_items(BOB, GraphQuery(nodes=[mira.id, noa.id])).nodes == his
    assert store.graph_items(BOB, GraphQuery(edges=[edge.id])).edges == [edge.evolve(user_id="bob")]

"""What a source told goes, hides and comes back with it; what others tell, too, stays."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import commonplace
from support.clock import Clock
from support.graph_told import OWNER, TALKS, take_in, told
from support.settled import settled

NUMBERS = range(len(TALKS))
SETTINGS = {"embedder": "hashing", "extraction": "on-demand"}


@pytest.fixture
def book(open_book):
    return open_book(extraction="auto")


@pytest.fixture
def other_book(tmp_path, clock):
    path = str(tmp_path / "other.db")
    book = commonplace.open(path, embedder="hashing", clock=clock, extraction="auto")
    yield book
    book.close()


@pytest.mark.parametrize("erased", range(len(TALKS)))
def test_erase_source_leaves_the_graph_as_if_never_ingested(book, other_book, erased):
    me, never = book.user(OWNER), other_book.user(OWNER)
    ids = [take_in(me, number) for number in range(len(TALKS))]
    settled(book)
    for number in range(len(TALKS)):
        if number != erased:
            take_in(never, number)
    settled(other_book)
    before = told(me)
    me.erase(ids[erased])
    assert told(me) == told(never)
    assert told(me) != before


@settings(max_examples=12)
@given(order=st.permutations(NUMBERS), erased=st.sets(st.sampled_from(NUMBERS), max_size=3))
def test_erase_source_graph_is_independent_of_ingest_order(order, erased):
    clock = Clock()
    with (
        commonplace.open(
            ":memory:", embedder="hashing", clock=clock, extraction="on-demand"
        ) as book,
        commonplace.open(
            ":memory:", embedder="hashing", clock=clock, extraction="on-demand"
        ) as rest,
    ):
        me, never = book.user(OWNER), rest.user(OWNER)
        ids = {}
        for number in order:
            ids[number] = take_in(me, number)
            me.extract([ids[number]])
        for number in order:
            if number not in erased:
                never.extract([take_in(never, number)])
        for number in erased:
            me.erase(ids[number])
        assert told(me) == told(never)


def test_forget_source_hides_graph_items_and_restore_reverts(book):
    me = book.user(OWNER)
    ids = [take_in(me, number) for number in range(3)]
    settled(book)
    before = told(me)
    keys = {node.id for node in me.people(limit=100).nodes}
    me.forget(ids[1])
    hidden = told(me)
    assert hidden != before
    me.restore(ids[1])
    assert told(me) == before
    assert {node.id for node in me.people(limit=100).nodes} == keys  # nobody is another one now
    me.forget(ids[1])
    assert told(me) == hidden


def test_purge_of_a_source_deletes_graph_assertions(book, clock):
    me = book.user(OWNER)
    ids = [take_in(me, number) for number in range(3)]
    settled(book)
    me.forget(ids[0])
    hidden = told(me)
    clock.tick(days=31)
    me.tidy()
    assert told(me) == hidden
    assert me.verify_forget("Rex").clean


def test_erase_source_leaves_no_text_in_the_graph(book):
    me = book.user(OWNER)
    ids = [take_in(me, number) for number in range(len(TALKS))]
    settled(book)
    me.erase(ids[0], now=True)
    for word in ("Rex", "Sarah has a dog"):
        assert me.verify_forget(word).clean


def test_erase_source_keeps_edges_and_notes_by_the_owner(book):
    me = book.user(OWNER)
    id = take_in(me, 0)
    settled(book)
    me.relate("me", "Sarah Chen", "colleague")
    me.note("Sarah Chen", "Plays the cello", lifetime="forever")
    me.erase(id)
    sarah = me.node("Sarah Chen")
    assert [edge.relationship_type for edge in sarah.edges] == ["colleague"]
    assert [note.content for note in sarah.notes] == ["Plays the cello"]
    assert sarah.node.source_count == 0


def test_erased_node_returns_only_when_a_later_turn_mentions_the_name(book, clock):
    me = book.user(OWNER)
    me.observe("My brother Dan lives in Haifa.", thread="main")
    clock.tick(minutes=2)
    settled(book)
    me.erase(me.node("Dan").node.id)
    me.observe("My sister Ruth works at Acme.", thread="main")
    clock.tick(minutes=2)
    settled(book)
    assert {node.name for node in me.people().nodes} == {OWNER, "Ruth"}
    me.observe("Dan called me from Haifa, my brother is well.", thread="main")
    clock.tick(minutes=2)
    settled(book)
    assert "Dan" in {node.name for node in me.people().nodes}


def test_erase_and_restore_number_a_node_with_a_name_already_taken(book):
    """What is left of a node after an erasure, or comes back, may be called as another is."""
    me = book.user(OWNER)
    said = ("Ana: My friend Sarah Chen works at Acme.", "Ana: My friend Sarah works at Acme.")
    full, short = (
        me.ingest(text, format="transcript", external_id=str(n)).id for n, text in enumerate(said)
    )
    settled(book)
    me.nodes_update(me.nodes_add("Sally").id, name="Sarah")
    me.erase(full)
    assert {node.name for node in me.people().nodes} == {OWNER, "Sarah", "Sarah (2)"}
    me.forget(short)
    me.restore(short)
    assert {node.name for node in me.people().nodes} == {OWNER, "Sarah", "Sarah (2)"}


def test_sensitive_source_does_not_affect_open_graph_reads(book):
    me = book.user(OWNER)
    open_one = "Ana: My friend Sarah Chen works at Acme."
    secret = "Ana: My name is Ana Zebrowitz. Sarah Chen is ill, and left Acme."
    me.ingest(open_one, format="transcript", date="2026-01-01")
    settled(book)
    before = told(me)
    me.ingest(secret, format="transcript", date="2026-01-10", sensitivity="high")
    settled(book)
    assert told(me) == before
    assert not me.node("Sarah Chen").node.is_dirty
    assert "Ana Zebrowitz" not in me.node("me").node.aliases
    assert me.explore(
        queries=[{"query": "Sarah Chen is ill", "threshold": 0.0}],
        granularity=1,
        return_explanations=True,
    ).semantic.people[0].explanation.similarity == pytest.approx(
        _similarity_without(book, open_one), abs=1e-6
    )


def _similarity_without(book, said):
    """Of the same question, where the guarded source was never met."""
    other = book.user("ana-2")
    other.profile_set("preferred_name", OWNER)
    other.ingest(said.replace("Ana:", "ana:"), format="transcript", date="2026-01-01")
    settled(book)
    found = other.explore(
        queries=[{"query": "Sarah Chen is ill", "threshold": 0.0}],
        granularity=1,
        return_explanations=True,
    )
    return found.semantic.people[0].explanation.similarity


def test_erase_of_a_namesake_frees_the_name_for_the_other_node(book):
    """Two are called Sarah Chen, so that one of them goes by Sally; until the other is erased."""

    def letter(number, name, address):
        id = me.ingest(
            f"From: {name} <{address}>\nTo: ana@example.com\nSubject: {number}\n"
            f"Date: Mon, {number:02d} Jan 2026 10:00:00 +0000\n\nHello.\n",
            format="email",
            external_id=f"letter {number}",
        ).id
        settled(book)
        return id

    def people():
        return {
            person.name: person.aliases
            for person in me.people(limit=10).nodes
            if not person.is_owner
        }

    me = book.user(OWNER)
    one = [letter(1, "Sarah", "s1@a.com")]
    letter(2, "Sally", "s2@b.com")
    one.append(letter(3, "Sarah Chen", "s1@a.com"))
    letter(4, "Sarah Chen", "s2@b.com")
    letter(5, "Sally", "s2@b.com")
    assert people().keys() == {"Sally", "Sarah Chen"}
    me.erase(one)
    assert people() == {"Sarah Chen": ("Sally",)}
    letter(6, "Sally", "s2@b.com")
    assert people() == {"Sarah Chen": ("Sally",)}

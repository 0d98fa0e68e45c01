"""A night shows nobody words that they could not read before it, and gives none of them to a
model."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import timedelta
from itertools import count

import pytest

from commonplace.errors import CommonplaceError
from commonplace.operations.serialization import as_data
from support.clock import START
from support.model_server import model_server

SENSITIVE, OF_TEAM, OF_AGENT, OF_GUEST = "hepatitis", "zither", "bassoon", "kayak"
PLANTED = (SENSITIVE, OF_TEAM, OF_AGENT, OF_GUEST, "tea", "Quombat", "lighthouse")
GUARDED = (SENSITIVE, OF_TEAM, OF_AGENT, OF_GUEST)
NAMES = ("Ilka Stone", "Quombat", "Sarah Chen", "Rafi Levi")
NODES_AND_EDGES = (
    "MATCH (n) RETURN n",
    "MATCH (a)-[r]->(b) RETURN a, r, b",
)
_threads = count(1)

READERS = {
    "owner": lambda book: book.user("ana"),
    "owner, cleared": lambda book: book.user("ana", cleared=True),
    "agent": lambda book: book.user("ana").agent("supervisor"),
    "agent of people": lambda book: book.user("ana").agent("helper"),
    "agent of sources and things": lambda book: book.user("ana").agent("researcher"),
    "agent of things": lambda book: book.user("ana").agent("librarian"),
    "cleared agent of people": lambda book: book.user("ana", cleared=True).agent("helper"),
    "agent without anything": lambda book: book.user("ana").agent("stylist"),
    "team member": lambda book: book.user("bob"),
    "team member, cleared": lambda book: book.user("bob", cleared=True),
    "ex-member": lambda book: book.user("eve", cleared=True),
    "guest": lambda book: book.user("friend", cleared=True),
    "other": lambda book: book.user("mallory", cleared=True),
}
CONFIG = """
allowlists:
  supervisor: [relationships, knowledge, history, interests, procedural]
  helper: [relationships]
  researcher: [history, knowledge]
  librarian: [knowledge]
  stylist: [tasks]
"""


@pytest.fixture
def categories(tmp_path):
    path = tmp_path / "categories.yaml"
    path.write_text(CONFIG)
    return str(path)


def fill(book, clock):
    ana, bob, eve, friend = map(book.user, ("ana", "bob", "eve", "friend"))
    team = bob.teams_create("garden").id
    for member in ("ana", "eve"):
        bob.teams_invite(team, member)
        book.user(member).teams_join(team)
    ana.nodes_add("Ilka Stone", node_type="Person")
    told(ana, "Ana: Ilka Stone works at Quombat. Ilka Stone likes tea.")
    clock.tick(hours=1)
    told(ana, "Ana: Ilka Stone has hepatitis zeta. Ilka Stone works at Quombat.", sensitive=True)
    said = told(ana, "Ana: Sarah Chen has a lighthouse.")
    for day in range(6):
        later = {"date": (START + timedelta(days=2 * day)).date().isoformat()}
        text = f"Ana: My friend Rafi Levi has hepatitis of stage {day}."
        told(ana, text, sensitive=True, **later)
        text = f"Bob: My colleague Sarah Chen got a new zither. Sarah Chen works at Quombat {day}."
        source = told(bob, text, team=team, **later)
        for reader in (ana, eve):
            reader.extract([source])
    shared = told(ana, "Ana: Sarah Chen got a kayak.", participants=["friend"])
    for invitation in friend.sources_invitations():
        friend.sources_accept(invitation.id)
    with suppress(CommonplaceError):
        friend.extract([shared])
    rule = "Ilka Stone is to be greeted with a bassoon"
    ana.agent("planner").remember(rule, kind="rule", evidence=[said])
    clock.tick(days=14)
    return team


def told(user, text, *, sensitive=False, **more):
    level = "high" if sensitive else "normal"
    source = user.ingest(text, format="transcript", sensitivity=level, **more).id
    user.extract([source])
    return source


# ——— every verb that shows words ———


def by_names(verb):
    return [lambda me, name=name: verb(me, name) for name in NAMES]


SHOWN = [
    *by_names(lambda me, name: me.recall(name, k=20)),
    *by_names(lambda me, name: me.query(name, top_k=20)),
    *by_names(lambda me, name: me.explore(text_matches=[name], granularity=2)),
    *by_names(lambda me, name: me.context(name, thread=f"new {next(_threads)}")),
    lambda me: me.people(),
    lambda me: me.concepts(),
    lambda me: me.entities(),
    lambda me: me.edges(limit=100),
    lambda me: me.graph(format="json", past=True),
    lambda me: me.storylines(include_archived=True),
    lambda me: me.macros(),
    *(lambda me, asked=asked: me.traverse("cypher", cypher=asked) for asked in NODES_AND_EDGES),
    *by_names(lambda me, name: me.traverse("ppr", seed_nodes=[name], top_k=100)),
]
SHOWN_BY_ID = by_names(lambda me, name: me.node(name))


def words(me, calls):
    answers = []
    for call in calls:
        with suppress(CommonplaceError):
            answers.append(json.dumps(without_question(as_data(call(me))), default=str))
    return {word for word in PLANTED if any(word in answer for answer in answers)}


def without_question(data):
    """A search repeats what was asked."""
    if isinstance(data, dict):
        return {name: without_question(each) for name, each in data.items() if name != "query"}
    return [without_question(each) for each in data] if isinstance(data, list) else data


def all_words(book):
    return {
        name: (words(reader(book), SHOWN), words(reader(book), SHOWN_BY_ID))
        for name, reader in READERS.items()
    }


def sleep(book, clock, nights=(1, 60, 100)):
    for days in nights:
        clock.tick(days=days)
        for user in ("ana", "bob", "eve", "friend"):
            book.user(user).sleep()


def assert_nothing_new(before, after):
    for reader, seen in after.items():
        for verbs, then, now in zip(("searched", "by id"), before[reader], seen, strict=True):
            assert now <= then, f"{reader} {verbs}: {now - then}"


def test_night_shows_no_reader_new_words(open_book, clock, categories):
    book = open_book(worker="off", categories=categories)
    fill(book, clock)
    book.user("bob").teams_remove("garden", "eve")
    before = all_words(book)
    assert SENSITIVE in before["owner, cleared"][0], "somebody sees them"
    assert OF_TEAM in before["team member"][0]
    assert SENSITIVE not in before["owner"][0]
    sleep(book, clock)
    nodes = book.user("ana").people().nodes
    assert any(node.description for node in nodes), "the nights wrote something"
    assert_nothing_new(before, all_words(book))


def test_night_in_a_team_leaves_nothing_new_to_who_is_removed(open_book, clock, categories):
    book = open_book(worker="off", categories=categories)
    fill(book, clock)
    sleep(book, clock, nights=(1,))
    eve = book.user("eve")
    assert OF_TEAM in words(eve, SHOWN)
    book.user("bob").teams_remove("garden", "eve")
    assert OF_TEAM not in str(as_data(eve.people()))
    assert "Quombat" not in str([node.description for node in eve.people().nodes])
    stories = [line for line in eve.export() if json.loads(line)["type"] in ("storyline", "macro")]
    assert stories == []


def test_model_is_given_no_words_that_readers_of_a_node_may_not_see(open_book, clock, categories):
    def answer(question):
        return {"description": "", "text": "", "insights": [], "pairs": []}

    with model_server(answer) as server:
        book = open_book(worker="off", categories=categories, model=server.model())
        fill(book, clock)
        server.requests.clear()
        sleep(book, clock, nights=(1, 60))
        asked = [json.dumps(each.body) for each in server.requests]
    assert any("tea" in each for each in asked), "it was asked for something"
    for word in GUARDED[:3]:
        assert not any(word in each for each in asked), word

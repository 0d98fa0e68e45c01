"""Bob has a key of his own and knows everything about Ana's memory but her words: ids, names of
threads and sources, her idempotency keys, cursors, ETags. He was in her team, brought something
there and took part in more, and has left. Whatever he asks with them is refused,
and nothing in the answer tells what is hers from what is nobody's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle, islice, product
from socket import create_connection
from typing import Any
from urllib.parse import quote

import pytest

from commonplace.surfaces.rest.routes import ROUTES, Route
from support.rest_server import Answer, Running, running
from support.stores import is_postgres

WORD = "xylophone"  # stands in everything of Ana's, and in nothing that Bob sends
PASSING = {"date", "request-id"}  # headers that differ from any request to the next


# ——— what Bob knows of ———


class Target:
    """Ana's memory, one of everything. For each sort: her id, and one of the same make that
    nobody has."""

    def __init__(self, book):
        ana = book.user("ana")
        self.ana = ana
        live = ana.remember(kind="kv", metadata={"subject": "code word", "value": WORD})
        old = ana.remember(f"Dana plays the {WORD} in Haifa", kind="fact").id
        ana.update(old, content=f"Dana plays the {WORD} in Porto")
        gone = ana.remember(f"A note of the {WORD}", kind="note").id
        ana.forget(gone)
        note = ana.profile_note(f"Practises the {WORD}")
        asked = ana.remember(kind="kv", metadata={"subject": "code word", "value": f"{WORD} 2"})
        wants = ana.agent("coach").propose("city", f"{WORD}ville")
        talk = f"Tal: The {WORD} is in the drawer.\nNoa: Good.\nTal: The blue one."
        read = ana.ingest(talk, title=WORD, origin="gmail", external_id=f"inbox/{note.id}/77")
        ana.observe(f"I am allergic to {WORD} wood.", thread="her thread")
        ana.ingest(f"Later about the {WORD}", wait=False)
        ana.recall(f"where is the {WORD}?", thread="her thread")
        team, ours, his = self._team(book)
        self.sorts = {
            **self._graph(read.id),
            "memory": live.id,
            "superseded": old,
            "forgotten": gone,
            "conflict": asked.conflict,
            "held": ana.conflicts()[0].held[0].id,
            "proposal": wants.id,
            "source": read.id,
            "passage": f"{read.id}#1",
            "name": f"gmail:inbox/{note.id}/77",
            "job": ana.jobs()[0].id,
            "key": ana.keys_create(f"{WORD} laptop").id,
            "team": team,
            "team by name": f"{WORD} team 7",
            "team source": ours,
            "team passage": f"{ours}#1",
            "brought to the team by himself": his,
        }

    def _graph(self, source: str) -> dict[str, str]:
        person = self.ana.nodes_add(f"Dana {WORD} 7", description=f"Plays the {WORD}").id
        other = self.ana.nodes_add(f"Didi {WORD} 7").id
        self.ana.merge([person, other])
        firm = self.ana.nodes_add(f"{WORD} works 7", node_type="Entity").id
        works = self.ana.relate(person, firm, "works-at", description=WORD).id
        made = self.ana.artifacts_create(f"{WORD} letter", WORD, source=source).id
        return {
            "node": person,
            "node by name": f"Dana {WORD} 7",
            "merged node": other,
            "edge": works,
            "note": self.ana.note(person, f"Tunes the {WORD}").id,
            "artifact": made,
        }

    def _team(self, book) -> tuple[str, str, str]:
        """The team's id, and its sources: what Ana brought, Bob took part in, and Bob brought."""
        bob = book.user("bob")
        team = self.ana.teams_create(f"{WORD} team 7").id
        self.ana.teams_invite(team, "bob")
        bob.teams_join(team)
        ours = self.ana.ingest(f"The {WORD} of all of us.", team=team, participants=["bob"]).id
        his = bob.ingest(f"His {WORD}, of then.", team=team).id
        bob.teams_leave(team)
        return team, ours, his


def nobodys(id: str) -> str:
    """Of the same make and length: every digit is another."""
    return re.sub(r"\d", lambda found: str((int(found[0]) + 3) % 10), id)


@pytest.fixture
def book(open_book):
    """With nobody at work: what is owed to Ana stays owed."""
    return open_book(worker="off")


@pytest.fixture
def target(book):
    return Target(book)


@pytest.fixture
def server(book, target) -> Iterator[Running]:
    with running(book, serve_keyless=False, serve_rate=0) as server:
        yield server


@pytest.fixture
def bob(book):
    return book.user("bob").keys_create("bob's").token


# ——— everything that takes an id ———


@dataclass(frozen=True)
class Attack:
    method: str
    path: str
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)

    def with_id(self, id: str) -> Attack:
        def filled(value: Any, written=lambda each: each) -> Any:
            if isinstance(value, str):
                return value.replace("{id}", written(id))
            if isinstance(value, list):
                return [filled(each) for each in value]
            if isinstance(value, dict):
                return {name: filled(each) for name, each in value.items()}
            return value

        path = filled(self.path, lambda each: quote(each, safe=""))
        return Attack(self.method, path, filled(self.body), filled(self.headers))


# What a route needs beside its id to get as far as looking for it.
BESIDE = {
    "resolve": {"choice": "override"},
    "update": {"importance": 5},
    "profile set": {"value": "x"},
    "teams invite": {"member": "bob"},
    "teams role": {"as_role": "owner"},
    "teams change": {"name": "x"},
    "sources share": {"with_user": "bob"},
    "nodes update": {"description": "x"},
    "split": {"name": "x", "names": ["y"]},
}
NO_IDS = {"profile set", "categories explain", "categories check"}  # names, the same for everybody


def of_route(route: Route) -> Attack:
    path = re.sub(r"{\w+}", "{id}", route.in_full())
    body = None if route.takes_query else BESIDE.get(route.name, {})
    return Attack(route.method, path, body)


_BY_KEY = "MATCH (n) WHERE n.entity_key = $k OR n.name = $k RETURN n.name"
BY_ROUTE = [of_route(route) for route in ROUTES if route.in_path and route.name not in NO_IDS]
BY_HAND = [
    Attack("GET", "/v1/memories/{id}?as_of=2099-01-01"),
    Attack("GET", "/v1/memories/{id}?known_at=2026-03-01T09:00:00Z"),
    Attack("GET", "/v1/memories?after={id}"),
    Attack("GET", "/v1/memories?forgotten=true&after={id}"),
    Attack("GET", "/v1/sources?after={id}"),
    Attack("GET", '/v1/memories?filters={"source_id":"{id}"}'),
    Attack("GET", '/v1/memories?filters={"thread_id":"her+thread"}'),
    Attack("POST", "/v1/forget", {"ids": ["{id}"]}),
    Attack("POST", "/v1/forget", {"source_id": "{id}"}),
    Attack("POST", "/v1/restore", {"ids": ["{id}"]}),
    Attack("POST", "/v1/erase", {"ids": ["{id}"]}),
    Attack("POST", "/v1/memories/merge", {"ids": ["{id}", "{id}-2"]}),
    Attack("POST", "/v1/update", {"id": "{id}", "importance": 5}),
    Attack("POST", "/v1/recall", {"query": "the code word", "sources": ["{id}"]}),
    Attack("POST", "/v1/recall", {"query": "code word", "filters": {"source_id": "{id}"}}),
    Attack("POST", "/v1/memory/query", {"query": "code word", "filters": {"source_id": "{id}"}}),
    Attack("GET", "/v1/people?after={id}"),
    Attack("GET", "/v1/edges?node={id}"),
    Attack("GET", "/v1/edges?past=true&after={id}"),
    Attack("GET", "/v1/artifacts?after={id}"),
    Attack("GET", "/v1/nodes/{id}?known_at=2026-03-01T09:00:00Z"),
    Attack("PATCH", "/v1/nodes/{id}", {"description": "x"}, {"if-match": "*"}),
    Attack(
        "POST", "/v1/edges", {"from_node": "me", "to_node": "{id}", "relationship_type": "friend"}
    ),
    Attack("POST", "/v1/notes", {"about": ["{id}"], "content": "Mine now."}),
    Attack("POST", "/v1/notes", {"about": ["me", "{id}"], "content": "Mine now."}),
    Attack("POST", "/v1/nodes/merge", {"ids": ["me", "{id}"]}),
    Attack("POST", "/v1/traverse", {"seed_nodes": ["{id}"]}),
    Attack("POST", "/v1/traverse", {"mode": "cypher", "cypher": _BY_KEY, "params": {"k": "{id}"}}),
    Attack("POST", "/v1/memory/extract", {"ids": ["{id}"]}),
    Attack("POST", "/v1/artifacts", {"name": "x", "output": "x", "source": "{id}"}),
    Attack("GET", "/v1/sources?team={id}"),
    Attack("POST", "/v1/sources", {"original": "Tal: Mine now.", "team": "{id}"}),
    Attack("POST", "/v1/teams/use", {"team": "{id}"}),
    Attack("POST", "/v1/keys", {"label": "x", "team": "{id}"}),
    Attack("POST", "/v1/recall", {"query": "of all of us", "known_at": "2026-03-01T09:00:00Z"}),
    Attack("POST", "/v1/profile/proposals", {"name": "tone", "value": "x", "memory_id": "{id}"}),
    Attack("GET", "/v1/memories/{id}", None, {"if-none-match": "*"}),
    Attack("PATCH", "/v1/memories/{id}", {"importance": 5}, {"if-match": "*"}),
    Attack("DELETE", "/v1/memories/{id}", None, {"if-match": "*", "idempotency-key": "{id}"}),
]


def told(answer: Answer, id: str) -> tuple[int, str, dict[str, str]]:
    """All of an answer, but for the id that it was asked with, and a passage's source."""
    body = answer.body.decode().replace(id, "ID").replace(id.partition("#")[0], "ID")
    headers = {name: value for name, value in answer.headers.items() if name not in PASSING}
    return answer.status, re.sub(r'"(revision|at)": [^,}]+', "", body), headers


def test_rest_ids_of_another_tenant_are_answered_like_unknown_ids(server, target, bob, store_url):
    before = as_it_is(target.ana)
    different = []
    tried = product([*BY_ROUTE, *BY_HAND], target.sorts.items())
    # What is asked and answered is the same code on both databases: there, every few are enough.
    for attack, (sort, id) in islice(tried, 0, None, 5 if is_postgres(store_url) else 1):
        hers, made_up = (
            told(send(server, attack.with_id(each), bob), each) for each in (id, nobodys(id))
        )
        if hers != made_up or WORD in hers[1] or hers[0] >= 500:
            different.append((sort, attack, hers, made_up))
    assert different == [], "\n".join(map(str, different[:5]))
    assert as_it_is(target.ana) == before, "and nothing of hers has changed"


def send(server: Running, attack: Attack, key: str | None) -> Answer:
    path = attack.path.replace('"', "%22").replace("{", "%7B").replace("}", "%7D")
    return server.ask(attack.method, path, attack.body, attack.headers, key=key)


def as_it_is(ana) -> list[Any]:
    """All of her memory, keys, jobs and open questions, her team and its sources."""
    own = [*ana.export(), ana.keys(), ana.jobs(), ana.conflicts(), ana.proposals()]
    return [*own, ana.teams_show(ana.teams()[0].id), ana.sources()]


# ——— everything that takes none ———


PRETENCES = [
    {"commonplace-user": "ana"},
    {"commonplace-agent": "coach"},
    {"x-user": "ana", "x-user-id": "ana", "x-forwarded-user": "ana", "remote-user": "ana"},
    {"forwarded": "for=127.0.0.1;host=ana", "x-forwarded-for": "127.0.0.1", "x-real-ip": "::1"},
    {"x-forwarded-host": "ana.localhost", "x-original-url": "/v1/memories?user=ana"},
    {"cookie": "user=ana", "x-http-method-override": "DELETE"},
]
LOOKING = [
    Attack("POST", "/v1/recall", {"query": "what is the code word?", "k": 100}),
    Attack("POST", "/v1/recall", {"query": "the code word", "as_of": "2099-01-01"}),
    Attack("POST", "/v1/recall/batch", {"queries": ["the code word", "drawer", "Dana in Porto"]}),
    Attack("POST", "/v1/memory/query", {"query": "the code word", "top_k": 50}),
    Attack("POST", "/v1/context", {"query": "the code word", "thread": "her thread"}),
    Attack("POST", "/v1/context/whole", {"query": "the code word"}),
    Attack("POST", "/v1/context/pack", {"query": "the code word"}),
    Attack("POST", "/v1/understand", {"message": "and where is it?"}),
    Attack("GET", "/v1/memories?limit=1000"),
    Attack("GET", "/v1/memories?categories=knowledge&categories=profile&categories=history"),
    Attack("GET", "/v1/memories?forgotten=true"),
    Attack("GET", "/v1/memories?known_at=2026-03-01T09:00:00Z"),
    Attack("GET", "/v1/sources?limit=1000"),
    Attack("GET", "/v1/sources?forgotten=true"),
    Attack("GET", "/v1/sources?as_of=2099-01-01"),
    Attack("GET", "/v1/people?include_archived=true&limit=1000"),
    Attack("GET", "/v1/concepts"),
    Attack("GET", "/v1/storylines"),
    Attack("GET", "/v1/macros"),
    Attack("GET", "/v1/entities"),
    Attack("GET", "/v1/edges?past=true&limit=1000"),
    Attack("GET", "/v1/contributions?by=ana"),
    Attack("GET", "/v1/graph?past=true"),
    Attack("GET", "/v1/graph?format=dot"),
    Attack("GET", "/v1/artifacts"),
    Attack("POST", "/v1/explore", {"granularity": 1, "include_archived": True}),
    Attack("POST", "/v1/explore", {"queries": ["who is Dana?"], "granularity": 1}),
    Attack("POST", "/v1/explore", {"granularity": 1, "known_at": "2026-03-01T09:00:00Z"}),
    Attack("POST", "/v1/traverse", {"mode": "cypher", "cypher": "MATCH (n) RETURN n"}),
    Attack("GET", "/v1/teams"),
    Attack("POST", "/v1/recall", {"query": "of all of us, of then", "sources": ["only"]}),
    Attack("GET", "/v1/why?thread=her+thread"),
    Attack("GET", "/v1/changes?thread=her+thread&since=0"),
    Attack("GET", "/v1/change-log?thread=her+thread"),
    Attack("GET", "/v1/events"),
    Attack("GET", "/v1/conflicts"),
    Attack("GET", "/v1/profile"),
    Attack("GET", "/v1/profile/proposals"),
    Attack("GET", "/v1/abbreviations"),
    Attack("GET", "/v1/jobs"),
    Attack("GET", "/v1/keys"),
    Attack("GET", "/v1/stats"),
    Attack("POST", "/v1/model/check"),
    Attack("GET", "/v1/model/usage"),
    Attack("GET", "/v1/doctor"),
    Attack("GET", "/v1/export"),
    Attack("GET", "/v1/admin/keys"),
    Attack("GET", "/metrics"),
    Attack("GET", "/readyz"),
]


def test_rest_reads_show_nothing_of_another_tenant_despite_spoofed_headers(server, target, bob):
    ids = set(target.sorts.values()) - {target.sorts["team"]}  # in which he was, says his journal
    for attack in LOOKING:
        for pretence in ({}, *PRETENCES):
            tried = Attack(attack.method, attack.path, attack.body, {**attack.headers, **pretence})
            text = send(server, tried, bob).body.decode()
            assert WORD not in text, tried
            assert not [id for id in ids if id in text], tried
            assert '"ana"' not in text, tried


def test_rest_numbers_of_a_user_do_not_depend_on_another_tenant(server, target, bob, open_book):
    """Counts, statistics and scores are his own: they stay as they are while her memory grows."""

    def numbers():
        asked = [each for each in LOOKING if each.path in ("/v1/stats", "/v1/changes?since=0")]
        found = [send(server, each, bob).body for each in asked]
        recalled = Attack("POST", "/v1/recall", {"query": "the gate", "explain": True})
        return [*found, re.sub(rb'"(?:at|id)": "[^"]+"', b"", send(server, recalled, bob).body)]

    sent = Attack("POST", "/v1/memories", {"content": "The gate is green", "kind": "note"})
    assert send(server, sent, bob).status == 200
    before = numbers()
    target.ana.remember_many([f"The gate of the {WORD} {number}" for number in range(20)])
    target.ana.erase(target.sorts["memory"])
    assert numbers() == before


def test_rest_import_of_a_foreign_export_leaves_the_other_tenant_unchanged(server, target, bob):
    """Ids that are hers are taken, in a memory that is his; hers stays as it is."""
    lines = "".join(f"{line}\n" for line in target.ana.export()).encode()
    before = as_it_is(target.ana)
    answer = server.ask(
        "POST", "/v1/import", headers={"content-type": "application/x-ndjson"}, raw=lines, key=bob
    )
    assert answer.status in (200, 400), answer.body
    assert as_it_is(target.ana) == before


def test_rest_idempotency_keys_are_separate_per_tenant(server, target, bob):
    hers = target.ana.keys_create("hers").token
    sent = {"content": f"Kept: {WORD}", "kind": "note"}
    named = {"idempotency-key": "the same"}
    kept = server.ask("POST", "/v1/memories", sent, named, key=hers).data["id"]
    for body in (sent, {"content": "Another", "kind": "note"}):
        first = server.ask("POST", "/v1/memories", body, {"idempotency-key": str(body)}, key=bob)
        again = server.ask("POST", "/v1/memories", body, named, key=bob)
        assert (first.status, kept in again.body.decode()) == (200, False)
        if again.status != 200:  # it is his own key by now
            assert again.data["code"] == "idempotency_conflict"


def test_rest_etag_of_another_tenant_matches_nothing(server, target, bob):
    hers = target.ana.keys_create("hers").token
    item = f"/v1/memories/{target.sorts['memory']}"
    etag = server.ask("GET", item, key=hers).headers["etag"]
    seen = server.ask("GET", item, headers={"if-none-match": etag}, key=bob)
    assert seen.status == 404, "not 304, which would say that it is there"
    changed = server.ask("PATCH", item, {"importance": 5}, {"if-match": etag}, key=bob)
    nowhere = f"/v1/memories/{nobodys(target.sorts['memory'])}"
    nowhere = server.ask("PATCH", nowhere, {"importance": 5}, {"if-match": etag}, key=bob)
    assert (changed.status, changed.body) == (nowhere.status, nowhere.body)


@pytest.mark.parametrize("since", ["", "?since=0"])
def test_rest_stream_shows_no_changes_of_another_tenant(server, target, bob, since):
    head = f"GET /v1/changes/stream{since} HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 0\r\n"
    with create_connection(("127.0.0.1", server.port), 30) as line:
        line.sendall(f"{head}Authorization: Bearer {bob}\r\n\r\n".encode())
        heard = b""
        while b": listening" not in heard:
            heard += line.recv(1000)
        target.ana.remember(f"New of the {WORD}")
        sent = {"content": "The gate is green", "kind": "note"}
        server.ask("POST", "/v1/memories", sent, key=bob)
        while b"green" not in heard:
            heard += line.recv(1000)
    assert WORD.encode() not in heard


def test_rest_without_a_key_answers_401_for_known_and_unknown_ids(server, target):
    sorts = cycle(target.sorts.values())
    for attack, id in zip([*BY_ROUTE, *BY_HAND], sorts, strict=False):
        hers, made_up = (
            told(send(server, attack.with_id(each), None), each) for each in (id, nobodys(id))
        )
        assert hers == made_up
        assert hers[0] == 401

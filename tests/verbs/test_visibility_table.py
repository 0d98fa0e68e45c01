"""The table "Who sees what" of the contract, run: every verb that reads has a row, and each cell is
looked at, on both databases."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest

import commonplace
from commonplace.errors import NotFound
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Changeset
from commonplace.model.journal import Entry, Op
from commonplace.model.model_calls import AskedToForget, ModelReading, SetReading
from commonplace.operations.table import OPERATIONS, Effect
from support.clock import Clock
from support.readers import COLUMNS, Call, Row, Thing, look
from support.story_making import put_macro, put_storyline

THREAD = "diary"
TEAM = "Pademelons"
_turns = count(1)

THINGS = {
    thing.name: thing
    for thing in (
        Thing(
            "memory",
            "quokka",
            "quokka: renew the passport by June",
            "tasks",
            "planner",
            "stylist",
        ),
        Thing(
            "sensitive",
            "axolotl",
            "axolotl: leave the firm in spring",
            "projects",
            "planner",
            "stylist",
            sensitive=True,
        ),
        Thing(
            "profile",
            "okapi",
            "okapi lessons on Mondays",
            "profile",
            "supervisor",
            "planner",
        ),
        Thing(
            "source",
            "narwhal",
            "narwhal tickets are in the blue drawer",
            "history",
            "researcher",
            "planner",
        ),
        Thing(
            "shared source",
            "manatee",
            "manatee photographs were taken at noon",
            "history",
            "researcher",
            "planner",
            has_guest=True,
        ),
        Thing(
            "team source",
            "wombat",
            "wombat budget has to be halved",
            "history",
            "researcher",
            "planner",
            of_team=True,
            has_guest=True,
        ),
        Thing(
            "sensitive team source",
            "numbat",
            "numbat salaries are under review",
            "history",
            "researcher",
            "planner",
            sensitive=True,
            of_team=True,
            has_guest=True,
        ),
        # Brought into the team by somebody who has left it since.
        Thing(
            "source of who left",
            "bongo",
            "bongo rehearsals begin at eight",
            "history",
            "researcher",
            "planner",
            of_team=True,
            has_guest=True,
        ),
        # Sources that speak of somebody, so that they are in the graphs of all who read them. What
        # they are called stands in nothing that is learned of them.
        *(
            Thing(
                name,
                marker,
                f"Ana: My boss Yolanda Tamar works at Tamarind. Yolanda Tamar got a new {pet}.",
                "history",
                "helper",
                "planner",
                sensitive=name.startswith("sensitive"),
                of_team="team" in name,
                has_guest="shared" in name or "team" in name,
            )
            for name, marker, pet in (
                ("told source", "caracal", "dog"),
                ("sensitive told source", "margay", "cat"),
                ("shared told source", "fennec", "horse"),
                ("told team source", "fossa", "goat"),
                ("sensitive told team source", "kinkajou", "cow"),
            )
        ),
        Thing("team", TEAM, TEAM, "history", "researcher", "planner", of_team=True),
        Thing("person", "Zebulon", "Zebulon Quagga", "relationships", "helper", "planner"),
        Thing(
            "sensitive person",
            "Xanthe",
            "Xanthe Potoroo is my manager at Northwind.",
            "relationships",
            "helper",
            "planner",
            sensitive=True,
        ),
        Thing("concept", "ibexology", "ibexology", "interests", "researcher", "planner"),
        Thing("entity", "Bilbyworks", "Bilbyworks", "knowledge", "researcher", "planner"),
        # Seen by who sees its anchor, too.
        Thing("storyline", "kudu", "A kudu came.", "history", "researcher", "planner"),
        Thing(
            "sensitive storyline",
            "eland",
            "An eland came.",
            "history",
            "researcher",
            "planner",
            sensitive=True,
        ),
        Thing("macro", "gerenuk", "A gerenuk came.", "history", "researcher", "planner"),
        Thing(
            "team storyline",
            "bushbuck",
            "A bushbuck came.",
            "history",
            "researcher",
            "planner",
            of_team=True,
        ),
        Thing(
            "sensitive team storyline",
            "sitatunga",
            "A sitatunga came.",
            "history",
            "researcher",
            "planner",
            sensitive=True,
            of_team=True,
        ),
        Thing(
            "team macro",
            "lechwe",
            "A lechwe came.",
            "history",
            "researcher",
            "planner",
            of_team=True,
        ),
        # Seen by who sees both its ends.
        Thing("edge", "serow", "a serow for a mascot", "knowledge", "helper", "researcher"),
        Thing(
            "sensitive edge",
            "saiga",
            "a saiga wedding",
            "relationships",
            "helper",
            "planner",
            sensitive=True,
        ),
        Thing("note", "takin", "a takin on the desk", "relationships", "helper", "researcher"),
        # On somebody of whom all may know.
        Thing(
            "sensitive note",
            "oribi",
            "My neighbour is Zebulon Quagga. Zebulon Quagga got a new oribi.",
            "relationships",
            "helper",
            "planner",
            sensitive=True,
        ),
        Thing("note on an edge", "nilgai", "a nilgai a year", "knowledge", "helper", "planner"),
        Thing("artifact", "vicuna", "Dear vicuna", "knowledge", "researcher", "planner"),
        Thing(
            "sensitive artifact",
            "guanaco",
            "Dear guanaco",
            "knowledge",
            "researcher",
            "planner",
            sensitive=True,
        ),
        Thing("proposal", "dugong", "dugong", "profile", "supervisor", "planner"),
        Thing("abbreviation", "pangolin", "QXZ", "knowledge", "researcher", "planner"),
        Thing("disputed", "tapir", "tapir 1111", "tasks", "planner", "stylist"),
    )
}
EVERYTHING = ("memory", "sensitive", "profile", "source")
SOURCES = (
    "source",
    "shared source",
    "team source",
    "sensitive team source",
    "source of who left",
)
TOLD_SOURCES = (
    "told source",
    "sensitive told source",
    "shared told source",
    "told team source",
    "sensitive told team source",
)
ALL_SHARED = (*EVERYTHING, *SOURCES[1:])
MEMORIES = ("memory", "sensitive", "profile")
NODES = ("person", "sensitive person", "concept", "entity")
ARTIFACTS = ("artifact", "sensitive artifact")
EDGES = ("edge", "sensitive edge")
OF_NODES = ("note", "sensitive note")
NOTES = (*OF_NODES, "note on an edge")
STORYLINES = (
    "storyline",
    "sensitive storyline",
    "team storyline",
    "sensitive team storyline",
)
MACROS = ("macro", "team macro")
BY_ID = (*NODES, *EDGES, *ARTIFACTS)  # a note is looked at, and journalled, with what it is about
OF_THE_GRAPH = (*BY_ID, *NOTES)


def of(names: tuple[str, ...], call: Call) -> dict[str, Call]:
    return dict.fromkeys(names, call)


def recalled_and_asked_why(me, thing):
    turn = next(_turns)
    me.recall(thing.text, thread="t", turn=turn)
    return me.why("t", turn)


def put_into_a_context(me, thing):
    """In a thread of its own, where nothing has been told yet."""
    return me.context(f"Who said: {thing.text}?", thread=f"new {next(_turns)}")


def explored(me, thing):
    """Without what was asked."""
    named = "Zebulon Quagga" if thing.name in OF_NODES else thing.marker
    answer = me.explore(text_matches=[named], granularity=1)
    return answer.semantic, answer.episodic


def traversed(me, thing):
    """Both ways: what one of them shows, the other does, too. Nothing is asked for by its id."""
    rows = [row for asked in _ALL for row in me.traverse("cypher", cypher=asked).rows]
    walk = _walked(me, [thing.id])
    if thing.id.startswith(("node:", "edge:", "source:")):
        shown = any(row[0] == thing.id for row in rows)
        assert (walk is not None) is shown, "a walk and a query do not see the same"
    return rows, walk, _walked(me, ["me"]), _walked(me, ["Yolanda Tamar"])


def _walked(me, seeds):
    try:
        return me.traverse("ppr", seed_nodes=seeds, top_k=1000).reached
    except NotFound:
        return None


_ALL = (
    "MATCH (n) RETURN n.entity_key, n.name, n.notes, n.content",
    "MATCH (a)-[r]->(b) RETURN r.entity_key, r.description, r.notes",
)


def node_and_what_hangs_on_it(me, thing):
    """By the node's id: then the owner sees what is guarded, too."""
    named = "Yolanda Tamar" if thing.name in TOLD_SOURCES else "Zebulon Quagga"
    return me.node(me.node(named).node.id)


def counted_in(name: str):
    """By a category that holds nothing else."""
    return lambda data, thing: data[name].get(thing.category, 0) > 0


ROWS: dict[str, Row] = {
    "recall": Row(of(ALL_SHARED, lambda me, thing: me.recall(thing.text, k=20))),
    "recall-many": Row(of(ALL_SHARED, lambda me, thing: me.recall_many([thing.text], k=20))),
    "query": Row(of(ALL_SHARED, lambda me, thing: me.query(thing.text, top_k=20))),
    "context": Row(of(ALL_SHARED, put_into_a_context)),
    "whole-context": Row(of(ALL_SHARED, lambda me, thing: me.whole_context(thing.text))),
    "context-pack": Row(
        of(MEMORIES, lambda me, thing: me.context_pack(thing.text)), never_sensitive=True
    ),
    # What is another's is not written down: its erasing would not reach the log.
    "why": Row(of(ALL_SHARED, recalled_and_asked_why), own_alone=True),
    "list": Row(of(MEMORIES, lambda me, thing: me.list())),
    "sources": Row(of(SOURCES, lambda me, thing: me.sources())),
    "show": Row(
        of((*ALL_SHARED, *BY_ID, *STORYLINES, *MACROS), lambda me, thing: me.show(thing.id)),
        by_id=True,
    ),
    "forget-requests": Row(of(("source",), lambda me, thing: me.forget_requests()), own_alone=True),
    "conflicts": Row({"disputed": lambda me, thing: me.conflicts()}),
    "changes": Row(
        of((*ALL_SHARED, *NODES, *ARTIFACTS), lambda me, thing: me.changes("new", since=0)),
        own_alone=True,
    ),
    "profile": Row({"profile": lambda me, thing: me.profile()}),
    "abbreviations": Row({"abbreviation": lambda me, thing: me.abbreviations()}),
    "understand": Row(
        {"abbreviation": lambda me, thing: me.understand(f"what is the {thing.text}?")}, id=False
    ),
    "profile proposals": Row({"proposal": lambda me, thing: me.proposals()}),
    "people": Row(
        of(("person", "sensitive person", *OF_NODES), lambda me, thing: me.people()),
        words_alone=OF_NODES,
    ),
    "concepts": Row({"concept": lambda me, thing: me.concepts()}),
    "entities": Row({"entity": lambda me, thing: me.entities()}),
    "storylines": Row(of(STORYLINES, lambda me, thing: me.storylines(include_archived=True))),
    "macros": Row(of(MACROS, lambda me, thing: me.macros())),
    "node": Row(
        of(NODES, lambda me, thing: me.node(thing.id))
        | of((*OF_NODES, *EDGES, *TOLD_SOURCES), node_and_what_hangs_on_it),
        by_id=True,
        learned_alone=True,
    ),
    "edges": Row(
        of((*EDGES, "note on an edge"), lambda me, thing: me.edges(limit=100)),
        words_alone=("note on an edge",),
    ),
    # Of an edge it tells between whom it is, of a source which it is.
    "contributions": Row(
        of((*NODES, *EDGES, *NOTES, *TOLD_SOURCES), lambda me, thing: me.contributions(limit=100)),
        ids_alone=(*EDGES, *TOLD_SOURCES),
        learned_alone=True,
    ),
    "graph": Row(
        of((*NODES, *EDGES, *NOTES), lambda me, thing: me.graph(format="json", past=True)),
        words_alone=NOTES,
    ),
    "explore": Row(of((*OF_THE_GRAPH, *SOURCES), explored), words_alone=NOTES),
    "traverse": Row(of((*OF_THE_GRAPH, *TOLD_SOURCES, "team"), traversed), words_alone=NOTES),
    "artifacts": Row(
        of((*ARTIFACTS, *TOLD_SOURCES), lambda me, thing: me.artifacts()), ids_alone=TOLD_SOURCES
    ),
    "artifacts show": Row(of(ARTIFACTS, lambda me, thing: me.artifact(thing.id)), by_id=True),
    # The journal has no text.
    "history": Row(
        of((*ALL_SHARED, *BY_ID), lambda me, thing: me.history(thing.id)),
        text=False,
        by_id=True,
    ),
    "change-log": Row(
        of(("memory", "sensitive", *SOURCES), lambda me, thing: me.change_log(THREAD)),
        text=False,
        by_id=True,
        own_alone=True,
    ),
    "events": Row(
        of((*ALL_SHARED, *BY_ID), lambda me, thing: me.events(limit=1000)),
        text=False,
        by_id=True,
        own_alone=True,
        quiet=True,
    ),
    # Offered, and in nobody's memory yet.
    "sources invitations": Row(
        of(SOURCES, lambda me, thing: me.sources_invitations()), offered_alone=True
    ),
    # Numbers alone: what may not be seen does not count.
    "stats": Row(
        of(("sensitive",), lambda me, thing: me.stats()),
        text=False,
        id=False,
        by_id=True,
        seen=counted_in("categories"),
    ),
    "categories": Row(
        of(("sensitive",), lambda me, thing: me.categories()),
        text=False,
        id=False,
        by_id=True,
        seen=lambda data, thing: any(
            each["memories"] for each in data["categories"] if each["name"] == thing.category
        ),
    ),
    "categories explain": Row(
        of(("sensitive",), lambda me, thing: me.categories_explain(thing.category)),
        text=False,
        id=False,
        by_id=True,
        seen=lambda data, thing: data["memories"] > 0,
    ),
    "categories check": Row(
        of(EVERYTHING, lambda me, thing: me.categories_check("planner", "tasks")),
        text=False,
        id=False,
    ),
    "doctor": Row(of(EVERYTHING, lambda me, thing: me.doctor()), text=False, id=False),
    # The owner's alone.
    "verify-forget": Row(
        of((*ALL_SHARED, *OF_THE_GRAPH), lambda me, thing: me.verify_forget(thing.marker)),
        text=False,
        id=False,
        by_id=True,
        own_alone=True,
        quiet=True,
        seen=lambda data, thing: bool(data["found_in"]),
    ),
    # Codes and numbers, and ids for the owner alone.
    "sleep log": Row(of(EVERYTHING, lambda me, thing: me.sleep_log()), text=False, id=False),
    "jobs": Row(of(EVERYTHING, lambda me, thing: me.jobs()), text=False, id=False),
    "model usage": Row(of(EVERYTHING, lambda me, thing: me.model_usage()), text=False, id=False),
    "keys": Row(of(EVERYTHING, lambda me, thing: me.keys()), text=False, id=False),
    "teams": Row(of(ALL_SHARED, lambda me, thing: me.teams()), text=False, id=False),
    "teams show": Row(of(ALL_SHARED, lambda me, thing: me.teams_show(TEAM)), text=False, id=False),
    "export": Row(
        of((*ALL_SHARED, *OF_THE_GRAPH), lambda me, thing: me.export()),
        by_id=True,
        own_alone=True,
        quiet=True,
    ),
}
READS = [
    operation
    for operation in OPERATIONS
    if operation.effect is Effect.READ and not operation.of_the_store
]


@pytest.fixture(scope="module", params=("sqlite", "postgres"))
def opened(request, tmp_path_factory):
    """A store of which every question may be asked, and one where none was: who asks with the very
    words has them in the log of their own questions."""
    with ExitStack() as stack:
        yield {quiet: stack.enter_context(store(request, tmp_path_factory)) for quiet in (0, 1)}


@contextmanager
def store(request, tmp_path_factory):
    """A memory with one of each thing; nothing that is done to it here changes it."""
    if request.param == "sqlite":
        url = str(tmp_path_factory.mktemp("who") / "memory.db")
    else:
        url = request.getfixturevalue("postgres").database()
    settings = {"embedder": "hashing", "clock": Clock(), "recall_log": True, "worker": "off"}
    with commonplace.open(url, **settings) as book:
        gather(book)
        things = {name: replace(thing, id=made(book, thing)) for name, thing in THINGS.items()}
        accept_all(book.user("friend"))
        learn(book, [things[name].id for name in TOLD_SOURCES])
        book.user("leaver").teams_leave(TEAM)
        yield book, things
    if request.param == "postgres":
        request.getfixturevalue("postgres").give_back(url)


def gather(book) -> None:
    """The team and its company, who all have something of their own to remember."""
    for name in ("ana", "colleague", "friend", "addressee", "invited", "leaver"):
        book.user(name).remember("Buy bread")
    colleague = book.user("colleague")
    colleague.teams_create(TEAM)
    for name in ("ana", "invited", "leaver"):
        colleague.teams_invite(TEAM, name)
    for name in ("ana", "leaver"):
        book.user(name).teams_join(TEAM)


def accept_all(me) -> None:
    for invitation in me.sources_invitations():
        me.sources_accept(invitation.id)


def learn(book, sources: list[str]) -> None:
    """Everybody who may read one makes knowledge of it, and something else."""
    for name in ("ana", "colleague", "friend", "addressee", "leaver"):
        me = book.user(name)
        for source in sources:
            with suppress(NotFound):
                me.artifacts_create("Draft", "For later", source=source)
                me.extract([source])


def made(book, thing: Thing) -> str:
    me = book.user("ana")
    match thing.name:
        case "team":
            return me.teams_show(TEAM).id
        case "source":
            return asked_in(book, brought(me, thing), "the manatee photographs")
        case "told source" | "sensitive told source":
            return brought(me, thing)
        case "shared source" | "shared told source":
            return brought(me, thing, participants=["friend", "addressee"])
        case "team source" | "sensitive team source":
            return brought(me, thing, team=TEAM, participants=["friend", "addressee", "leaver"])
        case "told team source" | "sensitive told team source":
            return brought(me, thing, team=TEAM, participants=["friend", "addressee", "leaver"])
        case "source of who left":
            leaver = book.user("leaver")
            people = ["friend", "addressee", "ana"]
            return brought(leaver, thing, team=TEAM, participants=people)
        case "person":
            return me.nodes_add(thing.text).id
        case "sensitive person":
            guarded(me, thing.text)
            return book.user("ana", cleared=True).node("Xanthe Potoroo").node.id
        case "concept" | "entity":
            return me.nodes_add(thing.text, node_type=thing.name.title()).id
        case "storyline" | "sensitive storyline":
            level = "high" if thing.sensitive else "normal"
            talk = me.ingest(f"Log of {thing.name}.", format="text", sensitivity=level).id
            closed_at = me._engine.clock() if thing.sensitive else None
            return put_storyline(me, "Bilbyworks", [talk], thing.text, closed_at=closed_at).id
        case "team storyline" | "sensitive team storyline":
            return storyline_of_team(me, thing, thing.text).id
        case "team macro":
            lines = [storyline_of_team(me, thing, "It went on.")]
            return put_macro(
                me, f"{thing.marker} works", lines, thing.text, team_id=lines[0].team_id
            ).id
        case "macro":
            talk = me.ingest("Log of a macro.", format="text").id
            me.nodes_add("Quollworks", node_type="Entity")
            storyline = put_storyline(me, "Quollworks", [talk], "It went on.")
            return put_macro(me, "Bilbyworks", [storyline], thing.text).id
        case "edge":
            said = me.relate("Zebulon Quagga", "Bilbyworks", "works-at", description=thing.text)
            return said.id
        case "sensitive edge":
            me.nodes_add("Dan Cohen")
            both = "Zebulon Quagga", "Dan Cohen"
            guarded(me, f"{both[0]} is married to {both[1]}.")
            cleared = book.user("ana", cleared=True)
            return cleared.relate(*both, "spouse", description=thing.text).id
        case "note":
            return me.note("Zebulon Quagga", thing.text).id
        case "note on an edge":
            return me.note(["Zebulon Quagga", "Bilbyworks"], thing.text).id
        case "sensitive note":
            guarded(me, thing.text)
            noted = book.user("ana", cleared=True).node("Zebulon Quagga").notes
            return next(note.id for note in noted if thing.marker in note.content)
        case "artifact" | "sensitive artifact":
            level = "high" if thing.sensitive else "normal"
            return me.artifacts_create(thing.marker, thing.text, sensitivity=level).id
        case "profile":
            return me.profile_note(thing.text).id
        case "proposal":
            return me.agent(thing.allowed).propose("city", thing.marker).id
        case "abbreviation":
            return me.abbreviate(thing.text, f"{thing.marker} house").id
        case "disputed":
            given = {"kind": "kv", "category": thing.category}
            told = {"subject": thing.marker, "value": 1111}
            me.remember(metadata={**told, "value": 2222}, **given)
            return me.remember(metadata=told, **given).conflict
        case _:
            level = "high" if thing.sensitive else "normal"
            made = me.remember(
                thing.text, category=thing.category, sensitivity=level, thread=THREAD
            )
            return made.id


def storyline_of_team(me, thing: Thing, text: str):
    """About something that is the owner's alone."""
    level = "high" if thing.sensitive else "normal"
    talk = me.ingest(f"Log of {thing.name}.", format="text", sensitivity=level, team=TEAM).id
    me.nodes_add(f"{thing.marker} works", node_type="Entity")
    return put_storyline(me, f"{thing.marker} works", [talk], text, name=f"Of {thing.name}")


def brought(me, thing: Thing, **more) -> str:
    return me.ingest(
        thing.text,
        format="transcript" if thing.name in TOLD_SOURCES else None,
        title=f"{thing.marker} affair",
        thread=THREAD,
        sensitivity="high" if thing.sensitive else "normal",
        **more,
    ).id


def asked_in(book, source: str, query: str) -> str:
    """As if a model had found a request to forget in its first passage."""
    scope, now = Scope.of_user("ana"), book._engine.clock()
    request = AskedToForget("request:1", query, 1, now + timedelta(days=7))
    reading = ModelReading(scope.key, source, 1, "", "read_turns/1", now, requests=(request,))
    entry = Entry(op=Op.UPDATE, subject=source)
    book._engine.store.apply(Changeset(scope, now, "worker:model", (SetReading(reading, entry),)))
    return source


def guarded(me, said: str) -> None:
    """Told by a source of sensitivity high alone."""
    me.extract([me.ingest(f"Ana: {said}", format="transcript", sensitivity="high").id])


def test_access_table_has_a_row_for_every_read_verb():
    missing = [operation.name for operation in READS if operation.name not in ROWS]
    assert not missing, (
        f"{', '.join(missing)}: a verb that reads needs a row in ROWS of {__file__}: how it is "
        "called so that it could show a memory, the profile, a source or the journal."
    )
    assert ROWS.keys() <= {operation.name for operation in READS}


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
@pytest.mark.parametrize("operation", READS, ids=lambda operation: operation.name)
def test_access_table_matches_the_visibility_of_every_read_verb(opened, operation, column):
    row = ROWS[operation.name]
    book, things = opened[row.quiet]
    for name, call in row.calls.items():
        thing = things[name]
        sees = column.is_offered if row.offered_alone else column.sees
        expected = sees(thing, row) and (column.is_owner or not operation.owner_only)
        expected = expected and not (thing.sensitive and row.never_sensitive)
        if row.own_alone:
            expected = expected and not thing.of_team and column.of_owner
        if row.learned_alone:
            expected = expected and not column.is_guest
        found = look(call, row, column.handle(book, thing), thing)
        where = f"{operation.name} as {column.name}, {name}: {found.told[:400]}"
        words = row.tells_words(thing) and not (row.offered_alone and not column.is_owner)
        assert found.text == (expected and words), where  # an agent sees no title of an offer
        assert found.id == (expected and row.tells_id(thing)), where
        assert found.counted == (expected and row.seen is not None), where

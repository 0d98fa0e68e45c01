"""What an agent might try to get at what its allowlist keeps from it. All of it is refused, or
finds nothing, and the words and ids of what is hidden are in no answer."""

from __future__ import annotations

import json
import re
from contextlib import suppress

import pytest

from commonplace.errors import (
    BadText,
    CategoryNotAllowed,
    CommonplaceError,
    InvalidInput,
    NotAllowed,
    NotFound,
)
from commonplace.operations.serialization import as_data

SECRET = "xylophone"  # in words that the planner may not see: preferences, history
TEXT = f"I prefer the {SECRET} before noon"
CATEGORIES = """
allowlists:
  planner: [goals, tasks, projects, procedural]
  stylist: [preferences, tone, style]
  default: []
"""


@pytest.fixture
def book(open_book, tmp_path):
    file = tmp_path / "categories.yaml"
    file.write_text(CATEGORIES)
    return open_book(categories=str(file), recall_log=True)


@pytest.fixture
def planner(me):
    return me.agent("planner")


@pytest.fixture
def hidden(me) -> str:
    return me.remember(TEXT, category="preferences", thread="t").id


@pytest.fixture
def source(me) -> str:
    return me.ingest(f"The {SECRET} is in the blue drawer", title=SECRET, external_id=SECRET).id


@pytest.fixture
def task(me) -> str:
    return me.remember("Renew the passport", category="tasks", kind="fact", thread="t").id


def told(answer) -> str:
    answer = list(answer) if hasattr(answer, "__next__") else answer
    return json.dumps(as_data(answer), ensure_ascii=False)


def is_kept(answer, *ids: str) -> bool:
    """Neither the words nor the ids of what is hidden are in an answer."""
    found = told(answer)
    return SECRET not in found and not any(id in found for id in ids)


# ——— categories, asked for in every way ———

SPELLINGS = [
    "preferences",
    " preferences ",
    "Preferences",
    "PREFERENCES",
    "ｐｒｅｆｅｒｅｎｃｅｓ",
    "prefer\u200bences",
    "préférences",
    "preferences\u00a0",
    "history",
    "*",
    "%",
    "tasks,preferences",
]


def ways_to_ask(spelling):
    return (
        {"categories": spelling},
        {"categories": [spelling]},
        {"categories": ["tasks", spelling]},
        {"filters": {"category": spelling}},
        {"filters": {"categories": [spelling]}},
        {"filters": {"categories": ("tasks", spelling)}},
    )


@pytest.mark.parametrize("verb", ["recall", "query", "list", "forget"])
def test_allowlist_refuses_disallowed_category_in_any_spelling(planner, hidden, verb):
    asked = [] if verb in ("list", "forget") else [TEXT]
    for given in (way for spelling in SPELLINGS for way in ways_to_ask(spelling)):
        with pytest.raises(CategoryNotAllowed) as refused:
            getattr(planner, verb)(*asked, **given)
        assert refused.value.field == "categories", given
    assert planner.list().memories == ()


ODD = [
    [["preferences"]],
    {"preferences": True},
    [{"in": ["preferences"]}],
    [None],
    7,
    True,
    b"preferences",
    ["preferences\x00"],
    ["tasks\npreferences"],
    [""],
    ["x" * 201],
    ["tasks"] * 101,
]


def test_categories_filter_rejects_malformed_values(planner, hidden):
    for odd in ODD:
        with pytest.raises(InvalidInput):
            planner.recall(TEXT, categories=odd)
        with pytest.raises(InvalidInput):
            planner.query(TEXT, filters={"categories": odd})
        with pytest.raises(InvalidInput):
            planner.list(filters={"category": odd})


def test_empty_categories_filter_means_all_allowed_categories(planner, hidden, source, task):
    for given in (None, [], ()):
        assert is_kept(planner.recall(TEXT, categories=given).hits, hidden, source)
        assert is_kept(planner.list(categories=given), hidden, source)
    (found,) = planner.list(filters={"categories": None}).memories
    assert found.id == task


FILTERS = [
    {"agent_id": "stylist"},
    {"actor_id": "user:ana"},
    {"thread_id": "t"},
    {"source_type": "text-import"},
    {"importance_min": 1},
    {"created_after": "2000-01-01"},
    {"tags": [SECRET]},
    {"user_id": "ana"},
    {"user_id": None},
]


def test_allowlist_cannot_be_bypassed_by_other_filters(planner, hidden, source):
    for filters in FILTERS:
        answer = planner.query(TEXT, filters=filters, returns="full", thread=str(filters))
        assert answer.is_empty
        assert is_kept(answer.header, hidden, source)
        if "user_id" not in filters:
            assert is_kept(planner.recall(TEXT, filters=filters).hits, hidden, source)
            assert is_kept(planner.list(filters=filters), hidden, source)


def test_user_id_filter_cannot_reach_another_user(book, planner):
    theirs = book.user("bob").remember(TEXT, category="tasks").id
    for name in ("bob", "nobody"):
        with pytest.raises(NotFound) as refused:
            planner.query(TEXT, filters={"user_id": name})
        assert refused.value.message == f"user_id {name!r} is not the user of this request."
    with pytest.raises(NotFound):
        planner.show(theirs)


def test_recall_rejects_filters_on_access_fields(planner, hidden):
    for name in ("visibility", "cleared", "allowed", "scope", "sensitivity", "id"):
        with pytest.raises(InvalidInput):
            planner.recall(TEXT, filters={name: "preferences"})


# ——— names of agents ———


def test_agent_cannot_impersonate_another_agent(planner, hidden):
    for name in ("stylist", "Planner", "default", "owner", "../planner", "planner\u200b", "*"):
        with pytest.raises(NotAllowed):
            planner.query(TEXT, agent=name)
        with pytest.raises(NotAllowed):
            planner.agent(name)


def test_agent_name_rejects_malformed_values(me, planner):
    for name in ("", "  ", "planner\x00", "sty\nlist", "x" * 201, 7, ["a"]):
        with pytest.raises(InvalidInput):
            me.agent(name)
        with pytest.raises(InvalidInput):
            planner.query(TEXT, agent=name)
    with pytest.raises(InvalidInput):
        me.agent(None)


LOOKALIKES = ("stylist\u200b", "ｓｔｙｌｉｓｔ", "stylist.", "../stylist", "stylists")


def test_agent_with_lookalike_name_gets_the_default_allowlist(me, hidden, source, task):
    """Which is empty here: the door is closed. An agent that is called so has no other list."""
    for name in (*LOOKALIKES, "default", "owner"):
        stranger = me.agent(name)
        assert stranger.list().memories == ()
        assert stranger.sources().sources == ()
        assert stranger.recall(TEXT).is_empty
        assert stranger.query("renew the passport", thread="new").is_empty
        assert stranger.changes("new", since=0).changes == ()
        assert stranger.stats().live == stranger.stats().sources == 0
        with pytest.raises(CategoryNotAllowed):
            stranger.recall(TEXT, categories=["preferences"])


def test_agent_name_is_stripped_of_whitespace(me, hidden):
    assert me.agent(" stylist ").principal.agent == "stylist"
    assert not me.agent(" stylist ").recall(TEXT).is_empty


def test_agent_allowlist_lookup_ignores_case(open_book, tmp_path):
    file = tmp_path / "wide.yaml"
    file.write_text("allowlists: {Planner: [tasks], default: [tasks, preferences]}")
    me = open_book(categories=str(file)).user("ana")
    hidden = me.remember(TEXT, category="preferences").id
    for name in ("planner", "Planner", "PLANNER", " pLanner "):
        assert is_kept(me.agent(name).list(), hidden)
        assert not me.categories_check(name, "preferences").is_allowed
    assert me.agent("anybody").list().memories[0].id == hidden


def test_allowlist_file_path_and_problem_are_shown_to_the_owner_only(open_book, tmp_path):
    file = tmp_path / "list.yaml"
    file.write_text("allowlists: {planner: [tasks]}")
    me = open_book(categories=str(file)).user("ana")
    planner = me.agent("planner")
    file.write_text(f"allowlists: {{planner: [{SECRET}]}}")
    assert SECRET in me.categories().problem
    assert me.categories().origin == str(file)
    assert str(file) in me.categories_check("planner", "tasks").because
    answers = [planner.categories(), planner.categories_check("planner", "tasks")]
    assert planner.categories_check("planner", "tasks").is_allowed
    answers += [planner.categories_explain("tasks"), planner.doctor()]
    assert is_kept(answers, str(file), file.name)
    assert file.name in told(me.doctor())


def test_query_with_agent_argument_applies_that_agents_allowlist(me, hidden):
    assert me.query(TEXT, agent="planner").is_empty
    assert not me.query(TEXT, agent="stylist").is_empty
    assert not me.query(TEXT).is_empty


def test_query_accepts_the_agents_own_name(planner, task):
    assert not planner.query("renew the passport", agent="planner").is_empty


# ——— ids ———

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
NOWHERE = "00000000-0000-4000-8000-000000000000"
BY_ID = ["show", "history", "forget", "restore", "erase"]


@pytest.mark.parametrize("verb", BY_ID)
def test_hidden_id_gets_the_same_error_as_an_unknown_id(me, planner, hidden, source, verb):
    for id in (hidden, source, f"{source}#1", f"{hidden}@1"):
        given = UUID.search(id)[0]
        unknown = id.replace(given, NOWHERE)
        with pytest.raises(CommonplaceError) as one:
            getattr(planner, verb)(id)
        with pytest.raises(CommonplaceError) as other:
            getattr(planner, verb)(unknown)
        assert one.value.code == other.value.code
        assert one.value.message.replace(given, NOWHERE) == other.value.message
        assert SECRET not in json.dumps(one.value.as_dict())
    assert me.show(hidden).memory.content == TEXT
    assert me.show(source).passages


def test_update_and_merge_refuse_a_hidden_memory(me, planner, hidden, task):
    for attempt in (
        lambda: planner.update(hidden, importance=5),
        lambda: planner.update(hidden, category="tasks"),
        lambda: planner.update(hidden, content="something else"),
        lambda: planner.merge([hidden, task]),
        lambda: planner.list(after=hidden),
    ):
        with pytest.raises(NotFound):
            attempt()
    assert me.show(hidden).memory.version == 1


def test_hidden_source_is_unreachable_by_external_id_or_filter(me, planner, source):
    name = f"{me.show(source).source.origin}:{SECRET}"
    for call in (
        lambda: planner.recall(TEXT, sources=[source]),
        lambda: planner.recall(TEXT, sources=name),
        lambda: planner.show(name),
        lambda: planner.history(name),
        lambda: planner.sources(after=source),
    ):
        with pytest.raises(NotFound):
            call()
    assert planner.recall(TEXT, sources="only").is_empty
    assert planner.recall(TEXT, filters={"source_id": source}).is_empty
    assert planner.sources().sources == planner.sources(forgotten=True).sources == ()
    assert planner.forget(source_id=source).ids == ()
    assert me.show(source).passages


def test_links_to_a_hidden_memory_are_not_shown(me, planner):
    words = "Ana has lessons in the music school of Haifa on Monday at nine with Dana"
    near = me.remember(f"{words} {SECRET}", category="preferences").id
    seen = me.remember(words, category="tasks").id
    (link,) = me.show(seen).links
    assert {link.a, link.b} == {seen, near}
    assert planner.show(seen).links == ()
    (hit,) = planner.recall(words).hits
    assert hit.related == ()
    assert is_kept([planner.history(seen), planner.events(), planner.stats()], near)
    assert planner.stats().links == 0


def test_hidden_superseding_memory_is_neither_shown_nor_reverted(me, planner, task):
    """The newer wording has gone where the planner does not see it."""
    newer = me.update(task, content=f"Renew the passport: {SECRET}", category="preferences").id
    assert me.show(task).memory.superseded_by == newer
    assert is_kept(planner.show(task), newer)
    assert is_kept(planner.history(task), newer)
    assert is_kept(planner.change_log("t"), newer)
    with pytest.raises(NotAllowed) as refused:
        planner.restore(task)
    assert newer not in str(refused.value)
    assert me.show(newer).memory.state == "active"


def test_list_forgotten_omits_a_hidden_superseding_id(me, planner):
    given = {"kind": "kv", "category": "tasks"}
    old = me.remember(metadata={"subject": "door code", "value": 1111}, **given).id
    new = me.update(old, metadata={"value": SECRET}, category="preferences").id
    assert me.list(forgotten=True).memories[0].superseded_by == new
    assert is_kept(planner.list(forgotten=True), new)
    assert planner.list(forgotten=True).memories[0].id == old


def test_versions_from_a_disallowed_category_stay_hidden_after_a_move(me, planner):
    """It has moved into a category that the planner sees, and said something else before."""
    moved = me.profile_note(f"Likes the {SECRET}")
    id = me.remember(TEXT, category="preferences", kind="fact").id
    me.update(id, summary="Nothing much", category="tasks")
    assert [version.memory.version for version in me.show(id).versions] == [1, 2]
    assert [version.memory.version for version in planner.show(id).versions] == [2]
    with pytest.raises(NotFound):
        planner.restore(f"{id}@1")
    with pytest.raises(NotFound):
        planner.show(moved.id)


def test_memory_moved_to_a_disallowed_category_hides_past_versions(me, planner, task):
    planner.recall("renew the passport", thread="asked")
    me.update(task, category="preferences")
    assert planner.recall("renew the passport").is_empty
    assert is_kept([planner.list(), planner.change_log("t"), planner.events()], task)
    assert planner.why("asked", 1).asked[0].returned == ()
    for verb in BY_ID:
        with pytest.raises(NotFound):
            getattr(planner, verb)(task)


def test_conflict_with_a_hidden_side_is_neither_shown_nor_resolvable(me):
    trusted = me.agent("planner", may_resolve=True)
    given = {"kind": "kv", "metadata": {"subject": "door code", "value": 1111}}
    stands = me.remember(category="tasks", **given).id
    given["metadata"] = {"subject": "door code", "value": SECRET}
    held = me.remember(category="preferences", **given)
    assert trusted.conflicts() == trusted.conflicts(alternatives=True) == []
    for choice in ("override", "insert", "dismiss"):
        with pytest.raises(NotFound):
            trusted.resolve(held.conflict, choice)
    for verb in BY_ID:
        with pytest.raises(NotFound):
            getattr(trusted, verb)(held.id)
    assert is_kept([trusted.show(stands), trusted.recall("door code").hits], held.id)
    assert is_kept([trusted.history(stands), trusted.events(), trusted.change_log("t")], held.id)
    assert trusted.recall("door code").hits[0].disputed is None
    assert is_kept([trusted.show(stands), trusted.list()], held.conflict)
    assert [change.what for change in trusted.changes("new", since=0).changes] == ["created"]
    assert "disputed" in {change.what for change in me.changes("new", since=0).changes}
    assert me.recall("door code").hits[0].disputed


def test_show_omits_a_hidden_alternative(me, planner):
    given = {"kind": "kv", "metadata": {"subject": "door code", "value": 1111}}
    stands = me.remember(category="tasks", **given).id
    given["metadata"] = {"subject": "door code", "value": SECRET}
    beside = me.remember(category="preferences", on_conflict="alternative", **given).id
    assert [side.id for side in me.show(stands).alternatives] == [beside]
    assert is_kept([planner.show(stands), planner.history(stands)], beside)


def test_erase_answer_omits_hidden_memories_erased_by_cascade(me, planner):
    ids = [me.remember(f"Standup: {word}", kind="log", category="tasks").id for word in ("a", "b")]
    summary = me.merge(ids).id
    me.update(summary, category="preferences")
    me.erase(ids[1])
    answer = planner.erase(ids[0])  # and with it the summary, which rests on nothing else now
    assert answer.ids == (ids[0],)
    assert answer.receipt.items == 1
    assert is_kept(answer, summary)
    with pytest.raises(NotFound):
        me.show(summary)


# ——— bringing sources ———

LETTER = "From: dana@example.com\nMessage-ID: <1@example.com>\nSubject: Boiler\n\nIt is repaired."


def talk(text):
    return json.dumps({"speaker": "Dana", "text": text, "time": "2026-03-02T10:00:00Z"}) + "\n"


BROUGHT = [
    {"original": talk(f"The {SECRET}"), "external_id": "c1"},
    {"original": talk(f"The {SECRET}"), "external_id": "c1", "append": True},
    {"original": talk("Something else"), "external_id": "c1"},
    {"original": talk("Something more"), "external_id": "c1", "append": True, "title": "Mine"},
    {"original": "Not a talk at all", "external_id": "c1", "origin": "chat", "append": True},
    {"original": talk("Not a letter"), "external_id": "t9", "origin": "thread", "append": True},
    {"original": f"A page of the {SECRET}", "format": "text"},
    {"original": LETTER, "format": "email"},
    {"original": LETTER.replace("repaired", "broken"), "format": "email", "wait": False},
]


@pytest.mark.parametrize("forgotten", [False, True])
def test_ingest_by_agent_without_source_access_reveals_no_known_source(book, forgotten):
    """Neither that a name is taken nor that a text is known; twice, it is answered the same."""
    for number, brought in enumerate(BROUGHT):
        me = book.user(f"full{number}")
        made = [me.ingest(talk(f"The {SECRET}"), external_id="c1", title=SECRET).id]
        made += [me.ingest(f"A page of the {SECRET}", format="text", title=SECRET).id]
        made += [me.ingest(LETTER, format="email").id]
        made += [me.ingest(LETTER, format="email", origin="thread", external_id="t9").id]
        before = [me.show(id).passages for id in made]
        if forgotten:
            me.forget(made)
        empty = book.user(f"empty{number}")
        answers = [handle.agent("planner").ingest(**brought) for handle in (me, me, empty, empty)]
        assert len({_unnumbered(told(answer)) for answer in answers}) == 1, brought
        assert len({answer.id for answer in answers} - set(made)) == 4, brought
        me.restore(made)
        assert [me.show(id).passages for id in made] == before, brought


def _unnumbered(told):
    """But for ids, and for revisions, which count everybody's changes."""
    without = re.sub(r'"revision": \d+', "", UUID.sub("", told))
    return re.sub(r'"(empty|full)\d"', "", without)


def test_ingest_append_by_agent_without_source_access_extends_own_source(me, planner):
    given = {"external_id": "log", "origin": "chat"}
    theirs = me.ingest(talk(f"The {SECRET}"), external_id="log", origin="chat").id
    for words in ("one", "two", "three"):
        planner.ingest(talk(words), append=True, **given)
        me.agent("stylist").ingest(talk(f"style {words}"), append=True, **given)
    threads = me.observe("Good morning.", thread="t1").source_id
    planner.ingest(talk("And to you"), external_id="t1", origin="thread", append=True)
    texts = {s.id: [p.text for p in me.show(s.id).passages] for s in me.sources().sources}
    assert texts.pop(theirs) == [f"The {SECRET}"]
    assert texts.pop(threads) == ["Good morning.", "And to you"]
    assert sorted(texts.values()) == [
        ["one", "two", "three"],
        ["style one", "style two", "style three"],
    ]


def test_reingest_by_agent_without_source_access_updates_own_source(me, planner):
    for _ in range(2):
        planner.ingest(talk("Water the ferns"), external_id="notes")
        planner.ingest(talk("Water the figs"), external_id="notes")
    (source,) = me.sources().sources
    assert [p.text for p in me.show(source.id).passages] == ["Water the figs"]
    assert (source.external_id, source.provenance["commonplace"]["agent"]) == ("notes", "planner")


# ——— other moments ———


def test_allowlist_applies_to_as_of_and_known_at_reads(me, planner, hidden, source, task, clock):
    """What was of an allowed category then and is not now, and the other way round."""
    wrote = me.remember(f"Practise the {SECRET}", category="tasks").id
    clock.tick(days=1)
    then = clock()
    clock.tick(days=1)
    me.update(wrote, category="preferences")
    for moment in ({"as_of": then}, {"known_at": then}, {"as_of": then, "known_at": then}):
        assert is_kept(planner.query(TEXT, **moment).items, hidden, wrote, source)
        assert is_kept(planner.recall(f"practise the {SECRET}", **moment).hits, wrote, source)
        assert is_kept(planner.list(**moment), hidden, wrote)
        assert planner.sources(**moment).sources == ()
        for id in (hidden, wrote, source, f"{source}#1"):
            with pytest.raises(NotFound):
                planner.show(id, **moment)
        with pytest.raises(CategoryNotAllowed):
            planner.query(TEXT, categories=["preferences"], **moment)
    me.update(hidden, category="tasks")
    assert planner.query(TEXT).items[0].id == hidden
    assert is_kept([planner.query(TEXT, known_at=then).items, planner.list(known_at=then)], hidden)
    with pytest.raises(NotFound):
        planner.show(hidden, known_at=then)


# ——— what is told of by the way ———


def test_allowlist_applies_to_journal_stats_and_doctor(me, planner, hidden, source, task):
    for answer in (
        planner.changes("new", since=0),
        planner.change_log("t"),
        planner.events(limit=1000),
        planner.stats(events=True),
        planner.doctor(),
        planner.profile(),
        planner.proposals(),
        planner.conflicts(alternatives=True),
        planner.categories(),
    ):
        assert is_kept(answer, hidden, source)
    assert (planner.stats().live, planner.stats().sources, planner.stats().passages) == (1, 0, 0)
    assert set(planner.stats().categories) == {"tasks"}


def test_changes_omit_forgotten_and_erased_hidden_items(me, planner, hidden, source):
    planner.changes()
    me.forget([hidden, source])
    assert planner.list(forgotten=True).memories == planner.sources(forgotten=True).sources == ()
    assert planner.changes().header == ""
    me.erase([hidden, source])
    assert planner.changes().header == planner.query("anything").header == ""
    assert is_kept([planner.events(limit=1000), planner.change_log("t")], hidden, source)


def test_journal_page_is_filled_despite_hidden_entries(me, planner):
    """Its length would tell how much of it there is."""
    ids = [me.remember(f"Pack the bag {n}", category="tasks", thread="t").id for n in range(6)]
    for number in range(30):
        me.remember(f"The {SECRET} number {number}", category="preferences", thread="t")
    gone = me.remember(f"{TEXT}, once", category="preferences", thread="t").id
    me.erase(gone)
    for rows in (planner.events(limit=4), planner.change_log("t", limit=4)):
        assert [row["memory_id"] for row in rows] == ids[:1:-1]
    assert len(me.events(limit=4)) == len(me.change_log("t", limit=4)) == 4
    assert is_kept([planner.events(limit=1000), planner.change_log("t", limit=1000)], gone)


def test_events_omit_searches_by_other_principals(me, planner, hidden):
    """That a search was made, when, and how close it came."""
    me.recall(TEXT, thread="talk")
    me.agent("stylist").recall(TEXT, thread="talk")
    assert planner.events() == []
    planner.recall("passport", thread="own")
    assert [(row["op"], row["thread_id"]) for row in planner.events()] == [("search", "own")]
    assert len([row for row in me.events() if row["op"] == "search"]) == 3


def test_stats_show_no_operation_counts_to_a_cleared_agent(book, me, hidden):
    assert me.stats(events=True).operations
    assert book.user("ana", cleared=True).agent("planner").stats(events=True).operations == ()


THE_OWNERS_ALONE = [
    lambda agent: agent.export(),
    lambda agent: agent.verify_forget(SECRET),
    lambda agent: agent.erase_user(),
    lambda agent: agent.jobs(),
    lambda agent: agent.doctor(all_users=True),
    lambda agent: agent.profile_set("city", "Haifa"),
    lambda agent: agent.categories_check("stylist", "preferences"),
    lambda agent: agent.categories_explain("preferences"),
]


def test_owner_only_verbs_refuse_an_agent(planner, hidden):
    for attempt in THE_OWNERS_ALONE:
        with pytest.raises(NotAllowed) as refused:
            attempt(planner)
        assert SECRET not in str(refused.value)


def test_import_refuses_an_agent(me, planner):
    lines = list(me.export())
    with pytest.raises(NotAllowed):
        planner.import_(lines)


def test_remember_of_a_hidden_duplicate_is_answered_as_new(me, hidden):
    """Nor can one find out by looking for it afterwards."""
    for words in (TEXT, TEXT.lower(), f"{TEXT}, always"):
        agent = me.agent("planner")
        answer = agent.remember(words, category="tasks")
        assert (answer.relation, answer.others, answer.reason) == ("new", (), "")
        assert hidden not in told(answer)
        assert agent.show(answer.id).memory.content == words
        agent.erase(answer.id)
    assert me.show(hidden).memory.version == 1


def test_spelling_correction_uses_no_hidden_words(me, planner, hidden, source):
    for misspelled in ("xylofone", "xylophon", "ylophone"):
        assert planner.recall(misspelled).is_empty
        assert planner.query(misspelled).is_empty


def test_understand_ignores_a_hidden_conversation(me, planner):
    turn = '{{"speaker": "user", "text": "{}", "time": "2026-03-02"}}\n'
    lines = turn.format(f"Who repairs the {SECRET}?") + turn.format("Dana does.")
    me.ingest(lines, format="conversation", thread="talk")
    asked = "and in Chicago?"
    assert planner.understand(asked, thread="talk") == planner.understand(asked)
    assert is_kept(planner.understand(asked, thread="talk"))


def test_understand_does_not_expand_a_hidden_abbreviation(me, planner):
    me.abbreviate("QXZ", SECRET)
    assert is_kept([planner.abbreviations(), planner.understand("what is the QXZ?")])


def test_forget_and_update_by_query_offer_no_hidden_items(planner, hidden, source):
    assert planner.forget(query=TEXT).is_empty
    assert planner.update(query=TEXT, importance=5).is_empty


def test_why_hides_recalls_of_other_principals(me, planner, hidden):
    me.recall(TEXT, thread="talk", turn=1)
    me.agent("stylist").query(TEXT, thread="talk", turn=1)
    with pytest.raises(NotFound):
        planner.why("talk", 1)
    with pytest.raises(NotFound):
        planner.why("talk")
    assert [asked.agent for asked in me.why("talk", 1).asked] == [None, "stylist"]


def test_refused_agent_requests_leave_the_revision_unchanged(me, planner, hidden, source):
    before = me.revision
    for attempt in (
        lambda: planner.erase([hidden, source]),
        lambda: planner.forget(hidden),
        lambda: planner.update(hidden, category="tasks"),
        lambda: planner.recall(TEXT, categories="preferences"),
    ):
        with suppress(CommonplaceError):
            attempt()
    assert me.revision == before


def test_query_rejects_a_nul_character(planner):
    with pytest.raises(BadText):
        planner.query("\x00")

"""One turn or passage is forgotten, restored and erased by its own id."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from commonplace.errors import NotAllowed, NotFound
from support.settled import settled
from support.sources import chat, letter, turn

TALK = chat(
    turn("Dana", "A heron sat on the wall."),
    turn("Ana", "We planted quinces along the fence.", 1),
    turn("Dana", "The gate squeaks again.", 2),
)


def found(me, query):
    return {hit.id for hit in me.recall(query).hits}


def shown(me, source):
    return [passage.id for passage in me.show(source).passages]


@pytest.fixture
def talk(me):
    return me.ingest(TALK, external_id="c1").id


def test_forget_passage_leaves_recall_and_the_source_and_restore_reverts(me, talk):
    turn = f"{talk}#2"
    assert turn in found(me, "quinces fence")
    assert me.forget(turn).ids == (turn,)
    assert turn not in found(me, "quinces fence")
    assert shown(me, talk) == [f"{talk}#1", f"{talk}#3"]
    with pytest.raises(NotFound):
        me.show(turn)
    assert "quinces" not in me.context("quinces").text
    assert "quince" not in str(me.show(talk).source.keywords)
    assert me.restore(turn).ids == (turn,)
    assert turn in found(me, "quinces fence")
    assert shown(me, talk) == [f"{talk}#1", f"{talk}#2", f"{talk}#3"]


def test_forget_passage_twice_tells_the_first_purge_date(me, talk, clock):
    first = me.forget(f"{talk}#2").restorable_until
    clock.tick(days=3)
    again = me.forget(f"{talk}#2")
    assert (again.ids, again.already) == ((), (f"{talk}#2",))
    assert again.restorable_until == first == clock() + timedelta(days=27)


def test_forget_memory_twice_tells_the_first_purge_date(me, clock):
    memory = me.remember("The spare keys are in the drawer").id
    first = me.forget(memory).restorable_until
    clock.tick(days=3)
    assert me.forget(memory).restorable_until == first


def test_forgotten_passage_is_purged_from_the_original_after_its_date(me, talk, clock):
    me.forget(f"{talk}#2")
    clock.tick(days=31)
    with pytest.raises(NotFound):
        me.restore(f"{talk}#2")
    assert me.tidy().purged == 1
    assert me.verify_forget("quinces").clean
    assert shown(me, talk) == [f"{talk}#1", f"{talk}#3"]


def test_erase_passage_blots_the_original_and_keeps_other_numbers(me, talk):
    erased = me.erase(f"{talk}#2", now=True)
    assert erased.ids == (f"{talk}#2",)
    assert erased.scrub == "complete"
    assert me.verify_forget("quinces").clean
    assert me.verify_forget("heron").found_in
    assert shown(me, talk) == [f"{talk}#1", f"{talk}#3"]
    me.ingest(chat(turn("Ana", "I oiled the gate.", 9)), external_id="c1", append=True)
    assert shown(me, talk) == [f"{talk}#1", f"{talk}#3", f"{talk}#4"]
    assert me.erase(f"{talk}#2").ids == ()
    for verb in (me.forget, me.restore):
        with pytest.raises(NotFound):
            verb(f"{talk}#2")


def test_erased_passage_stays_away_when_its_original_comes_again(me, talk):
    me.erase(f"{talk}#2", now=True)
    assert me.ingest(TALK, external_id="c1").action == "unchanged"
    assert me.verify_forget("quinces").clean
    changed = chat(
        turn("Dana", "A grey heron sat on the wall."),
        turn("Ana", "We planted quinces along the fence.", 1),
    )
    me.ingest(changed, external_id="c1")
    assert me.verify_forget("quinces").clean
    assert me.verify_forget("grey heron").found_in


def test_forgotten_passage_stays_forgotten_when_its_source_is_processed_again(me, talk):
    me.forget(f"{talk}#2")
    me.ingest(TALK, external_id="c1", title="In the garden")
    assert f"{talk}#2" not in shown(me, talk)
    assert f"{talk}#2" not in found(me, "quinces fence")
    assert me.restore(f"{talk}#2").ids == (f"{talk}#2",)
    assert f"{talk}#2" in found(me, "quinces fence")


LONG = "\n\n".join(
    f"Chapter {n}. " + " ".join(f"The {word} of day {n} was told at length." for word in words)
    for n, words in enumerate(
        (["harvest"] * 18, ["quince"] * 18, ["lantern"] * 18, ["voyage"] * 18), 1
    )
)
SLACK = json.dumps(
    [
        {"user": "dana", "ts": "1767600000.000100", "text": "The heron is back."},
        {
            "user": "ana",
            "ts": "1767600060.000100",
            "text": "Our quince jam is ready.",
            "blocks": [{"type": "text", "text": "Our quince jam is ready."}],
        },
        {"user": "dana", "ts": "1767600120.000100", "text": "Lovely, see you."},
    ]
)
WHATSAPP = (
    "[04/02/2026, 19:04:02] Ana: The heron is back.\n"
    "[04/02/2026, 19:05:02] Dana: The quince jam is ready,\nall twelve jars.\n"
    "[04/02/2026, 19:06:02] Ana: Lovely.\n"
)
SUBTITLES = (
    "WEBVTT\n\n00:00:01.000 --> 00:00:03.000\n<v Ana>The heron is back.\n\n"
    "00:00:04.000 --> 00:00:06.000\n<v Dana>Um, the quince jam is ready.\n\n"
    "00:00:07.000 --> 00:00:09.000\n<v Ana>Lovely.\n"
)
MAIL = letter("Dear Ana,\n\nthe quince jam is ready, come and fetch it.\n\nDana")


@pytest.mark.parametrize(
    ("original", "more"),
    [
        (LONG, {}),
        (LONG, {"format": "markdown"}),
        (SLACK, {}),
        (WHATSAPP, {}),
        (SUBTITLES, {}),
        (MAIL, {}),
        ("<html><body><p>A heron.</p><p>The quince <b>jam</b> is ready.</p></body></html>", {}),
    ],
    ids=["text", "markdown", "slack", "whatsapp", "subtitles", "mail", "html"],
)
def test_erase_passage_works_for_every_format(me, original, more):
    source = me.ingest(original, external_id="o1", **more).id
    before = me.show(source).passages
    target = next(passage for passage in before if "quince" in passage.text)
    me.erase(target.id, now=True)
    assert me.verify_forget(target.text).clean
    assert me.verify_forget("quince").clean
    left = [(p.number, p.text) for p in before if p.number != target.number]
    if len(before) == 1:
        assert me.show(source).passages == ()
        return
    assert [(p.number, p.text) for p in me.show(source).passages] == left
    me.ingest(original, external_id="o1", **more)  # it changes nothing, or is blotted again
    assert me.verify_forget("quince").clean


def test_erase_one_passage_of_a_long_turn_keeps_the_others(me):
    source = me.ingest(chat(turn("Ana", LONG), turn("Dana", "Thanks.", 1)), external_id="o2").id
    before = me.show(source).passages
    target = before[1]
    me.erase(target.id, now=True)
    assert me.verify_forget(target.text).clean
    me.ingest(chat(turn("Ana", "Bye.", 9)), external_id="o2", append=True)
    left = [(p.number, p.text) for p in before if p.number != target.number]
    assert [(p.number, p.text) for p in me.show(source).passages][:-1] == left
    assert me.show(source).passages[-1].number == before[-1].number + 1


def test_erase_same_words_said_twice_keeps_the_other_turn(me, clock):
    seen = []
    for _ in range(3):
        seen.append(me.observe("The kettle whistles in the kitchen.", thread="t").passages[0])
        clock.tick(minutes=5)
    me.erase(seen[1], now=True)
    source = seen[0].partition("#")[0]
    assert shown(me, source) == [seen[0], seen[2]]


def test_erased_turn_of_a_thread_keeps_later_numbers_and_is_not_stored_again(me, clock):
    said = "I sold my Garmin watch to Dana."
    at = clock()
    first = me.observe(said, thread="t", at=at)
    second = me.observe("It rains in Haifa.", thread="t", at=at + timedelta(minutes=1))
    me.erase(first.passages[0], now=True)
    assert me.verify_forget("Garmin").clean
    again = me.observe(said, thread="t", at=at)
    assert again.passages == first.passages
    assert again.stored == ()
    assert me.verify_forget("Garmin").clean
    third = me.observe("The sun is out.", thread="t", at=at + timedelta(minutes=2))
    assert [each.passages[0].rpartition("#")[2] for each in (second, third)] == ["2", "3"]


def test_erase_of_the_only_turn_leaves_an_empty_source(me):
    seen = me.observe("I sold my Garmin watch to Dana.", thread="t")
    me.erase(seen.passages, now=True)
    assert me.show(seen.source_id).passages == ()
    assert me.verify_forget("Garmin").clean


# ——— what came of it ———


@pytest.fixture
def learnt(open_book):
    """A conversation that was extracted: Noa only in its first turn, Acme in two."""
    book = open_book(extraction="auto")
    me = book.user("ana")
    said = (
        "Ana: My sister Noa Levi works at Acme.\nDana: I work at Acme too.\n"
        "Ana: I want to learn Greek this year."
    )
    source = me.ingest(said, format="transcript", date="2026-01-05").id
    settled(book)
    return book, me, source


def names(me):
    return {node.name for node in (*me.people().nodes, *me.entities().nodes) if not node.is_owner}


def test_forget_passage_hides_what_only_it_gave_the_graph(learnt):
    book, me, source = learnt
    assert names(me) == {"Noa Levi", "Acme", "Dana"}
    before = {node.id for node in me.people().nodes}
    me.forget(f"{source}#1")
    assert names(me) == {"Acme", "Dana"}
    settled(book)
    assert names(me) == {"Acme", "Dana"}
    me.restore(f"{source}#1")
    assert names(me) == {"Noa Levi", "Acme", "Dana"}
    settled(book)
    assert names(me) == {"Noa Levi", "Acme", "Dana"}
    assert {node.id for node in me.people().nodes} == before


def test_erase_passage_removes_what_only_it_gave_the_graph(learnt):
    book, me, source = learnt
    erased = me.erase(f"{source}#1", now=True)
    assert names(me) == {"Acme", "Dana"}
    assert len(erased.along.nodes) == 1
    assert erased.along.edges
    assert me.verify_forget("Noa").clean
    settled(book)
    assert names(me) == {"Acme", "Dana"}
    assert me.verify_forget("Noa").clean


def test_forget_passage_of_a_team_reaches_every_members_graph(open_book):
    book = open_book(extraction="auto")
    bob, eve = book.user("bob"), book.user("eve")
    team = bob.teams_create("garden").id
    for other in ("eve", "mia"):
        bob.teams_invite(team, other)
        book.user(other).teams_join(team)
    said = "Bob: My colleague Sarah Chen works at Acme.\nEve: The gate squeaks again."
    source = bob.ingest(said, format="transcript", team=team).id
    settled(book)
    for each in (bob, eve):
        each.extract(ids=[source])
        assert "Sarah Chen" in names(each)
    for verb in (eve.forget, eve.erase):
        with pytest.raises(NotAllowed):
            verb(f"{source}#1")
    bob.forget(f"{source}#1")
    assert "Sarah Chen" not in names(bob) | names(eve)
    assert f"{source}#1" not in found(eve, "Sarah Chen Acme")
    bob.restore(f"{source}#1")
    assert "Sarah Chen" in names(eve)
    bob.erase(f"{source}#1", now=True)
    assert "Sarah Chen" not in names(bob) | names(eve)
    for each in (bob, eve):
        assert each.verify_forget("Sarah").clean


def test_forget_passage_takes_the_memories_that_only_it_supports(me):
    first = me.observe("I work at Acme in Lisbon.", thread="t")
    memory = first.stored[0].remembered.id
    me.forget(first.passages[0])
    assert memory not in {each.id for each in me.list().memories}
    me.restore(first.passages[0])
    assert memory in {each.id for each in me.list().memories}
    me.erase(first.passages[0], now=True)
    assert me.verify_forget("Lisbon").clean


# ——— a memory takes its evidence along ———


def test_erase_memory_takes_the_words_of_its_turn_along(me):
    seen = me.observe("Remember that the wifi password is crocus44.", thread="t")
    erased = me.erase(seen.stored[0].remembered.id, now=True)
    assert erased.along.passages == seen.passages
    assert erased.still_in == ()
    assert me.verify_forget("crocus44").clean
    assert me.recall("wifi password").is_empty


def test_erase_memory_with_keep_evidence_leaves_its_turn(me):
    seen = me.observe("Remember that the wifi password is crocus44.", thread="t")
    erased = me.erase(seen.stored[0].remembered.id, keep_evidence=True)
    assert erased.still_in == seen.passages
    assert seen.passages[0] in found(me, "wifi password")


def test_forget_memory_hides_its_turn_until_it_is_restored(me):
    seen = me.observe("Remember that the wifi password is crocus44.", thread="t")
    memory = seen.stored[0].remembered.id
    gone = me.forget(memory)
    assert gone.passages == seen.passages
    assert me.recall("wifi password").is_empty
    assert "crocus44" not in me.context("wifi password").text
    me.restore(memory)
    assert {memory, seen.passages[0]} & found(me, "wifi password")
    me.forget(memory, keep_evidence=True)
    assert seen.passages[0] in found(me, "wifi password")


def test_removal_of_one_memory_keeps_the_others_of_its_turn(me):
    seen = me.observe("I work at Acme. My sister Noa plays the violin.", thread="t")
    one, other = (each.remembered.id for each in seen.stored)
    me.forget(one)
    assert other in {each.id for each in me.list().memories}
    me.restore(one)
    me.erase(one, now=True)
    assert me.show(other).memory.evidence == (seen.source_id,)
    me.erase(seen.source_id)
    assert other not in {each.id for each in me.list().memories}


def test_restore_keeps_a_turn_hidden_while_another_memory_of_it_is_forgotten(me):
    seen = me.observe("I work at Acme. My sister Noa plays the violin.", thread="t")
    one, other = (each.remembered.id for each in seen.stored)
    me.forget([one, other])
    me.restore(one)
    assert seen.passages[0] not in shown(me, seen.source_id)
    me.restore(other)
    assert seen.passages[0] in shown(me, seen.source_id)


def test_forgotten_passage_travels_in_an_export(me, book, talk):
    me.forget(f"{talk}#2")
    me.erase(f"{talk}#3", now=True)
    copy = book.user("copy")
    copy.import_(list(me.export()))
    source = copy.sources().sources[0].id
    assert shown(copy, source) == [f"{source}#1"]
    assert copy.restore(f"{source}#2").ids == (f"{source}#2",)
    assert all(finding.ok for finding in me.doctor())

"""True names with untrue predicates, known words joined anew, suppositions: all dropped."""

import pytest

from commonplace.language.grounding.ground import ground
from commonplace.language.grounding.values import DropReason
from commonplace.model.sources.source import SourceType
from support.given_passages import OWNER, contents, edges, found_in, given, memory, relation

DINNER = "we had dinner with Tom and Ilka, Tom was late"
KNOWN = {
    "k1": "The user's sister Ilka lives in Porto.",
    "k2": "The user's dentist is Dr Weiss.",
    "k3": "The user's brother Tom works at Nokia.",
    "k4": "The user's rent is 1,450.",
    "k5": "The user's car is a blue Fiat.",
}


def with_known(turns, *items):
    passages = given(*(f"owner: {turn}" for turn in turns))
    return ground({"memories": items}, passages, OWNER, SourceType.CHAT, KNOWN).memories


# ——— predicates ———


@pytest.mark.parametrize(
    ("turn", "text"),
    [
        (DINNER, "The user hates Ilka."),
        (DINNER, "The user fired Tom."),
        (DINNER, "Tom was arrested late."),
        ("my son Ori had a fever last night", "The user's son Ori died last night."),
        ("took my son Ori to Dr Levi yesterday", "Dr Levi is the user's son."),
        ("Oskar picked up the keys from grandma", "Oskar smashed the keys."),
        ("רותי מהעבודה שלחה לי קובץ", "רותי מהעבודה פוטרה."),
    ],
)
def test_a_predicate_needs_words_of_its_own(turn, text):
    found = found_in(given(f"owner: {turn}"), memories=[memory(text, turn)])
    assert found.memories == ()
    assert DropReason.UNGROUNDED_WORDS in found.dropped


@pytest.mark.parametrize(
    ("turn", "text"),
    [
        ("my wife's expecting, due in June!", "The user's wife is pregnant."),
        ("we lost grandpa on monday", "The user's grandfather died."),
        ("can't stand my neighbour Karl", "The user dislikes their neighbour Karl."),
        ("Karim's on left back now", "Karim plays left back now."),
        ("Stan from Kowalczyk Meats does our lamb", "Stan supplies the user's lamb."),
        ("vet nurse at Brindle Hospital", "The user is a vet nurse at Brindle Hospital."),
    ],
)
def test_softer_words_for_the_same_are_kept(turn, text):
    assert contents(found_in(given(f"owner: {turn}"), memories=[memory(text, turn)])) == [text]


# ——— relations ———


@pytest.mark.parametrize("type", ["spouse", "ex-partner", "reports-to", "rival", "landlord"])
def test_two_names_in_one_turn_are_no_relation(type):
    item = relation("Tom", type, "Ilka", DINNER, from_type="person", to_type="person")
    assert edges(found_in(given(f"owner: {DINNER}"), relations=[item])) == []


def test_a_role_that_stands_before_another_name_is_not_theirs():
    turn = "my son Ori had a fever, took him to Dr Levi"
    items = [relation(name, "child", "me", turn) for name in ("Ori", "Dr Levi")]
    names = [{"passage": 0, "quote": "my son Ori", "name": "Ori", "type": "person"}]
    found = found_in(given(f"owner: {turn}"), relations=items, names=names)
    assert [one for one, _, _ in edges(found)] == ["Ori"]


@pytest.mark.parametrize(("turn", "felt"), [("my boss Ron is late", None), ("hate my boss Ron", 1)])
def test_a_feeling_needs_a_word(turn, felt):
    item = relation("me", "reports-to", "Ron", turn, attitude=1)
    (edge,) = found_in(given(f"owner: {turn}"), relations=[item]).graph.edges
    assert edge.attitude == felt


def test_a_description_needs_words_of_its_own():
    turn = "took my son to Dr Levi yesterday"
    name = {"passage": 0, "quote": turn, "name": "Dr Levi", "type": "person"}
    lie = "Dr Levi is a fraud who poisoned people."
    found = found_in(given(f"owner: {turn}"), names=[{**name, "description": lie}])
    assert found.graph.nodes[1].description == ""


# ——— what is known ———


@pytest.mark.parametrize(
    ("turn", "text", "fields"),
    [
        ("ok thanks", "The user's sister Ilka lives in Porto.", {}),
        ("my sister and my brother called", "The user's sister Ilka works at Nokia.", {}),
        ("my sister called about the dentist", "The user's dentist is Ilka.", {"corrects": "k2"}),
        (
            "my sister called",
            "The user's sister Ilka no longer lives in Porto.",
            {"ended": True, "corrects": "k1"},
        ),
        ("the weather in Porto is great", "The user's brother Tom works in Porto.", {}),
    ],
)
def test_known_words_alone_are_no_news(turn, text, fields):
    assert with_known([turn], memory(text, turn, **fields)) == ()


@pytest.mark.parametrize(
    ("turn", "text", "key"),
    [
        ("my sister called", "The user's sister Ilka called.", "k1"),
        ("rent is paid", "The user's rent is paid.", "k4"),
        ("the car is at the garage till thursday", "The user's car is at the garage.", "k5"),
    ],
)
def test_a_word_in_common_makes_nothing_obsolete(turn, text, key):
    (kept,) = with_known([turn], memory(text, turn, corrects=key))
    assert (kept.known, kept.corrects) == ((), "")


@pytest.mark.parametrize(
    ("turn", "text", "key"),
    [
        ("rent goes up to 1,500", "The user's rent is 1,500.", "k4"),
        ("Ilka's in Lisbon now btw", "The user's sister Ilka lives in Lisbon.", "k1"),
        ("Tom starts at Ericsson", "The user's brother Tom works at Ericsson.", "k3"),
    ],
)
def test_another_value_or_a_word_of_change_replaces(turn, text, key):
    (kept,) = with_known([turn], memory(text, turn, corrects=key))
    assert kept.known == (key,)


def test_a_window_takes_back_few_of_the_known_statements():
    turns = ["Ilka moved to Graz now", "new dentist, Dr Kern", "rent is 1,500 now"]
    items = [
        memory("The user's sister Ilka lives in Graz.", turns[0], 0, corrects="k1"),
        memory("The user's dentist is Dr Kern.", turns[1], 1, corrects="k2"),
        memory("The user's rent is 1,500.", turns[2], 2, corrects="k4"),
    ]
    assert [each.known for each in with_known(turns, *items)] == [("k1",), ("k2",), ()]


# ——— what is only supposed ———

QUIT = "The user quit their job at Intel."


@pytest.mark.parametrize(
    "before",
    [
        "I might ",
        "maybe I'll ",
        "almost ",
        "my boss said to ",
        "I'd never ",
        "I never ",
        "I dreamt I ",
    ],
)
def test_what_is_supposed_or_nearly_done_is_dropped(before):
    found = found_in(
        given(f"owner: {before}quit my job at Intel"),
        memories=[memory(QUIT, "quit my job at Intel")],
    )
    assert found.memories == ()


@pytest.mark.parametrize(
    ("turn", "text"),
    [
        ("maybe it's silly but I quit my job at Intel", QUIT),
        ("I might quit my job at Intel", "The user may quit their job at Intel."),
        ("I quit my job at Intel, 5 of us or maybe 6 did", QUIT),
    ],
)
def test_what_is_stated_beside_it_is_kept(turn, text):
    assert contents(found_in(given(f"owner: {turn}"), memories=[memory(text, turn)])) == [text]


def test_a_dream_makes_no_relation():
    item = relation("me", "spouse", "Dana", "I married Dana")
    assert edges(found_in(given("owner: I dreamt I married Dana"), relations=[item])) == []

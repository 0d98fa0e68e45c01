"""What sources tell of one memory together: without one of them it is what the others told."""

from __future__ import annotations

import pytest

import commonplace
from commonplace.model.memory.memory import State

OWNER = "ana"
DAYS = ("2026-01-05", "2026-01-20", "2026-02-03")


def talk(said):
    return f"Ana: Hi.\nBob: Hello.\nAna: {said}"


def take_in(me, said, day):
    id = me.ingest(talk(said), format="transcript", date=day, external_id=day).id
    me.extract([id])
    me._engine.clock.tick(minutes=1)
    return id


def remembered(me):
    """All of it without ids, and what is said otherwise."""
    found = []
    for memory in me.list(limit=1000).memories:
        others = sorted(side.text for side in me.show(memory.id).alternatives)
        said = {name: value for name, value in memory.metadata.items() if value}
        found.append((memory.kind, memory.content, sorted(said.items()), memory.valid_from, others))
    return sorted(found, key=repr)


TOLD = {
    "a number, then an address": (
        "Call Dan Cohen at 054-1111111.",
        "You can reach Dan Cohen at dan@acme.com.",
    ),
    "two numbers": ("My phone number is 054-1234567.", "My phone number is 054-7654321."),
    "two numbers of somebody": ("Call Dan Cohen at 054-1111111.", "Call Dan Cohen at 054-2222222."),
    "the same": ("I love hiking.", "I love hiking."),
    "the same in other words": ("My sister is Noa.", "My sister's name is Noa."),
    "three values": (
        "My phone number is 054-1234567.",
        "My phone number is 054-7654321.",
        "My phone number is 054-3333333.",
    ),
    "a value and twice another": (
        "My phone number is 054-1234567.",
        "My phone number is 054-7654321.",
        "My phone number is 054-7654321.",
    ),
}
CASES = [
    pytest.param(said, ended, id=f"{name}, without {ended + 1}")
    for name, said in TOLD.items()
    for ended in range(len(said))
]


@pytest.fixture
def book(open_book):
    return open_book(worker="off")


@pytest.fixture
def never(tmp_path, clock):
    path = str(tmp_path / "never.db")
    with commonplace.open(path, embedder="hashing", clock=clock, worker="off") as book:
        yield book.user(OWNER)


@pytest.fixture
def told(book, never, said, ended):
    """The ids of what was said, which the other store has met but for one."""
    dated = list(zip(said, DAYS, strict=False))
    for each in (*dated[:ended], *dated[ended + 1 :]):
        take_in(never, *each)
    return [take_in(book.user(OWNER), *each) for each in dated]


@pytest.mark.parametrize(("said", "ended"), CASES)
def test_erase_source_leaves_memories_as_if_never_ingested(book, never, told, said, ended):
    me = book.user(OWNER)
    me.erase(told[ended], now=True)
    assert remembered(me) == remembered(never)


@pytest.mark.parametrize(("said", "ended"), CASES)
def test_forget_source_withdraws_contributions_and_restore_returns_values(
    book, never, told, said, ended
):
    me = book.user(OWNER)
    before = remembered(me)
    me.forget(told[ended])
    assert remembered(me) == remembered(never)
    me.restore(told[ended])
    values = [(kind, content, fields) for kind, content, fields, *_ in remembered(me)]
    assert values == [(kind, content, fields) for kind, content, fields, *_ in before]


def test_erase_source_removes_contributed_contact_field_without_residue(book):
    me = book.user(OWNER)
    take_in(me, *("Call Dan Cohen at 054-1111111.", DAYS[0]))
    second = take_in(me, "You can reach Dan Cohen at dan@acme.com.", DAYS[1])
    (contact,) = me.list(kinds=["contact"]).memories
    assert contact.metadata["email"] == "dan@acme.com"
    assert {each.partition("#")[0] for each in contact.evidence} >= {second}
    me.erase(second, now=True)
    assert me.verify_forget("dan@acme.com").clean
    (left,) = me.list(kinds=["contact"]).memories
    assert left.id == contact.id
    assert "email" not in left.metadata


def test_purge_of_forgotten_source_leaves_no_residue_in_memories(book, clock):
    me = book.user(OWNER)
    take_in(me, "Call Dan Cohen at 054-1111111.", DAYS[0])
    second = take_in(me, "You can reach Dan Cohen at dan@acme.com.", DAYS[1])
    me.forget(second)
    clock.tick(days=31)
    me.tidy()
    assert me.verify_forget("dan@acme.com").clean
    assert "054" in me.list(kinds=["contact"]).memories[0].content


def test_erase_source_keeps_metadata_tags_and_pin_set_by_the_owner(book):
    me = book.user(OWNER)
    first = take_in(me, "Call Dan Cohen at 054-1111111.", DAYS[0])
    me.remember(
        "Dan Cohen, dan@acme.com",
        kind="contact",
        metadata={"name": "Dan Cohen", "email": "dan@acme.com"},
    )
    (contact,) = me.list(kinds=["contact"]).memories
    me.update(contact.id, tags=["friends"], pinned=True)
    me.erase(first, now=True)
    (left,) = me.list(kinds=["contact"]).memories
    assert left.metadata["email"] == "dan@acme.com"
    assert "054" not in left.content
    assert (left.tags, left.pinned) == (("friends",), True)


def test_contributions_survive_export_and_import_for_a_later_erase(
    book, open_book, tmp_path, clock
):
    me = book.user(OWNER)
    take_in(me, "Call Dan Cohen at 054-1111111.", DAYS[0])
    second = take_in(me, "You can reach Dan Cohen at dan@acme.com.", DAYS[1])
    lines = list(me.export())
    with commonplace.open(
        str(tmp_path / "other.db"), embedder="hashing", clock=clock, worker="off"
    ) as there:
        other = there.user(OWNER)
        other.import_(lines)
        other.erase(second, now=True)
        assert other.verify_forget("dan@acme.com").clean
        assert "054" in other.list(kinds=["contact"]).memories[0].content
        assert all(m.state is State.ACTIVE for m in other.list().memories)


NUMBER, ADDRESS = "Call Dan Cohen at 054-1111111.", "You can reach Dan Cohen at dan@acme.com."
OWN = {"name": "Dan Cohen", "email": "dan@own.com"}


def contact(me):
    (only,) = me.list(kinds=["contact"]).memories
    return only


def overrides(me):
    me.remember("Dan Cohen, dan@own.com", kind="contact", metadata=OWN, on_conflict="override")


def decides(me):
    held = me.remember("Dan Cohen, dan@own.com", kind="contact", metadata=OWN)
    me.resolve(held.conflict, "override")


def updates(me):
    me.update(contact(me).id, content="Dan Cohen, dan@own.com", metadata=OWN)


@pytest.mark.parametrize("says", [overrides, decides, updates])
def test_erase_source_leaves_no_residue_in_values_overridden_by_the_owner(book, says):
    me = book.user(OWNER)
    first, second = take_in(me, NUMBER, DAYS[0]), take_in(me, ADDRESS, DAYS[1])
    says(me)
    assert contact(me).metadata == {**OWN, "phone": "054-1111111"}
    me.erase(first, now=True)
    assert contact(me).metadata == OWN
    assert me.verify_forget("054-1111111").clean
    me.erase(second, now=True)
    assert contact(me).content == "Dan Cohen, dan@own.com"
    assert me.verify_forget("dan@acme.com").clean


def test_erase_source_keeps_content_rewritten_by_the_owner(book):
    me = book.user(OWNER)
    ids = [take_in(me, "I love hiking.", day) for day in DAYS]
    (told,) = me.list().memories
    me.update(told.id, content="The user likes skiing, says the owner.")
    me.erase(ids, now=True)
    assert [m.content for m in me.list().memories] == ["The user likes skiing, says the owner."]
    assert me.verify_forget("hiking").clean


def test_erase_source_reevaluates_held_values_without_the_contradicted_one(book):
    """Without the number that it contradicts, another number is the number."""
    me = book.user(OWNER)
    first = take_in(me, NUMBER, DAYS[0])
    take_in(me, "Call Dan Cohen at 054-2222222.", DAYS[1])
    me.remember("Dan Cohen, dan@own.com", kind="contact", metadata=OWN)
    (question,) = me.conflicts(alternatives=True)
    assert "054-1111111" in question.reason
    me.erase(first, now=True)
    assert me.conflicts(alternatives=True) == []
    assert contact(me).metadata == {**OWN, "phone": "054-2222222"}
    assert me.verify_forget("054-1111111").clean


def test_erase_source_rebuilds_summaries_of_rebuilt_memories(book):
    me = book.user(OWNER)
    take_in(me, NUMBER, DAYS[0])
    second = take_in(me, ADDRESS, DAYS[1])
    other = me.remember("The user likes tea.", kind="fact").id
    summary = me.merge([contact(me).id, other]).id
    assert "dan@acme.com" in me.show(summary).memory.content
    me.erase(second, now=True)
    assert me.verify_forget("dan@acme.com").clean
    assert "054-1111111" in me.show(summary).memory.content


def test_erase_source_reverts_wording_together_with_valid_from(book):
    me = book.user(OWNER)
    take_in(me, "I am allergic to peanuts.", DAYS[1])
    fuller = take_in(me, "I am allergic to peanuts and shellfish.", DAYS[0])
    me.erase(fuller, now=True)
    (fact,) = me.list(kinds=["fact"]).memories
    assert (fact.content, f"{fact.valid_from:%Y-%m-%d}") == (
        "The user is allergic to peanuts.",
        DAYS[1],
    )


def test_update_with_unchanged_metadata_does_not_make_the_owner_its_origin(book):
    me = book.user(OWNER)
    first = take_in(me, NUMBER, DAYS[0])
    me.update(contact(me).id, metadata={**contact(me).metadata, "role": "plumber"})
    assert contact(me).metadata["phone"] == "054-1111111"
    me.erase(first, now=True)
    assert contact(me).metadata == {"name": "Dan Cohen", "role": "plumber"}
    assert me.verify_forget("054-1111111").clean


def test_erase_source_removes_derived_tags_and_keeps_tags_of_the_owner(book):
    me = book.user(OWNER)
    first = take_in(me, "Remember that Dan Cohen is my dentist, email zork@x.com.", DAYS[0])
    me.update(contact(me).id, metadata={**contact(me).metadata, "role": "plumber"})
    take_in(me, ADDRESS, DAYS[1])
    me.update(contact(me).id, tags=[*contact(me).tags, "friends"])
    me.erase(first, now=True)
    assert me.verify_forget("zork").clean
    assert "friends" in contact(me).tags


def test_erase_source_keeps_owner_metadata_added_after_the_source(book):
    me = book.user(OWNER)
    said = {"name": "Dan Cohen", "phone": "054-1111111"}
    me.remember("Dan Cohen, 054-1111111", kind="contact", metadata=said)
    second = take_in(me, ADDRESS, DAYS[1])
    more = {"name": "Dan Cohen", "role": "plumber"}
    me.remember("Dan Cohen mends pipes", kind="contact", metadata=more)
    me.erase(second, now=True)
    assert contact(me).metadata == {**said, **more}
    assert "Dan Cohen mends pipes" in contact(me).content
    assert me.verify_forget("dan@acme.com").clean

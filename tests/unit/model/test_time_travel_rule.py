"""What a memory said at another moment: one rule over its versions."""

from datetime import timedelta

import pytest

from commonplace.model.memory.lifecycle import PointInTime, memory_at
from commonplace.model.memory.memory import State, Version
from support.clock import START
from support.making import a_memory


def day(number):
    return START + timedelta(days=number)


NOW = day(100)


def life(*said):
    """Versions from (day, fields), each until the next."""
    first = a_memory("one", created_at=day(said[0][0]))
    versions = []
    for place, (at, fields) in enumerate(said):
        memory = first.evolve(**{"updated_at": day(at), **fields, "version": place + 1})
        until = day(said[place + 1][0]) if place + 1 < len(said) else None
        versions.append(Version(memory, day(at), until))
    return versions[-1].memory, versions


def words(said, as_of=None, known_at=None):
    present, versions = said
    then = PointInTime(*(None if number is None else day(number) for number in (as_of, known_at)))
    stood = memory_at(present, versions, then, NOW)
    return stood and stood.content


REWORDED = life(
    (0, {"content": "Rome", "valid_from": day(0)}),
    (10, {"content": "Berlin", "valid_from": day(8)}),
)


@pytest.mark.parametrize(
    ("as_of", "known_at", "said"),
    [
        (None, -1, None),
        (None, 0, "Rome"),
        (None, 9, "Rome"),
        (None, 10, "Berlin"),
        (7, None, "Rome"),
        (8, None, "Berlin"),
        (8, 9, "Rome"),
        (-1, None, None),
    ],
)
def test_time_travel_version_holds_from_its_valid_from(as_of, known_at, said):
    assert words(REWORDED, as_of, known_at) == said


def test_time_travel_shows_the_later_of_two_simultaneous_versions():
    said = life((0, {"content": "typo"}), (0, {"content": "right"}))
    assert words(said, known_at=0) == words(said, as_of=0) == "right"


def test_time_travel_shows_a_superseded_memory_within_its_validity():
    gone = {"state": State.SUPERSEDED, "valid_to": day(5)}
    present, versions = life((0, {}), (6, gone))
    stood = memory_at(present, versions, PointInTime(known_at=day(7)), NOW)
    assert stood.state is State.SUPERSEDED
    stood = memory_at(present, versions, PointInTime(as_of=day(4)), NOW)
    assert (stood.state, stood.valid_to) == (State.ACTIVE, day(5))
    assert memory_at(present, versions, PointInTime(as_of=day(5)), NOW) is None


FORGOTTEN = {"state": State.SOFT_DELETED, "purge_at": day(40)}


def test_time_travel_never_shows_a_soft_deleted_memory():
    assert words(life((0, {}), (5, FORGOTTEN)), known_at=2) is None
    assert words(life((0, {}), (5, FORGOTTEN)), as_of=2) is None


def test_time_travel_shows_restored_content_only_if_unchanged():
    assert words(life((0, {}), (5, FORGOTTEN), (9, {})), known_at=2) == "one"
    assert words(life((0, {}), (5, FORGOTTEN), (9, {})), known_at=7) is None
    assert words(life((0, {}), (5, FORGOTTEN), (9, {"content": "two"})), known_at=2) is None


def test_time_travel_never_shows_expired_content():
    ending = {"expires_at": day(5)}
    assert words(life((0, ending)), known_at=2) is None
    assert words(life((0, ending), (9, {})), known_at=2) is None
    assert words(life((0, ending), (3, {})), known_at=2) == "one"


def test_time_travel_known_at_excludes_memories_before_arrival():
    present, versions = life((0, {}))
    present = present.evolve(arrived_at=day(6))
    assert memory_at(present, versions, PointInTime(known_at=day(5)), NOW) is None
    assert memory_at(present, versions, PointInTime(known_at=day(6)), NOW) == present


def test_time_travel_omits_later_access_counts_and_conflicts():
    present, versions = life((0, {}))
    read = present.evolve(access_count=4, last_accessed_at=day(9), conflict="question")
    stood = memory_at(read, versions, PointInTime(as_of=day(1)), NOW)
    assert (stood.access_count, stood.last_accessed_at, stood.conflict) == (0, None, None)

"""Two processes that tell other values of one subject at the same moment, subject after subject."""

from __future__ import annotations

from collections import defaultdict

from commonplace.model.memory.memory import State
from support.children import tell_values
from support.processes import Child
from support.whole import assert_whole

USER = "ana"


def always_one_stands_and_one_is_pending(store_url: str, rounds: int) -> None:
    with (
        Child(tell_values, store_url, USER, "red", rounds) as one,
        Child(tell_values, store_url, USER, "blue", rounds) as other,
    ):
        assert [one.hear(), other.hear()] == ["ready", "ready"]
        outcomes = [_told_at_once(one, other) for _ in range(rounds)]
    assert outcomes == [{"stored", "pending"}] * rounds
    belongings = assert_whole(store_url, USER)
    live = [memory for memory in belongings.memories if memory.state is State.ACTIVE]
    held = defaultdict(list)
    for value in belongings.held:
        held[value.conflict].append(value.memory)
    assert len(live) == len(belongings.memories) == len(held) == rounds
    assert {memory.metadata["subject"] for memory in live} == {
        f"code of door {number}" for number in range(rounds)
    }
    for memory in live:
        (waiting,) = held[memory.conflict]
        assert waiting.metadata["subject"] == memory.metadata["subject"]
        assert waiting.metadata["value"] != memory.metadata["value"]
    assert belongings.revision == 2 * rounds


def _told_at_once(one: Child, other: Child) -> set[str]:
    """Both are let go together; what became of the two values."""
    one.tell("go")
    other.tell("go")
    answers = [one.hear(), other.hear()]
    return {action for action, _, _ in answers}

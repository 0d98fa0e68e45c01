"""Finding the items a verb is about: by id, alike for unknown, forgotten and other people's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commonplace.desk import Desk, can_see
from commonplace.errors import NotFound
from commonplace.model.memory import Memory
from commonplace.model.profile import is_of_profile
from commonplace.model.scope import Principal
from commonplace.remember.profile import owner_only


def find(
    desk: Desk,
    principal: Principal,
    ids: Sequence[str],
    acceptable: Callable[[Memory], bool] = lambda memory: True,
) -> list[Memory]:
    """All of them, or NotFound naming the first that is not there for this caller.

    It is for changing them, and the profile is its owner's to change.
    """
    found = {memory.id: memory for memory in desk.store.fetch(principal.scope, ids)}
    for id in ids:
        memory = found.get(id)
        if memory is None or not can_see(principal, memory) or not acceptable(memory):
            raise NotFound(f"There is no {id!r} here.", field="ids")
        if is_of_profile(id):
            owner_only(principal)
    return [found[id] for id in ids]

"""Several things said of a graph in one call, for surfaces that speak in lists: all, or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commonplace.book.pictured import pictured
from commonplace.book.user import User
from commonplace.graph.together import Said
from commonplace.graph.together import say_together as say
from commonplace.model.graph.picture import Picture


def say_together(whose: User, chosen: Callable[[Picture], Sequence[Said]]) -> Sequence[Said]:
    """``chosen``: what there is to say, by all that the caller may see at this moment."""
    whose._refuse_readers()
    return say(whose._desk, whose.principal, lambda: chosen(pictured(whose)))

"""One user's memory: a short method per verb, over the rooms that do the work."""

from __future__ import annotations

from commonplace.book.verbs.categories import OfCategories
from commonplace.book.verbs.contexts import Contexts
from commonplace.book.verbs.deciding import Deciding
from commonplace.book.verbs.extracting import Extracting
from commonplace.book.verbs.forgetting import Forgetting
from commonplace.book.verbs.graph import OfTheGraph
from commonplace.book.verbs.happened import Happened
from commonplace.book.verbs.keys import OfKeys
from commonplace.book.verbs.observing import Observing
from commonplace.book.verbs.profile import OfTheProfile
from commonplace.book.verbs.querying import Querying
from commonplace.book.verbs.recalling import Recalling
from commonplace.book.verbs.remembering import Remembering
from commonplace.book.verbs.sources import Sources
from commonplace.book.verbs.teams import OfTeams
from commonplace.book.verbs.understanding import Understands
from commonplace.book.verbs.upkeep import Upkeep
from commonplace.errors import NotAllowed
from commonplace.model import check


class User(
    Remembering,
    Observing,
    Forgetting,
    Recalling,
    Understands,
    Querying,
    Contexts,
    Sources,
    Extracting,
    OfTheGraph,
    Deciding,
    Happened,
    OfTheProfile,
    OfCategories,
    OfKeys,
    OfTeams,
    Upkeep,
):
    """One user's memory, as its owner or one of the owner's agents sees it."""

    def agent(self, name: str, *, may_resolve: bool = False) -> User:
        """The same memory in the hands of a named agent; one that may resolve decides conflicts
        in the owner's place."""
        acting = self._as(check.word(name, "agent"))
        trusted = check.flag(may_resolve, "may_resolve")
        if trusted and not self.principal.decides:
            raise NotAllowed(
                "Only the owner may let an agent resolve conflicts.", field="may_resolve"
            )
        return User(self._desk, acting._asking.as_agent(str(acting._asking.agent), trusted))

    @property
    def revision(self) -> int:
        return self._desk.store.counters(self.principal.scope).revision

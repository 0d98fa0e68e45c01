"""User: the verbs of one memory, combined from one class for each topic."""

from __future__ import annotations

from commonplace.api.account import CategoryVerbs, KeyVerbs, ProfileVerbs, TeamVerbs
from commonplace.api.graph import GraphVerbs
from commonplace.api.maintenance import HistoryVerbs, MaintenanceVerbs
from commonplace.api.memories import ForgetVerbs, InboxVerbs, ObserveVerbs, RememberVerbs
from commonplace.api.search import ContextVerbs, QueryVerbs, RecallVerbs, UnderstandVerbs
from commonplace.api.sources import ExtractionVerbs, SourceVerbs
from commonplace.errors import NotAllowed
from commonplace.model import validation


class User(
    RememberVerbs,
    ObserveVerbs,
    ForgetVerbs,
    RecallVerbs,
    UnderstandVerbs,
    QueryVerbs,
    ContextVerbs,
    SourceVerbs,
    ExtractionVerbs,
    GraphVerbs,
    InboxVerbs,
    HistoryVerbs,
    ProfileVerbs,
    CategoryVerbs,
    KeyVerbs,
    TeamVerbs,
    MaintenanceVerbs,
):
    """One user's memory, as seen by its owner or one of the owner's agents."""

    def agent(self, name: str, *, may_resolve: bool = False) -> User:
        """The same memory for a named agent. With ``may_resolve`` it may decide conflicts for the
        owner."""
        acting = self._as(validation.word(name, "agent"))
        trusted = validation.flag(may_resolve, "may_resolve")
        if trusted and not self.principal.decides:
            raise NotAllowed(
                "Only the owner may let an agent resolve conflicts.", field="may_resolve"
            )
        return self._for(acting._caller.as_agent(str(acting._caller.agent), trusted))

    @property
    def revision(self) -> int:
        return self._engine.store.counters(self.principal.scope).revision

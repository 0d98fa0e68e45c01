"""Who said what, as the graph is shown. Kept is who did it, as the journal names them: the owner
(user:ana), an agent (agent:planner), or the work that reads sources for the owner. Pure."""

from __future__ import annotations

from commonplace.model.graph.note import Note
from commonplace.model.graph.picture import Picture
from commonplace.model.scope import Scope

EXTRACTION = "worker:extract"


def teller(actor: str, owner: str) -> str:
    """The owner by their plain user id, for what was read in sources as well: their graph is what
    they make of these. Agents as the journal names them."""
    return owner if actor in (EXTRACTION, Scope.of_user(owner).key) else actor


def teller_of(note: Note, picture: Picture, owner: str) -> str:
    """Of a note that was read somewhere, the owner where that is theirs: they said or brought it.
    What stands in another's source, or in one that is not seen, is not theirs."""
    if note.added_by != EXTRACTION or _is_of(owner, note, picture):
        return teller(note.added_by, owner)
    return note.added_by


def _is_of(owner: str, note: Note, picture: Picture) -> bool:
    if note.source is None:
        return False
    source = picture.sources.get(note.source.id)
    whose = Scope.of_user(source.user_id).key if source else note.source.scope
    return whose == Scope.of_user(owner).key

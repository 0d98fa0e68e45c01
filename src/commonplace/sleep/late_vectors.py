"""embed: the vectors of what was stored while the embedder was down, as soon as it is back."""

from __future__ import annotations

from commonplace.desk import Desk
from commonplace.errors import EmbedderUnavailable
from commonplace.model.changes import Changeset
from commonplace.model.filters import Visibility
from commonplace.model.job import Job
from commonplace.model.memory import State
from commonplace.model.scope import Principal
from commonplace.sleep.tidy import Connecting, fill_vectors
from commonplace.sleep.worker import Decision
from commonplace.store.port import Listing

ACTOR = "worker:embed"


def fill_late_vectors(desk: Desk, link: Connecting, job: Job) -> Decision:
    """Vectors go in as they come, so the job's end is all that is left to hand in."""
    fill_vectors(desk, Principal(job.user_id, cleared=True), link)
    missing = Listing(
        states=tuple(State), visibility=Visibility(cleared=True), without_vector=True, limit=1
    )
    if (
        desk.store.page(job.scope, missing)
        or desk.store.unembedded_passages(job.scope, 1)
        or desk.store.unembedded_of_graph(job.scope, 1)
    ):
        raise EmbedderUnavailable("The embedder is still down.")
    return lambda: Changeset(job.scope, desk.clock(), ACTOR, ())

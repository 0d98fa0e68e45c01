"""What memories are found by can be made anew, after a version that analyses words otherwise."""

from __future__ import annotations

from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Bookkeeping, IndexEntry


def test_tidy_reindex_rebuilds_a_stale_index_reported_by_doctor(book, me, clock):
    """The doctor names the command, and after it a value is known again by its subject."""
    kept = me.remember(kind="kv", metadata={"subject": "gate code", "value": "4711"})
    gone = me.remember("A note about hay")
    me.forget(gone.id)
    stale = {
        f"{kept.id}@1": IndexEntry({"old": 1}, None),
        f"{gone.id}@2": IndexEntry({"old": 1}, None),
    }
    book._engine.store.record(Bookkeeping(Scope.of_user("ana"), clock(), terms=stale))
    finding = next(each for each in me.doctor() if each.what == "index")
    assert not finding.ok
    assert "tidy --reindex" in finding.remedy

    assert me.tidy().reindexed == 0
    assert me.tidy(reindex=True).reindexed == 2
    assert all(each.ok for each in me.doctor())
    again = me.remember(kind="kv", metadata={"subject": "the gate code", "value": "4712"})
    assert again.others == (kept.id,)
    me.restore(gone.id)
    assert me.recall("hay").hits[0].id == gone.id

"""A change that insists on something is made only while it holds, whoever else writes."""

import pytest

from commonplace.errors import ChangedMeanwhile


class Insisting:
    """Holds when it is first asked; what happens right after that asking is given."""

    def __init__(self, then):
        self.then, self.times = then, 0

    def __call__(self):
        self.times += 1
        if self.times > 1:
            raise ChangedMeanwhile("Another was faster.")
        self.then()


CHANGES = {
    "in place": lambda me, id: me.update(id, importance=1),
    "new content": lambda me, id: me.update(id, content="The gate code is 3333"),
    "forget": lambda me, id: me.forget(id),
}


@pytest.mark.parametrize("change", CHANGES)
def test_precondition_fails_after_a_concurrent_update(open_book, change):
    """The other writes, in a book of its own, after the condition held and before the change."""
    mine, theirs = open_book(), open_book()
    me, other = mine.user("ana"), theirs.user("ana")
    id = me.remember("The gate code is 1111").id
    insist = Insisting(lambda: other.update(id, importance=5))
    with pytest.raises(ChangedMeanwhile):
        CHANGES[change](mine.insisting(me, insist), id)
    kept = me.show(id).memory
    assert (kept.importance, kept.content) == (5, "The gate code is 1111")


@pytest.mark.parametrize("change", CHANGES)
def test_precondition_is_checked_before_not_found(open_book, change):
    """It was forgotten after the condition held: so the condition is asked before `not found`."""
    mine, theirs = open_book(), open_book()
    id = mine.user("ana").remember("The gate code is 1111").id
    insist = Insisting(lambda: theirs.user("ana").forget(id))
    with pytest.raises(ChangedMeanwhile):
        CHANGES[change](mine.insisting(mine.user("ana"), insist), id)


@pytest.mark.parametrize("change", CHANGES)
def test_precondition_that_holds_lets_the_change_through(book, me, change):
    id = me.remember("The gate code is 1111").id
    before = me.revision
    CHANGES[change](book.insisting(me, lambda: None), id)
    assert me.revision == before + 1

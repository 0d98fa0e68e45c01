"""One embedder for another while the store is in use: complete or not at all, and never mixed."""

from __future__ import annotations

import pytest

from commonplace.engine.maintenance import reembed as verb
from commonplace.errors import BadSettings, EmbedderMismatch, EmbedderUnavailable, InvalidInput
from commonplace.language.embedders.hashing import HashingEmbedder
from commonplace.language.text.detect import Script
from commonplace.model.changeset import Bookkeeping
from commonplace.store.sql import generations
from support.embedders import Interrupted, Switchable
from support.making import ANA
from support.stores import raw

OLD, NEW, THIRD = HashingEmbedder(256), HashingEmbedder(64), HashingEmbedder(32)
TEXTS = ["The lamp is green", "Dana lives in Haifa", "The train leaves at seven"]


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    """So that a handful of memories takes several of them."""
    monkeypatch.setattr(verb, "BATCH_SIZE", 2)
    monkeypatch.setattr(generations, "UNITS_AT_ONCE", 2)


@pytest.fixture
def filled(book):
    for user in ("ana", "bob"):
        book.user(user).remember_many(TEXTS)
    return book


def lengths(url):
    """How many vectors of which length there are, by generation."""
    rows = raw(url, "SELECT generation, length(vector), COUNT(*) FROM vectors GROUP BY 1, 2")
    return {(generation, size // 4): count for generation, size, count in rows}


def states(book):
    known = book._engine.store.generations()
    return {each.embedder.name: each.state for each in known}


class Downed(Switchable):
    """Answers a number of times, then is down."""

    def __init__(self, dimension, answers):
        super().__init__(dimension)
        self.left = answers

    def embed(self, texts):
        self.down = self.left == 0
        self.left -= 1
        return super().embed(texts)


def test_reembed_replaces_all_vectors_and_removes_the_old(filled, open_book, store_url):
    done = filled.reembed(NEW)
    assert (done.embedder, done.dimension, done.memories) == ("hashing-64", 64, 6)
    assert lengths(store_url) == {(2, 64): 6}
    after = open_book(embedder=NEW)
    assert after.user("ana").recall("Dana lives in Haifa").hits[0].text == "Dana lives in Haifa"
    assert all(finding.ok for finding in after.user("ana").doctor(all_users=True))
    assert after.reembed(NEW).memories == 0


def test_reembed_includes_forgotten_memories(filled, open_book, store_url):
    me = filled.user("ana")
    gone = me.list().memories[0].id
    me.forget(gone)
    assert filled.reembed(NEW).memories == 6
    back = open_book(embedder=NEW).user("ana")
    back.restore(gone)
    assert all(finding.ok for finding in back.doctor())


def test_reembed_serves_old_vectors_until_complete_and_includes_new_writes(filled, open_book):
    """Another process remembers and recalls in the middle, and what it wrote is picked up."""
    other = open_book().user("ana")
    new = Interrupted(64)

    def meanwhile():
        other.remember("The kettle is red")
        assert other.recall("kettle red").hits[0].similarity is not None
        assert open_book().user("bob").recall("lamp").hits
        with pytest.raises(EmbedderMismatch):
            open_book(embedder=NEW)

    new.meanwhile = meanwhile
    assert filled.reembed(new).memories == 7
    after = open_book(embedder=NEW).user("ana")
    assert after.recall("kettle red").hits[0].similarity is not None
    assert all(finding.ok for finding in after.doctor())


def test_reembed_drops_vectors_of_memories_changed_or_erased_meanwhile(
    filled, open_book, store_url
):
    other = open_book().user("ana")
    ids = {memory.content: memory.id for memory in other.list().memories}
    new = Interrupted(64)

    def meanwhile():
        other.erase(ids[TEXTS[0]])
        other.update(ids[TEXTS[1]], tags=["town"])

    new.meanwhile = meanwhile
    filled.reembed(new)
    after = open_book(embedder=NEW).user("ana")
    assert [f.what for f in after.doctor() if not f.ok] in ([], ["erasure"])
    assert lengths(store_url) == {(2, 64): 5}


def test_reembed_makes_processes_with_the_old_embedder_fail_with_mismatch(filled, open_book):
    other = open_book().user("ana")
    assert other.recall("lamp").hits
    filled.reembed(NEW)
    for use in (
        lambda: other.recall("lamp"),
        lambda: other.remember("The kettle is red"),
        lambda: other.profile_note("Is late"),
        lambda: filled.user("ana").recall("lamp"),
        lambda: filled.user("new one").remember("The kettle is red"),
    ):
        with pytest.raises(EmbedderMismatch, match="hashing-64") as refused:
            use()
        assert "reembed" in refused.value.remedy
    fresh = open_book(embedder=NEW)
    assert {m.content for m in fresh.user("ana").list().memories} == set(TEXTS)
    assert fresh.user("new one").list().memories == ()


def test_reembed_refuses_late_vectors_of_the_old_embedder(filled, open_book, store_url, clock):
    """A process that embedded what was missing, and writes it down after the switch."""
    other = open_book()
    memory = other.user("ana").list().memories[0]
    filled.reembed(NEW)
    late = Bookkeeping(ANA, clock(), vectors={memory.ref: OLD.embed([memory.content]).tobytes()})
    with pytest.raises(EmbedderMismatch):
        other._engine.store.record(late)
    assert lengths(store_url) == {(2, 64): 6}


def test_reembed_forth_and_back_leaves_an_idle_process_usable(filled, open_book):
    sleeper = open_book().user("ana")
    assert sleeper.recall("lamp").hits
    filled.reembed(NEW)
    between = open_book(embedder=NEW)
    between.user("ana").remember("The kettle is red")
    between.reembed(OLD)
    assert sleeper.recall("kettle red").hits[0].similarity is not None
    assert all(finding.ok for finding in sleeper.doctor())


def test_reembed_stops_when_the_embedder_is_down_and_resumes(filled, open_book, store_url):
    with pytest.raises(EmbedderUnavailable) as refused:
        filled.reembed(Downed(64, answers=1))
    assert refused.value.retryable
    assert "un reembed again" in refused.value.remedy
    assert lengths(store_url) == {(1, 256): 6, (2, 64): 2}
    assert filled.user("ana").recall("lamp").hits[0].similarity is not None
    told = {f.what: f for f in filled.user("ana").doctor()}["reembedding"]
    assert not told.ok
    assert "hashing-64" in told.detail
    assert "with `--embedder hashing` to cancel it" in told.remedy
    assert filled.reembed(NEW).memories == 4
    assert lengths(store_url) == {(2, 64): 6}


def test_reembed_to_another_target_replaces_an_unfinished_run(filled, open_book, store_url):
    with pytest.raises(EmbedderUnavailable):
        filled.reembed(Downed(64, answers=1))
    assert filled.reembed(THIRD).memories == 6
    assert lengths(store_url) == {(3, 32): 6}
    assert open_book(embedder=THIRD).user("ana").recall("lamp").hits


def test_reembed_to_the_current_embedder_abandons_an_unfinished_run(filled, store_url):
    with pytest.raises(EmbedderUnavailable):
        filled.reembed(Downed(64, answers=1))
    assert filled.reembed(OLD).memories == 0
    assert lengths(store_url) == {(1, 256): 6}
    assert filled.user("ana").recall("lamp").hits
    assert all(finding.ok for finding in filled.user("ana").doctor())


def test_reembed_by_two_processes_to_the_same_target_succeeds(filled, open_book, store_url):
    """The second one finishes while the first waits for its model; both are content."""
    second, first = open_book(), Interrupted(64)
    first.meanwhile = lambda: second.reembed(NEW)
    assert filled.reembed(first).embedder == "hashing-64"
    assert lengths(store_url) == {(2, 64): 6}
    assert open_book(embedder=NEW).user("bob").recall("lamp").hits


def test_reembed_by_two_processes_to_different_targets_keeps_the_later(
    filled, open_book, store_url
):
    second, first = open_book(), Interrupted(64)
    first.meanwhile = lambda: second.reembed(THIRD)
    with pytest.raises(EmbedderMismatch, match="finished or replaced"):
        filled.reembed(first)
    assert lengths(store_url) == {(3, 32): 6}
    assert open_book(embedder=THIRD).user("ana").recall("lamp").hits


def test_generation_numbers_are_never_reused(filled):
    with pytest.raises(EmbedderUnavailable):
        filled.reembed(Downed(64, answers=0))
    filled.reembed(OLD)
    with pytest.raises(EmbedderUnavailable):
        filled.reembed(Downed(64, answers=0))
    assert [each.number for each in filled._engine.store.generations()] == [1, 2, 3]


def test_reembed_progress_increases_to_the_total(filled):
    told: list[verb.ReembedProgress] = []
    filled.reembed(NEW, progress=told.append)
    embedding = [(each.done, each.total) for each in told if each.phase == "embedding"]
    assert embedding[0] == (0, 6)
    assert embedding[-1] == (6, 6)
    assert [done for done, _ in embedding] == sorted(done for done, _ in embedding)
    assert told[-1] == verb.ReembedProgress("removing", 2, 2)


def test_reembed_refuses_a_store_in_memory(open_book):
    with pytest.raises(BadSettings):
        open_book(url=":memory:").reembed(NEW)


def test_reembed_refuses_an_unknown_embedder_without_changes(filled):
    with pytest.raises(BadSettings, match="Unknown embedder"):
        filled.reembed("clairvoyance")
    assert states(filled) == {"hashing-256": "current"}


# ——— the calibration that is kept beside it ———


def judged(count):
    """Pairs whose similarity is as their spelling says."""
    lines = []
    for n in range(count):
        lines.append(f'{{"a": "lamp number {n}", "b": "lamp number {n}!", "similarity": 1}}')
        lines.append(f'{{"a": "lamp number {n}", "b": "quiet rivers flow", "similarity": 0}}')
        lines.append(f'{{"a": "lamp number {n}", "b": "the lamp of old", "similarity": 0.4}}')
    return lines


def blindly(count):
    """Pairs of Hebrew that no embedder could judge so."""
    return [
        f'{{"a": "מנורה מספר {n}", "b": "מנורה מספר {n}", "similarity": {n % 2}}}'
        for n in range(count)
    ]


def test_calibrate_stores_the_measurement_and_doctor_shows_the_result(book, open_book):
    found = book.calibrate(judged(30))
    assert found.proofs[Script.LATIN].holds
    again = open_book()
    assert again._engine.calibration.knots[Script.LATIN] == found.knots[Script.LATIN]
    declared = OLD.calibration.proofs[Script.HEBREW]
    assert again._engine.calibration.proofs[Script.HEBREW] == declared  # not measured: as it was
    told = {f.what: f.detail for f in again.user("ana").doctor()}["embedder"]
    assert (
        "on 45 held-out pairs), not supported by the model for hebrew (correlation 0.47 on 46"
        in told
    )


def test_calibrate_applies_to_open_handles_at_once(book):
    me = book.user("ana")
    me.remember("The lamp is green")
    before = me.recall("the green lamps").hits[0].similarity
    book.calibrate(judged(30))
    assert me.recall("the green lamps").hits[0].similarity != before
    book.calibrate(reset=True)
    assert me.recall("the green lamps").hits[0].similarity == before


def test_calibrate_reset_restores_the_declared_calibration(book, open_book):
    book.calibrate(judged(30))
    declared = book.calibrate(reset=True)
    assert declared.knots == OLD.calibration.knots
    assert open_book()._engine.calibration == OLD.calibration


def test_calibrate_leaves_similarity_unknown_for_a_script_without_correlation(book, open_book):
    found = book.calibrate(judged(30) + blindly(60))
    assert not found.proofs[Script.HEBREW].holds
    me = open_book().user("ana")
    me.remember("המנורה ירוקה")
    assert me.recall("מנורה ירוקה").hits[0].similarity is None


@pytest.mark.parametrize("lines", [blindly(60), ['{"a": "x", "b": "x", "similarity": 1}'] * 80])
def test_calibrate_refuses_pairs_without_correlation_and_keeps_the_old(book, open_book, lines):
    with pytest.raises(InvalidInput, match="nothing was stored") as refused:
        book.calibrate(lines)
    assert "correlation" in refused.value.message
    for each in (book, open_book()):
        assert each._engine.calibration == OLD.calibration


def test_calibrate_requires_either_lines_or_reset(book):
    for wrong in ({}, {"lines": judged(30), "reset": True}, {"reset": "yes"}):
        with pytest.raises(InvalidInput):
            book.calibrate(**wrong)


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["{}"],
        ["words"],
        ["[" * 100_000],
        ['{"a": "x", "b": "y", "similarity": 2}'],
        ['{"a": "x", "b": "y", "similarity": NaN}'],
        ['{"a": "\\ud800", "b": "y", "similarity": 1}'],
        [5],
        judged(2),
        5,
        "words",
    ],
)
def test_calibrate_refuses_malformed_or_too_few_pairs(book, lines):
    with pytest.raises(InvalidInput):
        book.calibrate(lines)
    assert book._engine.measured.calibration is None

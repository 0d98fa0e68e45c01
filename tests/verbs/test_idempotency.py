"""The same request with the same key is done once, for a day; and nothing erased lives on in it."""

import threading

import pytest

from commonplace.api import AnswerRetention, IdempotentRequest
from commonplace.errors import IdempotencyConflict, InvalidInput, StoreBusy

ASKED = IdempotentRequest("key-1", "what was asked")


class Counting:
    """Remembers a sentence each time it is called."""

    def __init__(self, text="The wifi password is tulip42"):
        self.text, self.calls = text, 0

    def __call__(self, me):
        self.calls += 1
        return f'{{"id": "{me.remember(self.text).id}", "content": "{self.text}"}}'


def test_idempotency_key_replays_the_first_answer(book, me):
    work = Counting()
    first = book.once(me, ASKED, work)
    assert book.once(me, ASKED, work) == first
    assert work.calls == 1
    assert len(me.list().memories) == 1


def test_idempotency_key_expires_after_a_day(book, me, clock):
    work = Counting()
    book.once(me, ASKED, work)
    clock.tick(hours=24)
    book.once(me, ASKED, work)
    assert work.calls == 2


def test_idempotency_key_refuses_a_different_request(book, me):
    work = Counting()
    book.once(me, ASKED, work)
    with pytest.raises(IdempotencyConflict, match="a different request"):
        book.once(me, IdempotentRequest("key-1", "something else"), work)
    assert work.calls == 1


def test_idempotency_keys_are_separate_per_user_and_agent(book, me):
    """Another user's or agent's key of the same spelling neither tells nor hides anything."""
    first = book.once(me, ASKED, Counting("Told by the owner"))
    planner = me.agent("planner")
    told = book.once(planner, ASKED, Counting("Told by the planner"))
    bob = book.user("bob")
    assert len({first, told, book.once(bob, ASKED, Counting("Told by Bob"))}) == 3


def test_idempotency_key_can_be_retried_after_a_refused_request(book, me):
    def refused(me):
        raise InvalidInput("No.")

    with pytest.raises(InvalidInput):
        book.once(me, ASKED, refused)
    work = Counting()
    book.once(me, ASKED, work)
    assert work.calls == 1


def test_idempotency_key_is_taken_over_after_a_crash_before_the_change(book, me, clock):
    def breaks(me):
        raise RuntimeError("the process dies here")

    with pytest.raises(RuntimeError):
        book.once(me, ASKED, breaks)
    work = Counting()
    with pytest.raises(StoreBusy, match="in progress"):
        book.once(me, ASKED, work)
    clock.tick(seconds=10)
    assert book.once(me, ASKED, work) == book.once(me, ASKED, work)
    assert work.calls == len(me.list().memories) == 1


def test_idempotency_key_does_not_repeat_a_change_after_a_crash(book, me, clock):
    def breaks(me):
        me.remember("The wifi password is tulip42")
        raise RuntimeError("the process dies here")

    with pytest.raises(RuntimeError):
        book.once(me, ASKED, breaks)
    clock.tick(seconds=10)
    work = Counting()
    with pytest.raises(IdempotencyConflict, match="was completed") as lost:
        book.once(me, ASKED, work)
    assert "Look up what it changed" in lost.value.remedy
    assert (work.calls, len(me.list().memories)) == (0, 1)


def test_idempotency_claim_taken_over_blocks_writes_of_the_former_holder(open_book, clock):
    """A server that hangs for long, and comes back when another has done its work."""
    books = [open_book(), open_book()]
    work = Counting()

    def hangs(me):
        clock.tick(seconds=10)
        done = books[1].once(books[1].user("ana"), ASKED, work)
        with pytest.raises(StoreBusy, match="in progress"):
            me.remember("The gate is green")
        with pytest.raises(StoreBusy, match="in progress"):
            me.erase_user()
        return done

    books[0].once(books[0].user("ana"), ASKED, hangs)
    assert work.calls == len(books[0].user("ana").list().memories) == 1


def test_idempotency_answer_is_not_stored_after_a_concurrent_erase(book, me, clock):
    gone = me.remember("The code word is xylophone").id
    work = Counting()

    def sees_an_erasure(handle):
        me.erase(gone)
        return work(handle)

    book.once(me, ASKED, sees_an_erasure)
    with pytest.raises(IdempotencyConflict, match="erased"):
        book.once(me, ASKED, work)
    assert work.calls == len(me.list().memories) == 1


def test_idempotency_key_can_be_retried_after_a_crash_with_concurrent_erase(book, me, clock):
    gone = me.remember("The code word is xylophone").id

    def breaks(handle):
        me.erase(gone)
        raise RuntimeError("the process dies here")

    with pytest.raises(RuntimeError):
        book.once(me, ASKED, breaks)
    clock.tick(seconds=10)
    work = Counting()
    assert book.once(me, ASKED, work) == book.once(me, ASKED, work)
    assert work.calls == 1


def test_idempotency_answer_with_a_secret_is_not_stored(book, me):
    asked = IdempotentRequest("key-1", "a key", AnswerRetention.SECRET)
    book.once(me, asked, lambda me: "cpk_hush")
    with pytest.raises(IdempotencyConflict, match="secret"):
        book.once(me, asked, lambda me: "cpk_other")
    assert not me.verify_forget("cpk_hush").found_in


def test_erase_removes_idempotency_answers_and_blocks_replay(book, me):
    work = Counting("The code word is xylophone")
    book.once(me, ASKED, work)
    assert "kept_answers" in me.verify_forget("xylophone").found_in
    me.erase([me.list().memories[0].id], now=True)
    assert me.verify_forget("xylophone").clean
    with pytest.raises(IdempotencyConflict, match="erased"):
        book.once(me, ASKED, work)
    assert work.calls == 1


def test_idempotency_answer_is_not_stored_when_its_memory_is_erased_in_flight(book, me):
    def remembers_and_sees_it_erased(me):
        answer = Counting("The code word is xylophone")(me)
        me.erase([me.list().memories[0].id], now=True)
        return answer

    book.once(me, ASKED, remembers_and_sees_it_erased)
    assert me.verify_forget("xylophone").clean


def test_idempotency_answer_of_an_erase_is_stored(book, me):
    """It holds a receipt, and no words."""
    me.remember("The code word is xylophone")
    asked = IdempotentRequest("key-1", "erase", AnswerRetention.NUMBERS)
    first = book.once(me, asked, lambda me: me.erase_user().receipt.id)
    assert book.once(me, asked, lambda me: "another") == first


def test_tidy_removes_expired_idempotency_answers(book, me, clock):
    book.once(me, ASKED, Counting("The gate is green"))
    clock.tick(hours=25)
    me.tidy()
    assert "kept_answers" not in me.verify_forget("gate is green").found_in


def test_idempotency_key_runs_once_for_two_concurrent_instances(open_book):
    """In two books on one store, as in two servers: one does it, the other is told to wait."""
    books = [open_book(), open_book()]
    begun, go_on = threading.Event(), threading.Event()
    answers = []

    def slowly(me):
        begun.set()
        assert go_on.wait(30)
        return "the answer"

    first = threading.Thread(
        target=lambda: answers.append(books[0].once(books[0].user("ana"), ASKED, slowly))
    )
    first.start()
    assert begun.wait(30)
    other = books[1].user("ana")
    with pytest.raises(StoreBusy):
        books[1].once(other, ASKED, lambda me: "done twice")
    go_on.set()
    first.join(30)
    assert books[1].once(other, ASKED, lambda me: "done twice") == answers[0] == "the answer"


# ——— what is another's ———


@pytest.fixture
def team(book, me):
    """A team of ana's, with dan in it."""
    made = me.teams_create("Planning").id
    me.teams_invite(made, "dan")
    book.user("dan").teams_join(made)
    return made


def bringing(team):
    return lambda dan: dan.ingest("The pelican files are in the cellar.", team=team).source.summary


def test_leave_team_removes_idempotency_answers_about_its_sources(book, me, team):
    dan = book.user("dan")
    assert "pelican" in book.once(dan, ASKED, bringing(team))
    dan.teams_leave(team)
    with pytest.raises(IdempotencyConflict):
        book.once(dan, ASKED, bringing(team))
    assert dan.verify_forget("pelican").clean


def test_erase_team_source_removes_idempotency_answers_of_its_author(book, me, team):
    dan = book.user("dan")
    book.once(dan, ASKED, bringing(team))
    me.erase(me.sources(team=team).sources[0].id)
    assert dan.verify_forget("pelican").clean


def test_forget_query_offers_no_team_source_of_another_author(book, me, team):
    dan = book.user("dan")
    dan.ingest("The pelican files are in the cellar.", team=team)
    assert not me.recall("where are the pelican files?").is_empty
    assert me.forget(query="where are the pelican files?").is_empty


def test_idempotency_keys_are_separate_for_a_team_api_key(book, me, team):
    narrow = book.authenticate(me.keys_create("narrow", team=team).token)
    first, second = Counting("Kept by the one"), Counting("Kept by the other")
    assert book.once(me, ASKED, first) != book.once(narrow, ASKED, second)

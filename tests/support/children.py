"""What child processes do in the acceptance and soak tests. Each says what it has finished."""

from __future__ import annotations

import os
import random
import resource
import signal
import sqlite3
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import psycopg

from commonplace.api import Commonplace, IdempotentRequest, User
from commonplace.engine.maintenance import reembed
from commonplace.errors import EmbedderMismatch, NotFound, StoreError, StoreFull
from commonplace.language.embedders.hashing import HashingEmbedder
from commonplace.model.changeset import Applied, Changeset
from commonplace.store import failpoints
from support.embedders import DyingEmbedder
from support.processes import Line
from support.whole import open_plainly

# ——— sharing a store ———


def write(line: Line, url: str, user: str, writer: int, count: int) -> None:
    """Say each memory as soon as it is acknowledged, and not before."""
    with open_plainly(url) as book:
        me = book.user(user)
        for number in range(count):
            name = f"w{writer}n{number}"
            kept = me.remember(
                f"Writer {writer} wrote {number} sentences, {name}", kind="note", thread=name
            )
            line.say((kept.id, kept.memory.content, kept.revision))


def read_what_is_named(line: Line, url: str, user: str) -> None:
    """Hear of an acknowledged write, look for it at once, and say what could not be seen."""
    with open_plainly(url) as book:
        me = book.user(user)
        seen = 0
        while (named := line.hear()) is not None:
            id, content, revision = named
            assert me.revision >= revision, f"revision {me.revision} is older than {revision}"
            memory = me.show(id).memory
            assert memory.content == content
            listed = me.list(filters={"thread_id": memory.thread_id}).memories
            assert [each.id for each in listed] == [id]
            assert content in [hit.text for hit in me.recall(content, k=3).hits]
            seen += 1
        line.say(seen)


def change_in_place(line: Line, url: str, user: str, id: str, changer: int, count: int) -> None:
    with open_plainly(url) as book:
        me = book.user(user)
        for number in range(count):
            mark = f"{changer}:{number}"
            done = me.update(id, importance=1 + number % 5, metadata={"mark": mark})
            line.say((mark, done.revision))


def extend_the_chain(line: Line, url: str, user: str, id: str, changer: int, count: int) -> None:
    """New content for one fact, again and again; when somebody was faster, follow the chain."""
    with open_plainly(url) as book:
        me = book.user(user)
        for number in range(count):
            content = f"Dana lives in city {changer} dash {number}"
            id = _update_wherever_it_went(me, id, content)
            line.say((id, content))


def _update_wherever_it_went(me: User, id: str, content: str) -> str:
    while True:
        try:
            return me.update(id, content=content).id
        except NotFound:
            id = _newest(me, id)


def _newest(me: User, id: str) -> str:
    while (successor := me.show(id).memory.superseded_by) is not None:
        id = successor
    return id


def decide_then_wait(line: Line, url: str, user: str, verb: str, given: Mapping[str, Any]) -> None:
    """Say which revision the first decision rests on, and apply it only when told to."""
    with open_plainly(url) as book:
        decisions = _announce_first_decision(book, line)
        try:
            done = getattr(book.user(user), verb)(**given)
            line.say(("done", done.id, done.revision, len(decisions)))
        except NotFound as error:
            line.say(("refused", error.code, None, len(decisions)))


def _announce_first_decision(book: Commonplace, line: Line) -> list[int | None]:
    store = book._engine.store
    apply = store.apply
    decisions: list[int | None] = []

    def announced(*changesets: Changeset) -> Applied:
        decisions.append(changesets[0].decided_on)
        if len(decisions) == 1:
            line.say(("decided", changesets[0].decided_on))
            line.hear()
        return apply(*changesets)

    store.apply = announced  # type: ignore[method-assign]
    return decisions


def hold_before_commit(line: Line, url: str, user: str, content: str) -> None:
    """Stand still with everything written and nothing committed, until told to go on."""

    def hold(name: str) -> None:
        if name == "apply.before_commit":
            line.say("holding")
            line.hear()

    with open_plainly(url) as book:
        failpoints.install_hook(hold)
        line.say(book.user(user).remember(content).revision)


def tell_values(line: Line, url: str, user: str, mine: str, rounds: int) -> None:
    """In each round another subject, and my value of it, said when everybody is ready."""
    with open_plainly(url) as book:
        me = book.user(user)
        me.recall("warm up")
        line.say("ready")
        for number in range(rounds):
            line.hear()
            subject = {"subject": f"code of door {number}", "value": f"{mine} {number}"}
            told = me.remember(kind="kv", metadata=subject)
            line.say((told.action, told.id, told.conflict))


# ——— crashes ———

CHANGES: dict[str, Callable[[User, Sequence[str]], object]] = {
    "remember": lambda me, ids: me.remember("Rosa keeps the spare key under the blue pot"),
    "remember_many": lambda me, ids: me.remember_many(
        [f"Rosa has planted tree number {number} in the garden" for number in range(20)]
    ),
    "update_in_place": lambda me, ids: me.update(
        ids[0], importance=5, metadata={"description": "of the house"}
    ),
    "update_content": lambda me, ids: me.update(ids[1], content="Rosa lives in Porto"),
    "merge": lambda me, ids: me.merge(ids[2:4]),
    "forget": lambda me, ids: me.forget([ids[0], ids[4]]),
    "restore": lambda me, ids: me.restore([ids[5]]),
    "erase": lambda me, ids: me.erase([ids[0], ids[6]]),
    "erase_user": lambda me, ids: me.erase_user(),
    "profile": lambda me, ids: me.profile_note("Prefers short answers"),
}

# What becomes of values that differ, and of proposals; the memory has both in it.
DECISIONS: dict[str, Callable[[User, Sequence[str]], object]] = {
    "hold": lambda me, ids: me.remember(kind="kv", metadata={"subject": "gate", "value": 3}),
    "join_two_questions": lambda me, ids: me.remember(
        kind="contact", metadata={"name": "Ilan", "phone": "054-999-8877"}
    ),
    "keep_beside": lambda me, ids: me.remember(
        "Rosa lives in Faro", kind="fact", on_conflict="alternative"
    ),
    "supersede": lambda me, ids: me.remember("Rosa lives in Faro", kind="fact"),
    "refresh": lambda me, ids: me.remember("rosa lives in Lisbon", kind="fact", evidence=["a"]),
    "override": lambda me, ids: me.resolve(me.conflicts()[0].id, "override"),
    "insert": lambda me, ids: me.resolve(me.conflicts()[0].id, "insert"),
    "dismiss": lambda me, ids: me.resolve(me.conflicts()[0].id, "dismiss"),
    "update_disputed": lambda me, ids: me.update(
        me.conflicts()[0].standing[0].id, metadata={"value": 9}
    ),
    "erase_disputed": lambda me, ids: me.erase(me.conflicts()[0].standing[0].id),
    "erase_held": lambda me, ids: me.erase(me.conflicts()[0].held[0].id),
    "propose": lambda me, ids: me.agent("coach").propose("city", "Faro"),
    "corroborate": lambda me, ids: me.agent("coach").propose("tone", "brief"),
    "accept": lambda me, ids: me.accept(me.proposals()[0].id),
    "decline": lambda me, ids: me.decline(me.proposals()[0].id),
}


def die_during(
    line: Line, url: str, user: str, failpoint: str, change: str, ids: Sequence[str]
) -> None:
    with open_plainly(url) as book:
        die_at(failpoint)
        {**CHANGES, **DECISIONS}[change](book.user(user), ids)
        line.say("survived")


def die_while_asked_once(line: Line, url: str, failpoint: str, asked: IdempotentRequest) -> None:
    """As a server that is killed while it does what a request with a key of its own asks for."""
    with open_plainly(url) as book:
        die_at(failpoint)
        book.once(book.user("ana"), asked, lambda me: me.remember("The gate is green").id)
        line.say("survived")


def die_while_erasing(line: Line, url: str, user: str, failpoint: str, ids: Sequence[str]) -> None:
    with open_plainly(url) as book:
        die_at(failpoint)
        book.user(user).erase(ids, now=True)
        line.say("survived")


def die_at(failpoint: str) -> None:
    def pull_the_plug(name: str) -> None:
        if name == failpoint:
            os.kill(os.getpid(), signal.SIGKILL)

    failpoints.install_hook(pull_the_plug)


def write_until_killed(
    line: Line, url: str, user: str, seed: int, checkpoint_every: int | None
) -> None:
    """All kinds of changes as fast as they go; each is said when it has been acknowledged."""
    with open_plainly(url) as book:
        if checkpoint_every is not None:  # so that kills land in the middle of checkpoints
            writer = book._engine.store._writer  # type: ignore[attr-defined]
            writer.execute(f"PRAGMA wal_autocheckpoint = {checkpoint_every}")
        me = book.user(user)
        chance = random.Random(seed)
        mine: list[str] = []
        try:
            while True:
                line.say(_some_change(me, chance, mine))
        except StoreError as error:  # the server was killed, not this process
            line.say(error.code)


def _some_change(me: User, chance: random.Random, mine: list[str]) -> tuple[Any, ...]:
    """(revision, {id: content that is live now, or None})"""
    dice = chance.random()
    if dice < 0.5 or len(mine) < 5:
        kept = me.remember(
            f"Thing {chance.getrandbits(40):x} stands on shelf {len(mine)}", kind="note"
        )
        mine.append(kept.id)
        return kept.revision, {kept.id: kept.memory.content}
    if dice < 0.6:
        many = me.remember_many([f"Batch of {chance.getrandbits(40):x}, {n}" for n in range(5)])
        mine.extend(each.id for each in many)
        return many[0].revision, {each.id: each.memory.content for each in many}
    id = mine[chance.randrange(len(mine))]
    if dice < 0.75:
        done = me.update(id, importance=1 + chance.randrange(5), metadata={"n": chance.random()})
        return done.revision, {id: done.memory.content}
    mine.remove(id)
    if dice < 0.85:
        done = me.update(id, content=f"Thing {chance.getrandbits(40):x} was moved")
        mine.append(done.id)
        return done.revision, {id: None, done.id: done.memory.content}
    if dice < 0.95:
        return me.forget(id).revision, {id: None}
    return me.erase(id).revision, {id: None}


def die_while_filling_vectors(line: Line, url: str, user: str, batches: int) -> None:
    with open_plainly(url, DyingEmbedder(batches)) as book:
        book.user(user).tidy()
        line.say("survived")


def die_while_reembedding(line: Line, url: str, dimension: int, failpoint: str) -> None:
    with open_plainly(url) as book:
        die_at(failpoint)
        book.reembed(HashingEmbedder(dimension))
        line.say("survived")


def reembed_step_by_step(line: Line, url: str, dimension: int, at_once: int) -> None:
    """Say how far it is after each batch, and go on only when told to."""
    reembed.BATCH_SIZE = at_once  # small, so that few memories make several batches

    def announce(progress: reembed.ReembedProgress) -> None:
        line.say((progress.phase, progress.done))
        line.hear()

    with open_plainly(url) as book:
        book.reembed(HashingEmbedder(dimension), progress=announce)


def write_with_whichever_is_current(
    line: Line, url: str, user: str, dimensions: Sequence[int], count: int
) -> None:
    """Remember and recall; when the store has changed its embedder, open it with the next."""
    number = 0
    for dimension in dimensions:
        with open_plainly(url, HashingEmbedder(dimension)) as book:
            me = book.user(user)
            try:
                while number < count or dimension != dimensions[-1]:
                    kept = me.remember(f"Sentence {number} of the writer, w{number}", kind="note")
                    # Twice there, if the recall was the first to be told of the other embedder.
                    assert kept.id in {hit.id for hit in me.recall(f"w{number}").hits}
                    line.say(kept.id)
                    number += 1
            except EmbedderMismatch:
                line.say("told")


# ——— room and readers ———


def write_until_full(line: Line, url: str, user: str, bytes_per_file: int) -> None:
    """With files that may not grow beyond a size; then go on when they may again."""
    with open_plainly(url) as book:
        me = book.user(user)
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_per_file, most))
        try:
            _fill(me, line)
        except StoreFull as error:
            line.say(error.as_dict())
        assert me.recall("paragraph").hits  # what is there can still be read
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        kept = me.remember("There is room again")
        line.say((kept.id, kept.memory.content))


def _fill(me: User, line: Line) -> None:
    for number in range(10_000):
        kept = me.remember(f"Paragraph {number} " + f"of many words{number} " * 150, kind="note")
        line.say((kept.id, kept.memory.content))


def hold_a_read_open(line: Line, url: str, table: str) -> None:
    """A reader that began before and has not ended: it may still look at what was there."""
    if url.startswith("postgresql"):
        with psycopg.connect(url) as connection:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            connection.execute(f"SELECT count(*) FROM {table}")  # type: ignore[arg-type]
            line.say("reading")
            line.hear()
    else:
        connection = sqlite3.connect(url, isolation_level=None)
        connection.execute("BEGIN")
        connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        line.say("reading")
        line.hear()
        connection.close()
    line.say("done")


# ——— forks ———


def fork_and_share(line: Line, url: str, user: str, count: int) -> None:
    """Parent and child go on with one book. The parent closes its own while the child writes;
    the child ends without closing anything, so that only what is really on the disk remains."""
    book = open_plainly(url)
    me = book.user(user)
    line.say(me.remember("Said before the fork").id)
    parent_is_done, tell_child = os.pipe()
    pid = os.fork()
    if pid == 0:
        os._exit(_go_on_in_child(line, me, count, parent_is_done))
    for number in range(count):
        line.say(me.remember(f"The parent said number {number}", kind="note").id)
    assert me.recall("Said before the fork").hits
    book.close()
    os.write(tell_child, b".")
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def _go_on_in_child(line: Line, me: User, count: int, parent_is_done: int) -> int:
    try:
        ids = [me.remember(f"The child said number {n}", kind="note").id for n in range(count)]
        os.read(parent_is_done, 1)
        ids += [me.remember(f"The child went on to {n}", kind="note").id for n in range(count)]
        assert me.recall("The parent said number 0", k=1).hits[0].text == "The parent said number 0"
    except BaseException:
        line.fail(traceback.format_exc())
        return 1
    for id in ids:
        line.say(id)
    return 0


def fork_a_store_in_memory(line: Line) -> None:
    me = open_plainly(":memory:").user("ana")
    me.remember("Said before the fork")
    pid = os.fork()
    if pid == 0:
        os._exit(_say_contents(line, me, "The child said"))
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    _say_contents(line, me, "The parent said")


def _say_contents(line: Line, me: User, more: str) -> int:
    try:
        me.remember(more)
        line.say({memory.content for memory in me.list().memories})
    except BaseException:
        line.fail(traceback.format_exc())
        return 1
    return 0

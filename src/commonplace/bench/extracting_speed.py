"""How many conversations become knowledge in a second: by the rules alone, and by the whole job."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.bench.extracting import read
from commonplace.bench.extracting_labels import Conversation
from commonplace.bench.measure import timed
from commonplace.bench.quality.play import a_store
from commonplace.bench.report import Table
from commonplace.book import User, make_embedder
from commonplace.language.extracting.extract import extract

ROUNDS = 5  # over the conversations, for the time of the rules
COPIES = 8  # of each, in a store: the graph grows and is told the same by more and more of them


def speed_table(conversations: Sequence[Conversation]) -> Table:
    table = Table(
        "extract speed",
        "Extraction, on one core",
        ("", "documents", "turns", "documents/s", "turns/s"),
    )
    turns = sum(len(each.account.said) for each in conversations)
    read(conversations, extract)  # word lists are read when they are first needed
    seconds = min(timed(lambda: read(conversations, extract)) for _ in range(ROUNDS))
    table.add("the rules", len(conversations), turns, len(conversations) / seconds, turns / seconds)
    documents, seconds = _whole_job(conversations)
    table.add(
        "the job, into a graph on SQLite",
        documents,
        turns * COPIES,
        documents / seconds,
        turns * COPIES / seconds,
    )
    return table


def _whole_job(conversations: Sequence[Conversation]) -> tuple[int, float]:
    """One person's, each several times with another day in it. Without a real embedder: what a
    model takes is the model's."""
    with a_store(make_embedder("hashing"), None) as book:
        me = book.user("ana")
        texts = [_written(each) for each in conversations]
        for copy in range(COPIES):
            for number, text in enumerate(texts):
                me.ingest(f"{text}\n\nDay {copy}.", external_id=f"{number}-{copy}", format="text")
        return len(texts) * COPIES, timed(lambda: _all_of(me))


def _all_of(me: User) -> None:
    while me.extract().left:
        continue


def _written(conversation: Conversation) -> str:
    said = conversation.account.said
    return "\n\n".join(
        f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text for turn in said
    )

"""Requests to forget that a model finds in the owner's turns, and that the rules did not see.

They are kept with the reading of their conversation for some days, as their words alone: what they
may mean is looked up when they are shown (engine/removal/forget_requests.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from commonplace.engine.context import EngineContext
from commonplace.engine.reading.prepared import PreparedWindow
from commonplace.language.observe.forget_requests import asks_to_remove, detect_forget_request
from commonplace.language.text.normalise import fold
from commonplace.language.text.sentences import split_sentences
from commonplace.model.memory.candidate import ForgetRequest
from commonplace.model.model_calls import REQUEST_PREFIX, AskedToForget
from commonplace.model.sources.source import Passage

OPEN_FOR = timedelta(days=7)  # after it was said
MAX_OPEN = 20  # of a conversation; each is looked up when something is forgotten


def requests_of(
    engine: EngineContext, prepared: PreparedWindow, found: Iterable[ForgetRequest], now: datetime
) -> tuple[AskedToForget, ...]:
    """Those that are still open, each once."""
    reading = prepared.read_from.reading
    before = [each for each in (reading.requests if reading else ()) if each.ends_at > now]
    known = {(each.passage, fold(each.query)) for each in before}
    new = [
        AskedToForget(f"{REQUEST_PREFIX}{engine.new_id()}", query, passage.number, ends_at)
        for passage, query in _located(prepared.window.new, found)
        if (passage.number, fold(query)) not in known and (ends_at := passage.at + OPEN_FOR) > now
    ]
    return (*before, *new)[:MAX_OPEN]


def _located(
    passages: Iterable[Passage], found: Iterable[ForgetRequest]
) -> Iterator[tuple[Passage, str]]:
    """With the passage that it is in. The rules have offered what they found when it was said."""
    texts = [(passage, fold(passage.text)) for passage in passages]
    for each in found:
        place = next((passage for passage, text in texts if fold(each.trigger) in text), None)
        if place is None:
            continue
        said = _sentences_with(place.text, each.trigger)
        if any(map(asks_to_remove, said)) and not any(map(detect_forget_request, said)):
            yield place, each.query


def _sentences_with(text: str, trigger: str) -> list[str]:
    """The sentences that a quote is from; the quote, if it is from several."""
    asked = fold(trigger)
    found = [
        sentence
        for sentence in split_sentences(text)
        if asked in fold(sentence) or fold(sentence) in asked
    ]
    return found or [trigger]

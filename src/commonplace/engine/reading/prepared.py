"""What is read next of a source, and the prompt for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from commonplace.engine.context import EngineContext
from commonplace.engine.graph.extraction.extract import readable_source
from commonplace.engine.graph.extraction.extraction_input import build_extraction_input
from commonplace.engine.graph.extraction.previous_extraction import compute_sentence_digests
from commonplace.engine.graph.unit_of_work import describe_owner
from commonplace.engine.reading.known import KnownMemory, find_known
from commonplace.engine.reading.observers import observer_of
from commonplace.engine.reading.windows import (
    NextWindow,
    ReadingWindow,
    WindowLimit,
    all_windows,
    next_passages,
    next_turns,
)
from commonplace.engine.reading.wording import (
    given_passages,
    has_news,
    source_values,
    turn_values,
)
from commonplace.language.extract.values import ExtractionInput
from commonplace.language.grounding.values import GivenPassage
from commonplace.language.llm.prompts import Prompt, load_prompt
from commonplace.model.access.principal import Principal
from commonplace.model.memory.memory import Sensitivity, State
from commonplace.model.model_calls import ModelReading, SkippedWindow
from commonplace.model.sources.source import THREAD_ORIGIN, Passage, ProcessingStatus, Source
from commonplace.store.queries import NO_LIMIT, PassagesOf

_LOADED_BEFORE = 24  # passages, for the context of a window
_LOADED = 64  # for the window itself, and one turn after it


@dataclass(frozen=True, slots=True)
class SourceToRead:
    """A source, how far it was read, and the visible passages around that place."""

    source: Source
    reading: ModelReading | None
    read: int  # the number of the last passage that was read
    passages: tuple[Passage, ...]

    @property
    def is_conversation(self) -> bool:
        """Its turns were stored as they were said, and nothing before them changes."""
        return self.source.origin == THREAD_ORIGIN

    @property
    def next_window(self) -> NextWindow:
        return next_turns if self.is_conversation else next_passages

    @property
    def prompt(self) -> Prompt:
        return reading_prompt(self.source)

    @property
    def skipped(self) -> tuple[SkippedWindow, ...]:
        """None if it is read again from its first passage."""
        return self.reading.skipped if self.reading and self.read else ()


@dataclass(frozen=True, slots=True)
class PreparedWindow:
    """A window with its prompt."""

    read_from: SourceToRead
    window: ReadingWindow
    account: ExtractionInput
    given: tuple[GivenPassage, ...]
    prompt: Prompt
    known: tuple[KnownMemory, ...] = ()  # may be meant by turns
    is_repeated: bool = False  # all was read, but of these passages there was no usable answer

    @property
    def source(self) -> Source:
        return self.read_from.source

    @property
    def values(self) -> Mapping[str, str]:
        if not self.read_from.is_conversation:
            return source_values(self.account, self.given)
        local = self.source.local_time
        known = {each.key: (local(each.memory.created_at), each.text) for each in self.known}
        return turn_values(self.account, self.given, known)

    @property
    def known_texts(self) -> Mapping[str, str]:
        return {each.key: each.text for each in self.known}

    @property
    def read_to(self) -> int:
        """The number of the last passage that is read when this window is."""
        reading = self.read_from.reading
        return reading.passages if self.is_repeated and reading else self.window.last

    @property
    def is_last(self) -> bool:
        return self.is_repeated or self.window.last >= self.read_from.passages[-1].number

    @property
    def skipped_before(self) -> tuple[SkippedWindow, ...]:
        """Without the passages of this window."""
        first, last = self.window.new[0].number, self.window.last
        skipped = self.read_from.skipped
        return tuple(left for each in skipped for left in each.without(first, last))

    @property
    def says_anything(self) -> bool:
        return has_news(self.given)

    @property
    def by_number(self) -> dict[int, Passage]:
        return {each.number: each for each in (*self.window.context, *self.window.new)}


def reading_prompt(source: Source) -> Prompt:
    return load_prompt("read_turns" if source.origin == THREAD_ORIGIN else "extract_source")


def load_source_to_read(
    engine: EngineContext, reader: Principal, id: str, *, anew: bool = False
) -> SourceToRead | None:
    """None: it is removed, not processed, not readable for this user any more, or of high
    sensitivity: a model has no clearance. ``anew``: all of it, as if nothing was read yet."""
    source = readable_source(engine, reader, id)
    if source is None or source.status is ProcessingStatus.RAW:
        return None
    if source.state is not State.ACTIVE or source.sensitivity is Sensitivity.HIGH:
        return None
    reading = None if anew else find_reading(engine, reader, source)
    read = reading.passages if reading else 0
    if source.origin == THREAD_ORIGIN and not anew:
        passages = _passages_around(engine, source, read)
        return SourceToRead(source, reading, read, passages)
    passages = tuple(engine.store.passages(source.scope, PassagesOf(id)).values())
    return SourceToRead(source, reading, _read_of_source(source, reading, passages), passages)


def find_reading(engine: EngineContext, reader: Principal, source: Source) -> ModelReading | None:
    found = engine.store.model_readings(reader.own_scope, [source.id])
    return next((each for each in found if each.source_scope == source.scope.key), None)


def _passages_around(engine: EngineContext, source: Source, read: int) -> tuple[Passage, ...]:
    """More than the next window, unless it ends the conversation."""
    first, last = max(1, read - _LOADED_BEFORE + 1), read + _LOADED
    while True:
        query = PassagesOf(source.id, first, last)
        found = tuple(engine.store.passages(source.scope, query).values())
        if last >= source.passages or any(each.number > read for each in found):
            return found
        last = NO_LIMIT  # all of these are forgotten


def _read_of_source(
    source: Source, reading: ModelReading | None, passages: Sequence[Passage]
) -> int:
    """A source whose beginning has changed is read again from its first passage."""
    if reading is None:
        return 0
    if reading.digest == source.digest:
        return reading.passages
    known = set(reading.heard)
    before = [each for each in passages if each.number <= reading.passages]
    is_same = all(each in known for each in compute_sentence_digests(source, before))
    return reading.passages if is_same else 0


def prepare_window(
    engine: EngineContext, reader: Principal, to_read: SourceToRead, limit: WindowLimit
) -> PreparedWindow | None:
    """None: all of it was read."""
    window = to_read.next_window(to_read.passages, to_read.read)
    if window is None:
        return _prepare_skipped(engine, reader, to_read, limit)
    return _with_prompt(engine, reader, to_read, window, limit)


def _prepare_skipped(
    engine: EngineContext, reader: Principal, to_read: SourceToRead, limit: WindowLimit
) -> PreparedWindow | None:
    """The first window of which another model, or an earlier prompt, gave no usable answer."""
    for skipped in windows_to_repeat(engine, reader, to_read.skipped, to_read.prompt):
        read = skipped.first - 1
        around = _around(engine, to_read, read)
        passages = [each for each in around.passages if each.number <= skipped.last]
        window = to_read.next_window(passages, read)
        if window is not None:
            closed = replace(window, is_closed=True)
            prepared = _with_prompt(engine, reader, around, closed, limit)
            return replace(prepared, is_repeated=True)
    return None


def windows_to_repeat(
    engine: EngineContext, reader: Principal, skipped: Iterable[SkippedWindow], prompt: Prompt
) -> list[SkippedWindow]:
    """Those that were not given to this model with this prompt. The same would fail again."""
    model = engine.model.provider.model_for(reader.user_id) if engine.model else None
    if model is None:
        return []
    return [each for each in skipped if (each.model, each.prompt) != (model.name, prompt.id)]


def _around(engine: EngineContext, to_read: SourceToRead, read: int) -> SourceToRead:
    """Of a conversation, the passages around another place; of other sources all are there."""
    if not to_read.is_conversation:
        return to_read
    return replace(to_read, passages=_passages_around(engine, to_read.source, read))


def prepare_all_windows(
    engine: EngineContext, reader: Principal, to_read: SourceToRead
) -> Iterator[PreparedWindow]:
    """As they would be read one after the other."""
    for window in all_windows(to_read.passages, to_read.read, to_read.next_window):
        yield _with_prompt(engine, reader, to_read, window, WindowLimit())


def _with_prompt(
    engine: EngineContext,
    reader: Principal,
    to_read: SourceToRead,
    whole: ReadingWindow,
    limit: WindowLimit,
) -> PreparedWindow:
    window = limit.applied_to(whole)
    account = _account_of(engine, reader, to_read, window)
    context = (each.number for each in window.context)
    given = given_passages(account, context)
    if not (to_read.is_conversation and limit.has_context):
        return PreparedWindow(to_read, window, account, given, to_read.prompt)
    observer = observer_of(engine, reader, to_read.source, window.new[-1].turn)
    known = find_known(engine, observer, window.new)
    return PreparedWindow(to_read, window, account, given, to_read.prompt, known)


def _account_of(
    engine: EngineContext, reader: Principal, to_read: SourceToRead, window: ReadingWindow
) -> ExtractionInput:
    """Whose words each passage of the window is. Who speaks in a document, the whole of it
    tells."""
    source, wanted = to_read.source, (*window.context, *window.new)
    nodes = engine.graph_cache.of(reader.own_scope).snapshot.nodes.values()
    owner = describe_owner(engine, reader.own_scope, nodes)
    of_whole = wanted if to_read.is_conversation else to_read.passages
    account = build_extraction_input(source, of_whole, owner, reader.user_id)
    numbers = {each.number for each in wanted}
    passages = tuple(each for each in account.passages if each.number in numbers)
    return replace(account, passages=passages)


def passages_are_unchanged(
    engine: EngineContext, source: Source, passages: Iterable[Passage]
) -> bool:
    """Whether none of them was forgotten, erased or replaced meanwhile."""
    known = tuple(passages)
    query = PassagesOf(source.id, known[0].number, known[-1].number)
    now = {each.number: each for each in engine.store.passages(source.scope, query).values()}
    return all(now.get(each.number) == each for each in known)

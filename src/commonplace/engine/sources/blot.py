"""Blot erased passages out of the original of their source. Pure.

Each character of an erased passage becomes a block, so that every other passage keeps its words and
its number when the original is parsed again. Where the words cannot be blotted out in the format of
the original (an encoded mail, a message that repeats its text), the part is stored again as a
conversation: the parsed turns in our own format, without the erased words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from commonplace.engine.sources.erased_places import TextSpans, find_erased
from commonplace.engine.sources.formats.conversation import write_json_lines
from commonplace.engine.sources.originals import (
    IngestRecord,
    ParsedOriginal,
    PartRun,
    decoded_variants,
    ingest_record_in,
    with_ingest_record,
)
from commonplace.engine.sources.process import (
    default_start,
    parse_part,
    parse_parts,
    split_text,
)
from commonplace.errors import CommonplaceError
from commonplace.language.safety.secrets import redact_secrets
from commonplace.model.parameters import SourceFormat
from commonplace.model.sources.source import (
    BLOT,
    ParsedSource,
    Passage,
    Source,
    SourceTurn,
    original_digest,
)

# Formats in which a turn's words stand in one place. Mail and Slack repeat them in other forms.
_PLAIN_FORMATS = frozenset(
    {
        SourceFormat.TEXT,
        SourceFormat.MARKDOWN,
        SourceFormat.CONVERSATION,
        SourceFormat.TRANSCRIPT,
        SourceFormat.WHATSAPP,
    }
)
_MAX_PLACES = 50  # occurrences of the same words in one part that are tried

Parse = Callable[[bytes], ParsedSource | None]  # None: it cannot be parsed


def blot(text: str) -> str:
    return BLOT * len(text)


@dataclass(frozen=True, slots=True)
class BlottedOriginal:
    parts: Mapping[int, bytes]  # the changed ones, by number from 1
    source: Source  # with the digest and the formats of the changed parts


def blot_original(
    source: Source, parts: Sequence[bytes], passages: Sequence[Passage], erased: Collection[int]
) -> BlottedOriginal:
    """``passages``: all of the source. ``erased``: the numbers of those to blot out."""
    record = ingest_record_in(source.provenance)
    changed: dict[int, bytes] = {}
    for number, spans in _spans_by_part(source, parts, passages, erased).items():
        run = record.run_of(number)
        reading = parse_part(source, record, run, parts[number - 1])
        raw, format = _blot_part(source, record, run, parts[number - 1], reading, spans)
        changed[number] = raw
        if format is not run.format:
            record = _with_format(record, number, len(parts), format)
    return BlottedOriginal(changed, _with_parts(source, parts, changed, record))


def _with_parts(
    source: Source, parts: Sequence[bytes], changed: Mapping[int, bytes], record: IngestRecord
) -> Source:
    """The digests are of the blotted parts: those of the erased words would reveal them."""
    digest = last = ""
    for number, part in enumerate(parts, 1):
        raw = changed.get(number, part)
        digest, last = original_digest(raw, digest), original_digest(raw)
    record = replace(record, last=last)
    return source.evolve(digest=digest, provenance=with_ingest_record(source.provenance, record))


def _with_format(record: IngestRecord, part: int, parts: int, format: SourceFormat) -> IngestRecord:
    """The record with another format for one part."""
    run = record.run_of(part)
    runs = {each.first: each for each in record.runs if each.first != part}
    if part < parts:
        runs.setdefault(part + 1, replace(run, first=part + 1))
    runs[part] = replace(run, first=part, format=format)
    return replace(record, runs=tuple(runs[first] for first in sorted(runs)))


# ——— where the erased words are ———


def _spans_by_part(
    source: Source, parts: Sequence[bytes], passages: Sequence[Passage], erased: Collection[int]
) -> dict[int, TextSpans]:
    record = ingest_record_in(source.provenance)
    wanted = list(_turns_with(passages, erased))
    found: dict[int, TextSpans] = {}
    places: dict[object, list[tuple[int, int, SourceTurn]]] = {}
    for number, raw in enumerate(parts, 1):
        run = record.run_of(number)
        start = default_start(source, run)
        for position, turn in enumerate(parse_part(source, record, run, raw).turns):
            at = None if turn.at in (None, start) else turn.at
            key = (turn.speaker, turn.role, tuple(split_text(turn.text)))
            places.setdefault(key, []).append((number, position, replace(turn, at=at)))
    for told in wanted:
        for number, position, stored in _places_of(told, places):
            spans = found.setdefault(number, {}).setdefault(position, [])
            spans += _spans_of(stored.text, told.pieces, told.erased)
    return found


@dataclass(frozen=True, slots=True)
class _StoredTurn:
    """A turn as its stored passages tell it."""

    pieces: tuple[Passage, ...]
    erased: frozenset[int]  # positions among the pieces
    place: int  # among the turns with the same speaker and words, from 0

    @property
    def key(self) -> object:
        return _key_of(self.pieces)


def _key_of(pieces: Sequence[Passage]) -> object:
    first = pieces[0]
    return first.speaker, first.role, tuple(piece.text for piece in pieces)


def _turns_with(passages: Sequence[Passage], erased: Collection[int]) -> Iterator[_StoredTurn]:
    turns: dict[int, list[Passage]] = {}
    for passage in passages:  # those of before secrets were redacted have them still
        redacted = replace(passage, text=redact_secrets(passage.text))
        turns.setdefault(passage.turn, []).append(redacted)
    seen: dict[object, int] = {}
    for pieces in turns.values():
        key = _key_of(pieces)
        place = seen.get(key, 0)
        seen[key] = place + 1
        here = frozenset(n for n, piece in enumerate(pieces) if piece.number in erased)
        if here:
            yield _StoredTurn(tuple(pieces), here, place)


def _places_of(
    turn: _StoredTurn, places: Mapping[object, Sequence[tuple[int, int, SourceTurn]]]
) -> Sequence[tuple[int, int, SourceTurn]]:
    """Where the turn stands: also the copies of a part that was sent again. The same words said at
    another time are another turn."""
    same = places.get(turn.key, ())
    at = turn.pieces[0].at
    timed = [each for each in same if each[2].at == at]
    untimed = [each for each in same if each[2].at is None]
    if timed:
        return [*timed, *(each for each in untimed if each[2].label)]
    if any(each[2].label for each in untimed) or turn.place >= len(untimed):
        return untimed
    return [untimed[turn.place]]


def _spans_of(
    text: str, pieces: Sequence[Passage], erased: Collection[int]
) -> list[tuple[int, int]]:
    spans, end = [], 0
    for position, piece in enumerate(pieces):
        start = text.index(piece.text, end)
        end = start + len(piece.text)
        if position in erased:
            spans.append((start, end))
    return spans


# ——— one part ———


def _blot_part(
    source: Source,
    record: IngestRecord,
    run: PartRun,
    raw: bytes,
    reading: ParsedSource,
    spans: TextSpans,
) -> tuple[bytes, SourceFormat]:
    """In its own format, or else as a conversation."""
    format = run.format or SourceFormat.CONVERSATION

    def parse(blotted: bytes) -> ParsedSource | None:
        try:
            return parse_part(source, record, run, blotted)
        except CommonplaceError:
            return None

    if run.format in _PLAIN_FORMATS:
        done = blot_in_place(raw, reading, spans, parse)
        if done is not None:
            return done, format
    start = default_start(source, run)
    turns = [replace(turn, at=turn.at or start) for turn in reading.turns]
    return as_conversation(turns, spans), SourceFormat.CONVERSATION


def blot_in_place(
    raw: bytes, reading: ParsedSource, spans: TextSpans, parse: Parse
) -> bytes | None:
    """None if the words are not found as they are, if they remain elsewhere in the part, or if the
    part would be split differently."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    turns = list(reading.turns)
    for position, own in spans.items():
        for start, end in sorted(own):
            words = turns[position].text[start:end]
            blotted = turns[position].text[:start] + blot(words) + turns[position].text[end:]
            if not _keeps_its_pieces(turns[position].text, blotted):
                return None
            wanted = [
                *turns[:position],
                replace(turns[position], text=blotted),
                *turns[position + 1 :],
            ]
            changed = _first_that_parses(text, words, wanted, parse)
            if changed is None:
                return None
            text, turns = changed, wanted
            if _remains(words, text, turns):
                return None
    return text.encode()


def _keeps_its_pieces(text: str, blotted: str) -> bool:
    return [len(piece) for piece in split_text(text)] == [
        len(piece) for piece in split_text(blotted)
    ]


def _first_that_parses(
    text: str, words: str, wanted: Sequence[SourceTurn], parse: Parse
) -> str | None:
    for written in _written_forms(words):
        start = text.find(written)
        for _ in range(_MAX_PLACES):
            if start < 0:
                break
            changed = text[:start] + blot(words) + text[start + len(written) :]
            parsed = parse(changed.encode())
            if parsed is not None and list(parsed.turns) == list(wanted):
                return changed
            start = text.find(written, start + 1)
    return None


def _written_forms(words: str) -> Iterable[str]:
    """As it is, with the line ends of Windows, and escaped as in JSON."""
    forms = (
        words,
        words.replace("\n", "\r\n"),
        json.dumps(words, ensure_ascii=False)[1:-1],
        json.dumps(words)[1:-1],
    )
    return dict.fromkeys(forms)


def _remains(words: str, text: str, turns: Iterable[SourceTurn]) -> bool:
    """Whether the words are in the part beside the turns that say the same."""
    sought = words.casefold()
    others = sum(turn.text.casefold().count(sought) for turn in turns)
    return any(
        variant.casefold().count(sought) > others for variant in decoded_variants(text.encode())
    )


def as_conversation(turns: Sequence[SourceTurn], spans: TextSpans) -> bytes:
    """The turns in our own format. A long turn that would be split differently without its erased
    words becomes several turns, so that later passages keep their numbers."""
    written: list[SourceTurn] = []
    for position, turn in enumerate(turns):
        text = turn.text
        for start, end in spans.get(position, ()):
            text = text[:start] + blot(text[start:end]) + text[end:]
        if position not in spans or _keeps_its_pieces(turn.text, text):
            written.append(replace(turn, text=text))
            continue
        written += [replace(turn, text=piece) for piece in _pieces_alike(turn.text, text)]
    return write_json_lines(written)


def _pieces_alike(text: str, blotted: str) -> Iterator[str]:
    """The blotted text, split where the text is split."""
    end = 0
    for piece in split_text(text):
        start = text.index(piece, end)
        end = start + len(piece)
        yield blotted[start:end]


# ——— an original that comes again ———


def blot_again(parsed: ParsedOriginal, existing: Source, parts: Sequence[bytes]) -> ParsedOriginal:
    """The original without the words that were erased from the source before. They are found by
    what surrounds them: nothing is stored that would tell them."""
    stored = parse_parts(existing, parts).turns
    spans = find_erased(parsed.reading.turns, stored)
    if not spans:
        return parsed
    original, reading = parsed.original, parsed.reading
    record = replace(ingest_record_in(existing.provenance), name=original.name)
    run = PartRun(first=1, format=parsed.format, date=original.date)
    raw, format = _blot_part(existing, record, run, original.raw, reading, spans)
    again = parse_part(existing, record, replace(run, format=format), raw)
    return replace(
        parsed,
        original=replace(original, raw=raw),
        reading=replace(reading, turns=again.turns),
        format=format,
    )

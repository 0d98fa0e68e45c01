"""Scope index: vectors, terms and filter columns of one scope, in memory.

It is a cache of the database. Before each read it catches up by sequence number. It must always
equal an index that is rebuilt from the database.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from commonplace.model.filters import EXACT_FIELDS, Filters, Visibility
from commonplace.model.memory.kinds import PRIVATE_TO_AGENT_KINDS
from commonplace.model.profile.fields import ABBREVIATION_FACET, is_abbreviation
from commonplace.model.sources.source import PASSAGE_KIND, SOURCE_CATEGORY
from commonplace.store.cache.postings import Postings, SourceEntry, SourceNames
from commonplace.store.cache.windows import ASSISTANT, OTHER_SPEAKER, OWNER, SessionContexts
from commonplace.store.queries import Counters, IndexedPassage, IndexedRow, IndexedSource, IndexPage
from commonplace.store.sql.rows import KEY_SIGN, exact_micros, micros, reporting_damage

Mask = NDArray[np.bool_]
Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Columns = Mapping[str, Sequence[Any]]
Number = TypeVar("Number", bound=np.generic)

_NEVER = np.iinfo(np.int64).max
_EXACT_WORDS = tuple(name for name in EXACT_FIELDS if name != "pinned")
_CODED = ("kind", "category", "sensitivity", *_EXACT_WORDS)
_OF_THE_SOURCE = ("tags", "sensitivity", "source_type", "thread_id", "state", "ends_at")
_NUMERIC = ("importance", "pinned", "created_at", "updated_at")
_NO_TAGS = "[]"
_FIRST_CAPACITY = 64
_FEW_DEAD = 4096  # replaced slots that never need a rebuild
_VECTORS_AT_ONCE = 4096
NO_COUNTERS = Counters(epoch=-1)  # no scope has this epoch, so that everything is fetched
_MICROS_A_DAY = 86_400_000_000


class CodedColumn:
    """Repeated words as small numbers, so that a filter is one comparison."""

    def __init__(self) -> None:
        self.codes: dict[str | None, int] = {None: 0}

    def copy(self) -> CodedColumn:
        other = CodedColumn()
        other.codes = dict(self.codes)
        return other

    def codes_for(self, words: Sequence[str | None]) -> list[int]:
        for word in dict.fromkeys(words):
            self.codes.setdefault(word, len(self.codes))
        return [self.codes[word] for word in words]

    def known(self, word: str | None) -> int:
        return self.codes.get(word, -1)


@dataclass(frozen=True, slots=True)
class QuestionVectors:
    """Vectors of the questions that memories answer, beside those of their texts."""

    slots: NDArray[np.int64]
    vectors: Floats  # a row for each slot

    @classmethod
    def none(cls, dimension: int) -> QuestionVectors:
        return cls(np.zeros(0, dtype=np.int64), np.zeros((0, dimension), dtype=np.float32))

    def with_rows(self, slots: NDArray[np.int64], rows: Floats) -> QuestionVectors:
        kept = ~np.isin(self.slots, slots)  # these were embedded anew
        return QuestionVectors(
            np.concatenate([self.slots[kept], slots]),
            np.concatenate([self.vectors[kept], rows]),
        )

    def raise_to_nearest(self, cosines: Floats, query: Floats) -> None:
        """In place, where a cosine is known."""
        at = np.flatnonzero(np.isfinite(cosines[self.slots]))
        np.maximum.at(cosines, self.slots[at], self.vectors[at] @ query)

    def of(self, slot: int) -> Floats:
        found: Floats = self.vectors[self.slots == slot]
        return found


class ScopeIndex:
    def __init__(self, dimension: int):
        self.dimension = dimension
        self.counters = NO_COUNTERS
        self._clear()

    def _clear(self) -> None:
        self.numbering = object()  # identity of the slot numbers: replaced when they change
        self.size = 0
        self._passages: Mask | None = None
        self.ids: list[str] = []
        self.slot_of: dict[int, int] = {}  # unit → slot
        self.slot_of_id: dict[str, int] = {}
        self.live: Mask = np.zeros(_FIRST_CAPACITY, dtype=bool)
        self.lengths: Ints = np.zeros(_FIRST_CAPACITY, dtype=np.int32)
        self.ends_at: Longs = np.full(_FIRST_CAPACITY, _NEVER, dtype=np.int64)
        self.vectors: Floats = np.zeros((_FIRST_CAPACITY, self.dimension), dtype=np.float32)
        self.has_vector: Mask = np.zeros(_FIRST_CAPACITY, dtype=bool)
        self.questions = QuestionVectors.none(self.dimension)
        self.coded: dict[str, Ints] = {
            name: np.zeros(_FIRST_CAPACITY, dtype=np.int32) for name in _CODED
        }
        self.words = {name: CodedColumn() for name in _CODED}
        self.numeric: dict[str, Longs] = {
            name: np.zeros(_FIRST_CAPACITY, dtype=np.int64) for name in _NUMERIC
        }
        self.tags: list[str] = []  # by slot, as stored
        self._slots_of_tag: defaultdict[str, set[int]] | None = None  # built on first use
        self.postings = Postings()
        self.traits: Ints = np.zeros(_FIRST_CAPACITY, dtype=np.int32)
        self.units: list[int] = []  # by slot
        self._set_source_names(SourceNames())
        self.contexts = SessionContexts()
        self._sessions = 0  # session numbers given out; each memory is a session of its own
        self._dead_slots = 0  # whose content was replaced

    def _set_source_names(self, names: SourceNames) -> None:
        self._source_names = names
        self.sources, self.titles, self.people = names.by_id, names.titles, names.people

    # ——— time travel ———

    def copy(self) -> ScopeIndex:
        """A copy to rewind to a past moment, while this index follows the present."""
        other = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(other, name, _filled(value, self.size))
            elif isinstance(value, list | dict):
                setattr(other, name, value.copy())
        other.coded = {name: _filled(column, self.size) for name, column in self.coded.items()}
        other.numeric = {name: _filled(column, self.size) for name, column in self.numeric.items()}
        other.words = {name: column.copy() for name, column in self.words.items()}
        other._slots_of_tag = None
        other.postings, other.contexts = self.postings.copy(), self.contexts.copy()
        other._set_source_names(self._source_names.copy())
        return other

    def rewind(self, unchanged: Iterable[int], cut: Iterable[str]) -> None:
        """Keeps only the ``unchanged`` units of memories, and removes the ``cut`` sources. Their
        past state is absorbed afterwards as a page, so that windows include no later passage."""
        kept = self.passages.copy()
        kept[[self.slot_of[unit] for unit in unchanged if unit in self.slot_of]] = True
        self.live[: self.size] &= kept
        for id in cut:
            if id in self.sources:
                self._retire(self._source_names.drop(id))

    # ——— catching up ———

    @reporting_damage
    def absorb(self, page: IndexPage) -> None:
        whole = page.counters.epoch != self.counters.epoch
        self._passages = None
        self.counters = NO_COUNTERS  # if this fails halfway, the next read rebuilds the index
        if whole:
            self._clear()
        self._reserve(self.size + len(page.rows) + len(page.passages))
        known = self.size
        if page.rows:
            slots = [self._slot_for(row) for row in page.rows]
            self._describe(slots, _by_name(IndexedRow._fields, page.rows))
        sessions = self._memory_sessions(self.size - known)
        sessions += self._take_passages(page.sources, page.passages)
        self._take_terms(page.terms, known)
        late = self._take_vectors(page.vectors, known)
        self._add_contexts(sessions, known)
        self.contexts.update_norms(late, self.vectors)
        self.counters = page.counters

    def _memory_sessions(self, count: int) -> list[tuple[int, int]]:
        """A session of its own for each memory."""
        first, self._sessions = self._sessions, self._sessions + count
        return [(number, 0) for number in range(first, self._sessions)]

    def _take_passages(
        self, sources: Sequence[IndexedSource], passages: Sequence[IndexedPassage]
    ) -> list[tuple[int, int]]:
        """Returns session and passage number of each new slot."""
        for row in sources:
            self._take_source(row)
        new, known, slots, places = [], [], [], []
        for passage in passages:
            source = self.sources.get(passage.source_id)
            if source is None or passage.unit in self.slot_of:
                continue  # forgotten, or only its vector is new
            slot = self._new_slot(passage.unit, f"{passage.source_id}#{passage.number}")
            new.append(passage)
            known.append(source.row)
            slots.append(slot)
            places.append((self._session_for(source, passage.session), passage.number))
            source.slots.append(slot)
            self._source_names.add_speaker(source, passage.speaker)
        if new:
            self._describe(slots, _columns_of(new, known))
        return places

    def _session_for(self, source: SourceEntry, name: str | None) -> int:
        if name not in source.sessions:
            source.sessions[name] = self._sessions
            self._sessions += 1
        return source.sessions[name]

    def _take_source(self, row: IndexedSource) -> None:
        before = self.sources.get(row.id)
        # A source's passages are replaced all at once, so checking one of them is enough.
        if before and before.slots and self.units[before.slots[0]] < row.first_unit:
            self._retire(self._source_names.empty(before))
        entry = self._source_names.put(row)
        at = np.array(entry.slots, dtype=np.intp)
        self.live[at] = row.state == "active"
        self.ends_at[at] = _NEVER if row.ends_at is None else row.ends_at
        self.coded["sensitivity"][at] = self.words["sensitivity"].codes_for([row.sensitivity])[0]
        self.coded["thread_id"][at] = self.words["thread_id"].codes_for([row.thread_id])[0]
        for slot in entry.slots:
            self._tag(slot, row.tags)

    def _add_contexts(self, sessions: Sequence[tuple[int, int]], known: int) -> None:
        if not sessions:
            return
        numbers = np.array(sessions, dtype=np.int64)
        lengths = self.lengths[known : self.size].astype(np.int64)
        roles = self.coded["role"][known : self.size]
        speakers = np.full(len(roles), OTHER_SPEAKER, dtype=np.int64)
        speakers[roles == self.words["role"].known("user")] = OWNER
        speakers[roles == self.words["role"].known("assistant")] = ASSISTANT
        speakers[self._coded("kind")[known:] != self.words["kind"].known(PASSAGE_KIND)] = (
            OTHER_SPEAKER
        )
        self.contexts.add(numbers[:, 0], numbers[:, 1], lengths, speakers, self.vectors)

    def _slot_for(self, row: IndexedRow) -> int:
        slot = self.slot_of.get(row.unit)
        return self._new_slot(row.unit, row.id) if slot is None else slot

    def _new_slot(self, unit: int, id: str) -> int:
        replaced = self.slot_of_id.get(id)
        if replaced is not None:  # its content changed in place
            self._retire([replaced])
        slot = self.size
        self.size += 1
        self.ids.append(id)
        self.units.append(unit)
        self.tags.append(_NO_TAGS)
        self.slot_of[unit] = slot
        self.slot_of_id[id] = slot
        return slot

    def _retire(self, slots: Sequence[int]) -> None:
        """The content of these slots was replaced; their units are never used again."""
        self.live[np.array(slots, dtype=np.intp)] = False
        for slot in slots:
            self._tag(slot, _NO_TAGS)
            del self.slot_of[self.units[slot]], self.slot_of_id[self.ids[slot]]
        self._dead_slots += len(slots)

    @property
    def needs_rebuild(self) -> bool:
        """Most slots are dead: rebuilt, it would be half as large."""
        return self._dead_slots > max(_FEW_DEAD, self.size // 2)

    def _describe(self, slots: Sequence[int], column: Columns) -> None:
        """Column by column, because a cold start describes a hundred thousand at once."""
        at = np.array(slots)
        self.live[at] = [state == "active" for state in column["state"]]
        self.ends_at[at] = [_NEVER if end is None else end for end in column["ends_at"]]
        for name in _CODED:
            self.coded[name][at] = self.words[name].codes_for(column[name])
        for name in _NUMERIC:
            self.numeric[name][at] = column[name]
        for slot, tags in zip(slots, column["tags"], strict=True):
            self._tag(slot, tags)

    def _tag(self, slot: int, tags: str) -> None:
        before, self.tags[slot] = self.tags[slot], tags
        if self._slots_of_tag is None or tags == before:
            return
        for tag in json.loads(before):
            self._slots_of_tag[tag].discard(slot)
        for tag in json.loads(tags):
            self._slots_of_tag[tag].add(slot)

    def _take_terms(self, packed_terms: Sequence[tuple[int, str, int]], known: int) -> None:
        """A unit's terms never change, so those of known slots are skipped."""
        documents = [
            (slot, packed.split(" ") if packed else [], packed.count(KEY_SIGN), traits)
            for unit, packed, traits in packed_terms
            if (slot := self.slot_of.get(unit, -1)) >= known
        ]
        for slot, words, keys, traits in documents:
            self.lengths[slot] = len(words) - keys
            self.traits[slot] = traits
        self.postings.add_many([(slot, words) for slot, words, *_ in documents])

    def _take_vectors(self, vectors: Sequence[tuple[int, bytes]], known: int) -> list[int]:
        """Returns the slots that existed before: their vectors came late."""
        placed = [(self.slot_of[unit], blob) for unit, blob in vectors if unit in self.slot_of]
        for start in range(0, len(placed), _VECTORS_AT_ONCE):
            slots, blobs = zip(*placed[start : start + _VECTORS_AT_ONCE], strict=True)
            counts = np.array([len(blob) for blob in blobs]) // (4 * self.dimension)
            rows = np.frombuffer(b"".join(blobs), dtype="<f4").reshape(-1, self.dimension)
            firsts = np.cumsum(counts) - counts
            at = np.array(slots)
            self.vectors[at] = rows[firsts]
            self.has_vector[at] = True
            if len(rows) > len(slots):
                others = np.setdiff1d(np.arange(len(rows)), firsts)
                self.questions = self.questions.with_rows(
                    np.repeat(at, counts)[others], rows[others]
                )
        return [slot for slot, _ in placed if slot < known]

    def _reserve(self, wanted: int) -> None:
        capacity = len(self.live)
        if wanted <= capacity:
            return
        while capacity < wanted:
            capacity *= 2
        self.live = _grown(self.live, capacity, 0)
        self.lengths = _grown(self.lengths, capacity, 0)
        self.ends_at = _grown(self.ends_at, capacity, _NEVER)
        self.vectors = _grown(self.vectors, capacity, 0)
        self.has_vector = _grown(self.has_vector, capacity, 0)
        self.traits = _grown(self.traits, capacity, 0)
        self.coded = {name: _grown(column, capacity, 0) for name, column in self.coded.items()}
        self.numeric = {name: _grown(column, capacity, 0) for name, column in self.numeric.items()}

    # ——— masks of candidates ———

    def candidates(self, filters: Filters, visibility: Visibility, now: datetime) -> Mask:
        """Every slot that a search may score."""
        mask = self.listed(filters, visibility, now)
        if filters.facet != ABBREVIATION_FACET:
            mask[self.abbreviations()] = False
        return mask

    def listed(self, filters: Filters, visibility: Visibility, now: datetime) -> Mask:
        """Every slot that a list may show."""
        mask = self.visible(visibility, now)
        return mask if filters.is_empty else mask & self._admitted(filters)

    def abbreviations(self) -> list[int]:
        """The slots of abbreviations, which affect queries and are not answers."""
        code = self.words["facet"].known(ABBREVIATION_FACET)
        if code < 0:
            return []
        slots = np.flatnonzero((self._coded("facet") == code) & self.live[: self.size])
        return [slot for slot in slots.tolist() if is_abbreviation(self.ids[slot])]

    def visible(self, visibility: Visibility, now: datetime) -> Mask:
        """Every slot that the caller may see, before any filter."""
        mask: Mask = self.live[: self.size] & (self.ends_at[: self.size] > exact_micros(now))
        if not visibility.cleared:
            mask &= self._coded("sensitivity") != self.words["sensitivity"].known("high")
        if visibility.agent is not None:
            mask &= self._of_agent(visibility.agent)
        if visibility.categories is not None:
            mask &= self._one_of("category", visibility.categories)
        return mask

    @property
    def passages(self) -> Mask:
        """Which slots are passages; the others are memories."""
        if self._passages is None:
            self._passages = self._coded("kind") == self.words["kind"].known(PASSAGE_KIND)
        return self._passages

    def of_kind(self, kind: str) -> Mask:
        mask: Mask = self._coded("kind") == self.words["kind"].known(kind)
        return mask

    def of_category(self, category: str) -> Mask:
        mask: Mask = self._coded("category") == self.words["category"].known(category)
        return mask

    def _of_agent(self, agent: str) -> Mask:
        owners = self._coded("agent_id")
        mine = (owners == 0) | (owners == self.words["agent_id"].known(agent))
        private = [self.words["kind"].known(kind) for kind in PRIVATE_TO_AGENT_KINDS]
        allowed: Mask = mine | ~np.isin(self._coded("kind"), private)
        return allowed

    def _admitted(self, filters: Filters) -> Mask:
        mask = np.ones(self.size, dtype=bool)
        for name, wanted in (("kind", filters.kinds), ("category", filters.categories)):
            if wanted:
                mask &= self._one_of(name, wanted)
        for name in _EXACT_WORDS:
            mask &= self._exactly(name, getattr(filters, name))
        if filters.tags:
            mask &= self._tagged(filters.tags)
        if filters.pinned is not None:
            mask &= self._number("pinned") == int(filters.pinned)
        return mask & self._in_range(filters)

    def _one_of(self, name: str, wanted: Iterable[str]) -> Mask:
        codes = [self.words[name].known(str(word)) for word in wanted]
        mask: Mask = self._coded(name) == codes[0] if codes else np.zeros(self.size, dtype=bool)
        for code in codes[1:]:  # several times as fast as np.isin, for the few that are asked for
            mask |= self._coded(name) == code
        return mask

    def _in_range(self, filters: Filters) -> Mask:
        mask = np.ones(self.size, dtype=bool)
        if filters.importance_min is not None:
            mask &= self._number("importance") >= filters.importance_min
        if filters.importance_max is not None:
            mask &= self._number("importance") <= filters.importance_max
        for name in ("created", "updated"):
            after = micros(getattr(filters, f"{name}_after"))
            before = micros(getattr(filters, f"{name}_before"))
            if after is not None:
                mask &= self._number(f"{name}_at") > after
            if before is not None:
                mask &= self._number(f"{name}_at") < before
        return mask

    def _exactly(self, name: str, wanted: str | None) -> Mask | bool:
        if wanted is None:
            return True
        mask: Mask = self._coded(name) == self.words[name].known(wanted)
        return mask

    def _tagged(self, tags: Sequence[str]) -> Mask:
        mask = np.zeros(self.size, dtype=bool)
        if self._slots_of_tag is None:
            self._slots_of_tag = defaultdict(set)
            for slot, stored in enumerate(self.tags):
                for tag in json.loads(stored):
                    self._slots_of_tag[tag].add(slot)
        slots = {slot for tag in tags for slot in self._slots_of_tag.get(tag, ())}
        mask[list(slots)] = True
        return mask

    def age_days(self, now: datetime) -> NDArray[np.float64]:
        """The time since each slot's last update."""
        return (exact_micros(now) - self._number("updated_at")) / _MICROS_A_DAY

    def _coded(self, name: str) -> NDArray[np.int32]:
        return self.coded[name][: self.size]

    def _number(self, name: str) -> NDArray[np.int64]:
        return self.numeric[name][: self.size]

    def of_sources(self, ids: Iterable[str]) -> Mask:
        """Which slots are passages of these sources."""
        return self.from_sources(ids) & self.passages

    def of_ids(self, ids: Iterable[str]) -> Mask:
        mask = np.zeros(self.size, dtype=bool)
        mask[[self.slot_of_id[id] for id in ids if id in self.slot_of_id]] = True
        return mask

    def from_sources(self, ids: Iterable[str]) -> Mask:
        """Which slots are passages of these sources, or memories that were extracted from them."""
        column = self.words["source_id"]
        wanted = np.zeros(len(column.codes), dtype=bool)
        wanted[[column.codes[id] for id in ids if id in column.codes]] = True
        mask: Mask = wanted[self._coded("source_id")]
        return mask

    # ——— the vector arm and the lexical arm ———

    def cosines(self, query: Floats, mask: Mask) -> Floats:
        """Cosine with every candidate; −inf for other slots and those without a vector."""
        usable = mask & self.has_vector[: self.size]
        count = np.count_nonzero(usable)
        if count > self.size // 4:  # a full product is cheaper than gathering rows
            # Not `@`: waiting for the threads of BLAS takes longer than this product.
            scores: Floats = np.vecdot(self.vectors[: self.size], query)
            if count < self.size:
                scores[~usable] = -np.inf
            return scores
        scores = np.full(self.size, -np.inf, dtype=np.float32)
        slots = np.flatnonzero(usable)
        scores[slots] = self.vectors[slots] @ query
        return scores

    def cosines_of_many(self, queries: Floats, mask: Mask) -> Floats:
        """The same for several queries, a row for each."""
        usable = mask & self.has_vector[: self.size]
        if np.count_nonzero(usable) <= self.size // 4:
            scattered = np.full((len(queries), self.size), -np.inf, dtype=np.float32)
            slots = np.flatnonzero(usable)
            scattered[:, slots] = queries @ self.vectors[slots].T
            return scattered
        scores: Floats = queries @ self.vectors[: self.size].T
        if not usable.all():
            scores[:, ~usable] = -np.inf
        return scores

    def raise_by_questions(self, cosines: Floats, query: Floats) -> None:
        """A memory is as near to a query as the nearest of the questions that it answers."""
        self.questions.raise_to_nearest(cosines, query)

    def bm25(self, terms: Sequence[str], mask: Mask) -> tuple[Floats, Floats]:
        """BM25 of every candidate, and the share of the query's terms that it contains."""
        return self.postings.bm25(terms, self.live[: self.size], self.lengths[: self.size], mask)

    def slots_with_keys(self, keys: Iterable[str], mask: Mask) -> list[int]:
        """Slots of the candidates that have one of the keys."""
        postings = [self.postings.of(KEY_SIGN + key)[0] for key in keys]
        slots: list[int] = np.unique(np.concatenate([*postings, np.zeros(0, np.int32)])).tolist()
        return [slot for slot in slots if mask[slot]]

    def fingerprint(self) -> dict[str, object]:
        """All data of each live item, and the names of sources, to compare two indexes."""
        word_of = {
            name: {code: word for word, code in column.codes.items()}
            for name, column in self.words.items()
        }
        terms = self.postings.by_slot()
        names: dict[str, object] = {
            f"{name} of sources": {name: sorted(ids) for name, ids in index.items()}
            for name, index in (("titles", self.titles), ("people", self.people))
        }
        return names | {
            self.ids[slot]: (
                int(self.ends_at[slot]),
                int(self.lengths[slot]),
                bool(self.has_vector[slot]),
                self.vectors[slot].tobytes(),
                tuple(word_of[name][int(self.coded[name][slot])] for name in _CODED),
                tuple(int(self.numeric[name][slot]) for name in _NUMERIC),
                self.tags[slot],
                int(self.traits[slot]),
                self._context_of(slot),
                tuple(sorted(terms.get(slot, {}).items())),
                self.questions.of(slot).tobytes(),
            )
            for slot in np.flatnonzero(self.live[: self.size]).tolist()
        }

    def _context_of(self, slot: int) -> tuple[object, ...]:
        """Its windows, independent of slot and session numbers."""
        contexts = self.contexts
        place = int(contexts.places[slot])
        values: list[object] = [round(float(contexts.norms[place]), 4)]
        for windows in (contexts.near, contexts.wide):
            first, last = place - windows.back[place], place + windows.ahead[place]
            values.append(tuple(self.ids[other] for other in contexts.slots[first : last + 1]))
            values.append(int(windows.terms[place]))
        return tuple(values)

    @property
    def nbytes(self) -> int:
        arrays = [self.live, self.lengths, self.ends_at, self.vectors, self.has_vector]
        arrays += [self.traits, self.questions.slots, self.questions.vectors]
        arrays += [*self.coded.values(), *self.numeric.values()]
        per_item = 250  # ids and dictionaries, measured
        return (
            sum(array.nbytes for array in arrays)
            + self.postings.nbytes
            + self.contexts.nbytes
            + per_item * self.size
        )


def _by_name(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Columns:
    return dict(zip(names, zip(*rows, strict=True), strict=True))


def _columns_of(passages: Sequence[IndexedPassage], sources: Sequence[IndexedSource]) -> Columns:
    """Passages with a memory's columns, so that one filter handles both."""
    passage_columns = _by_name(IndexedPassage._fields, passages)
    source_columns = _by_name(IndexedSource._fields, sources)  # one row per passage
    constant = {"kind": PASSAGE_KIND, "category": SOURCE_CATEGORY, "importance": 2, "pinned": 0}
    absent = dict.fromkeys(("facet", "agent_id", "run_id"))
    return {
        **{name: (value,) * len(passages) for name, value in {**constant, **absent}.items()},
        **{name: source_columns[name] for name in _OF_THE_SOURCE},
        "source_id": passage_columns["source_id"],
        "actor_id": passage_columns["speaker"],
        "role": passage_columns["role"],
        "created_at": passage_columns["at"],
        "updated_at": passage_columns["at"],
    }


def _filled(array: NDArray[Number], size: int) -> NDArray[Number]:
    """A copy; memory beyond ``size`` is not touched, so it costs nothing."""
    other = np.zeros(array.shape, dtype=array.dtype)
    other[:size] = array[:size]
    return other


def _grown(array: NDArray[Number], capacity: int, fill: int) -> NDArray[Number]:
    shape = (capacity, *array.shape[1:])
    grown: NDArray[Number] = np.zeros(shape, dtype=array.dtype)  # costs nothing until it is used
    if fill:
        grown[len(array) :] = fill
    grown[: len(array)] = array
    return grown

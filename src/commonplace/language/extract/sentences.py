"""Sentences of a source with their speakers, normalised for pattern matching.

Normalisation works on marked sentences (marking.py), so that each pattern needs one form only:
«אחות של ⟨p0i⟩», «⟨p0i⟩ עבד».
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from commonplace.language.extract.patterns import compile_pattern, load_pattern_table
from commonplace.language.extract.values import (
    AttributedPassage,
    ExtractionInput,
    FoundNode,
    NodeSpan,
    RecognisedNodes,
    TextLocation,
)
from commonplace.language.observe.own_words import (
    MASK,
    OwnSentence,
    own_sentences,
    remove_opt_outs,
    remove_recalled_lines,
    written_sentences,
)
from commonplace.language.text.normalise import fold
from commonplace.model.graph.types import NodeType
from commonplace.model.memory.kinds import BUILT_IN_CATEGORIES, Kind
from commonplace.model.sources.source import SourceType

OWNER_INDEX = 0  # the owner is the first node
_MIN_NAME_CONFIDENCE = 0.5  # weaker names are mostly words capitalised at a sentence start
# "fine i guess. i'm at Acme now": text without capitals still has sentence ends.
_LOWERCASE_SENTENCE_START = re.compile(r"(?<=\w{2}[.…]) +(?=[a-z])|(?<=\w)\.{2,3} +(?=[a-z])")
_ABBREVIATED = re.compile(
    r"(?:^|\W)(?:e\.g|i\.e|[ap]\.m|etc|vs|approx|ca|incl|esp|dr|mr|mrs|ms|prof|st)\.$"
)
ECHO_BULLETS = BUILT_IN_CATEGORIES | frozenset(Kind)  # prefixes of lines that this memory wrote


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One sentence of a speaker. Spans are relative to its start."""

    passage: int
    number: int  # in its source; consecutive sentences have consecutive numbers
    written: str
    own: str  # quoted text of others is masked
    at: datetime
    speaker: int | None  # node of the first person; None: unknown
    spans: tuple[NodeSpan, ...] = ()
    start: int = 0  # offset in its passage

    @property
    def place(self) -> TextLocation:
        return TextLocation(self.passage, self.start, self.start + len(self.written))


def split_utterances(source: ExtractionInput, recognised: RecognisedNodes) -> Iterator[Utterance]:
    """Sentences of people only. Machine text is not evidence, suspicious text (possible prompt
    injection) is not trusted."""
    credible = {
        n for n, node in enumerate(recognised.nodes) if node.confidence >= _MIN_NAME_CONFIDENCE
    }
    spans = _spans_by_passage([span for span in recognised.spans if span.node in credible])
    number = 0
    for passage in source.passages:
        if passage.by_machine or passage.suspicious:
            number += 1
            continue
        speaker = speaker_node(passage, recognised.nodes)
        passage_spans = spans.get(passage.number, [])
        starts = [span.start for span in passage_spans]
        for sentence in _split_lowercase_sentences(spoken_sentences(source, passage)):
            yield Utterance(
                passage=passage.number,
                number=number,
                written=sentence.written,
                own=sentence.own,
                at=passage.at,
                speaker=speaker,
                spans=_spans_in_sentence(sentence, passage_spans, starts),
                start=sentence.start,
            )
            number += 1


def spoken_sentences(source: ExtractionInput, passage: AttributedPassage) -> list[OwnSentence]:
    """Sentences of a passage without recalled lines and without what the speaker opted out."""
    to_an_agent = source.source_type is SourceType.CHAT and passage.by_owner
    sentences = own_sentences(passage.text) if to_an_agent else written_sentences(passage.text)
    own = remove_recalled_lines(passage.text, ECHO_BULLETS)
    if passage.speaker is not None or passage.by_owner:
        own = remove_opt_outs(own).text
    return sentences if own == passage.text else [each for each in sentences if each.written in own]


def _split_lowercase_sentences(sentences: Iterable[OwnSentence]) -> Iterator[OwnSentence]:
    for each in sentences:
        begin = 0
        for gap in _LOWERCASE_SENTENCE_START.finditer(each.own):
            if not _ABBREVIATED.search(each.own[: gap.start()].lower()):
                yield _slice_sentence(each, begin, gap.start())
                begin = gap.end()
        yield _slice_sentence(each, begin, len(each.own))


def _slice_sentence(sentence: OwnSentence, begin: int, end: int) -> OwnSentence:
    return OwnSentence(sentence.written[begin:end], sentence.own[begin:end], sentence.start + begin)


def speaker_node(passage: AttributedPassage, nodes: Sequence[FoundNode]) -> int | None:
    if passage.by_owner:
        return OWNER_INDEX
    if passage.speaker is None:
        return None
    name = fold(passage.speaker)
    for index, node in enumerate(nodes):
        names = map(fold, (node.name, *node.aliases, *node.addresses))
        if node.type is NodeType.PERSON and index != OWNER_INDEX and name in names:
            return index
    return None


def _spans_by_passage(spans: Sequence[NodeSpan]) -> dict[int, list[NodeSpan]]:
    by_passage: dict[int, list[NodeSpan]] = {}
    for span in sorted(spans, key=lambda each: (each.start, -each.end)):
        by_passage.setdefault(span.passage, []).append(span)
    return by_passage


def _spans_in_sentence(
    sentence: OwnSentence, spans: Sequence[NodeSpan], starts: Sequence[int]
) -> tuple[NodeSpan, ...]:
    """Spans inside a sentence and outside its masked text; of overlapping spans the longest."""
    first, end = sentence.start, sentence.start + len(sentence.own)
    kept: list[NodeSpan] = []
    covered_to = 0
    for span in spans[bisect_left(starts, first) : bisect_left(starts, end)]:
        start, stop = span.start - first, span.end - first
        if (
            start >= covered_to
            and stop <= len(sentence.own)
            and MASK not in sentence.own[start:stop]
        ):
            kept.append(NodeSpan(span.passage, start, stop, span.node))
            covered_to = stop
    return tuple(kept)


_MARK_GROUP = r"(⟨[a-z]\d+[imhry]?⟩)"
_CASUAL_SPELLINGS = {
    casual: full.replace("_", " ")
    for casual, full in (
        each.split(":") for each in load_pattern_table("wording")["casual"]["words"].split()
    )
}
_CASUAL_WORD = re.compile(rf"(?<![\w'])(?:{'|'.join(_CASUAL_SPELLINGS)})(?![\w'])", re.IGNORECASE)


def expand_casual_spelling(text: str) -> str:
    """ "im gonna" → "I'm going to"."""
    return _CASUAL_WORD.sub(lambda match: _CASUAL_SPELLINGS[match[0].lower()], text)


_AFTER_CONTRACTED_IS = "|".join(load_pattern_table("wording")["casual"]["is_said_of"].split())
_CONTRACTIONS = tuple(
    (re.compile(short, re.IGNORECASE), long)
    for short, long in (
        (rf"{_MARK_GROUP},? \1(?!')", r"\1"),
        (rf"{_MARK_GROUP}'m\b", r"\1 am"),
        (rf"{_MARK_GROUP}'re\b", r"\1 are"),
        (rf"{_MARK_GROUP}'ve\b", r"\1 have"),
        (rf"{_MARK_GROUP}'ll\b", r"\1 will"),
        (rf"{_MARK_GROUP}'d\b", r"\1 would"),
        (rf"{_MARK_GROUP}'s (?=(?:been|got|gone|had|become)\b)", r"\1 has "),
        (rf"{_MARK_GROUP}'s (?=(?:{_AFTER_CONTRACTED_IS}|⟨p\d+\w?⟩'s)\b)", r"\1 is "),
        # "Dana, who works at Acme": the clause is about her.
        (rf"{_MARK_GROUP}(?:,? who|, which) (?!⟨)", r"\1 "),
    )
)


# "I'm staying at my mom's in Haifa": "'s" means her home, not "is".
_HOME_OF_PERSON = re.compile(
    r"(\b(?:at|to|from|near|by|outside|behind|visited|visiting|left) "
    rf"(?:⟨p\d+\w?⟩'s (?:[\w-]+ ){{1,3}})?{_MARK_GROUP})"
    r"'s (?=(?:in|on|at|near|by|for|with|from|now|today|tomorrow|until|this|over)\b)"
)


def expand_contractions(text: str) -> str:
    text = _HOME_OF_PERSON.sub(r"\1's home ", text)
    for short, long in _CONTRACTIONS:
        text = short.sub(long, text)
    return text


_ASIDES = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (
            rf"{_MARK_GROUP}, (?:⟨p\d+[ih]?⟩'s|an?|the) [^,.;⟨⟩]{{2,50}}(?:⟨\w\d+\w?⟩)?,(?= \w)",
            r"\1",
        ),
        (rf"{_MARK_GROUP}(?:,? who|, which) [^,.;]{{2,80}},(?= \w)", r"\1"),
        (rf"{_MARK_GROUP} \([^()]{{2,60}}\)", r"\1"),
        # "A friend of mine, Dana, works": keep the name only.
        (rf"\b(?:an?|one) [^,.;⟨⟩]{{2,40}} of ⟨p\d+[ih]⟩'s, {_MARK_GROUP},", r"\1"),
        (rf"⟨p\d+[ih]?⟩'s [^,.;⟨⟩]{{2,40}}, {_MARK_GROUP},", r"\1"),
        (rf"(?:the|their) [a-z][^,.;⟨⟩]{{2,30}}, {_MARK_GROUP},", r"\1"),
    )
)


def remove_asides(text: str) -> str:
    for pattern, replacement in _ASIDES:
        text = pattern.sub(replacement, text)
    return text


# Nouns of roles: "my sister Noa", "Tom's best friend Ann".
ROLE_NOUNS = "|".join(
    noun.replace("_", " ")
    for noun in sorted(
        (
            noun
            for role in load_pattern_table("relations/roles")["role"]
            for noun in role["nouns"].split()
        ),
        key=len,
        reverse=True,
    )
)
_ROLE_BEFORE_NAME = re.compile(
    rf"⟨p\d+[ihy]?⟩'s (?:[\w-]+ ){{0,2}}?(?:{ROLE_NOUNS})s? (⟨p\d+[ih]?⟩)", re.IGNORECASE
)


def drop_roles_before_names(text: str) -> str:
    """ "Uri married my sister Shira" → "Uri married Shira"."""
    return _ROLE_BEFORE_NAME.sub(r"\1", text)


# ——— ellipsis ———


@dataclass(frozen=True, slots=True)
class SentenceContext:
    """Context that a sentence may leave out: its speaker, and marks of what was just mentioned."""

    speaker: int | None = None
    organisation: str | None = None
    event: str | None = None


def fill_ellipsis(text: str, context: SentenceContext) -> str:
    """Insert what is left out. "Joined Acme last week": by the speaker; "the landlord is Dan": the
    speaker's; "my contact there": at the only organisation mentioned."""
    if context.speaker is not None:
        me = f"⟨p{context.speaker}i⟩"
        text = _ellipsis_pattern("subject").sub(rf"{me} \g<verb>", text)
        text = _ellipsis_pattern("feeling").sub(rf"{me} am \g<rest>", text)
        text = _ellipsis_pattern("owner").sub(rf"{me}'s \g<noun> is ", text)
    text = _ellipsis_pattern("shared").sub(r"\g<subject>\g<first>, and \g<subject> \g<verb>", text)
    text = _ellipsis_pattern("shared_hebrew").sub(
        r"\g<subject>\g<first>, ו\g<subject> \g<verb>", text
    )
    if context.organisation is not None:
        text = _ellipsis_pattern("there").sub(rf"\g<noun> at {context.organisation}", text)
        text = _ellipsis_pattern("contact").sub(rf"\g<noun> at {context.organisation} \g<is>", text)
        text = _ellipsis_pattern("them").sub(rf"\g<verb> {context.organisation}", text)
        text = _ellipsis_pattern("their").sub(rf"{context.organisation}'s \g<noun>", text)
    if context.event is not None:
        text = _ellipsis_pattern("at_event").sub(rf"\g<noun> at {context.event}", text)
    return text


@cache
def _ellipsis_pattern(name: str) -> re.Pattern[str]:
    return compile_pattern(load_pattern_table("wording")["left_out"][name])


_WORD_START, _WORD_END = r"(?<![\w\"״׳'])", r"(?![\w\"״׳'])"
_HEBREW_I = re.compile(rf"{_WORD_START}(?P<and>ו)?(?:אני|אנחנו){_WORD_END}")
_HEBREW_WITH_ME = re.compile(rf"{_WORD_START}(?:איתי|אתי|איתנו){_WORD_END}")


def _read_pairs(listed: str) -> dict[str, str]:
    pairs = (each.split(":") for each in listed.split())
    return {form: word.replace("_", " ") for form, word in pairs}


HEBREW_MY_FORMS = _read_pairs(load_pattern_table("wording")["hebrew"]["my"])  # «אחותי» → «אחות»
HEBREW_MY_WORDS = tuple(HEBREW_MY_FORMS)
HEBREW_POSSESSIVES = frozenset(load_pattern_table("wording")["hebrew"]["possessive"].split())


def separate_hebrew_suffixes(text: str, me: str) -> str:
    i_did, possessive = _hebrew_forms()
    text = possessive.sub(f"של {me}", text)
    text = _HEBREW_WITH_ME.sub(f"עם {me}", text)
    text = _HEBREW_I.sub(lambda match: f"{match['and'] or ''}{me}", text)
    text = re.sub(
        rf"{_WORD_START}(ו?)({'|'.join(HEBREW_MY_WORDS)}){_WORD_END}",
        lambda f: f"{f[1]}{HEBREW_MY_FORMS[f[2]]} של {me}",
        text,
    )
    return re.sub(
        rf"{_WORD_START}(ו?)({'|'.join(i_did)}){_WORD_END}",
        lambda f: f"{f[1]}{me} {i_did[f[2]]}",
        text,
    )


@cache
def _hebrew_forms() -> tuple[dict[str, str], re.Pattern[str]]:
    possessive = re.compile(rf"{_WORD_START}(?:{'|'.join(sorted(HEBREW_POSSESSIVES))}){_WORD_END}")
    return _read_pairs(load_pattern_table("wording")["hebrew"]["i_did"]), possessive

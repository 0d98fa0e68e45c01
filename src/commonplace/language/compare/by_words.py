"""Compares two statements word by word, if no frame decides."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from commonplace.language.compare.frames import load_wordings
from commonplace.language.compare.single_value import (
    holds_single_value,
    is_instruction,
    is_past_event,
    takes_single_value,
)
from commonplace.language.compare.statement import (
    CompareVerdict,
    Comparison,
    ParsedStatement,
    compare_same_words,
    has_copula,
    is_name_token,
)
from commonplace.language.compare.tokens import (
    CompareToken,
    CompareTokenKind,
    is_other_gender,
    is_same_term,
    tokens_text,
    unmatched_tokens,
)
from commonplace.language.text.lexicon import parse_word_list
from commonplace.language.text.numbers import is_unit

_MAX_ALIGNED_TOKENS = 150  # longer texts are compared by their ends only, to stay linear
_LONGEST_VALUE = 5


@dataclass(frozen=True, slots=True)
class DifferingSpan:
    """A difference between two texts: tokens of one against tokens of the other."""

    old: tuple[CompareToken, ...]
    new: tuple[CompareToken, ...]
    at_old: int
    at_new: int


def align_tokens(
    old: Sequence[CompareToken], new: Sequence[CompareToken]
) -> tuple[list[DifferingSpan], int]:
    """Differing spans of two texts, and the number of common tokens."""
    spans: list[DifferingSpan] = []
    common = 0
    if len(old) > _MAX_ALIGNED_TOKENS or len(new) > _MAX_ALIGNED_TOKENS:
        return _align_ends(old, new)
    matcher = SequenceMatcher(None, [t.term for t in old], [t.term for t in new], autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal" or (j - i == m - k and all(map(is_same_term, old[i:j], new[k:m]))):
            common += j - i
        else:
            spans.append(DifferingSpan(tuple(old[i:j]), tuple(new[k:m]), i, k))
    return spans, common


def _align_ends(
    old: Sequence[CompareToken], new: Sequence[CompareToken]
) -> tuple[list[DifferingSpan], int]:
    """For long texts: a common prefix, a common suffix, and one span between."""
    shortest = min(len(old), len(new))
    start = 0
    while start < shortest and old[start].term == new[start].term:
        start += 1
    end = 0
    while end < shortest - start and old[-1 - end].term == new[-1 - end].term:
        end += 1
    span = DifferingSpan(
        tuple(old[start : len(old) - end]), tuple(new[start : len(new) - end]), start, start
    )
    shared = Counter(t.term for t in span.old) & Counter(t.term for t in span.new)
    return [span], start + end + shared.total() // 2


def common_share(spans: Sequence[DifferingSpan], common: int) -> float:
    """Share of common words, values excluded."""
    differing = sum(
        len([t for t in side if not t.is_value and t.kind is not CompareTokenKind.NAME])
        for span in spans
        if not (span.old and span.new and is_short_replacement(span))
        for side in (span.old, span.new)
    )
    return 2 * common / (2 * common + differing) if common else 0.0


def is_short_replacement(span: DifferingSpan) -> bool:
    """Short on both sides: one thing in place of another."""
    return 0 < len(span.old) <= _LONGEST_VALUE and 0 < len(span.new) <= _LONGEST_VALUE


_MIN_COMMON_SHARE = 0.34
_PURPOSE_WORDS = frozenset(parse_word_list("for para pour für per voor для"))
_MIN_SHARED_WORDS = 0.25  # share of common words
_MASK = "…"
_VERB_ROLES = frozenset(["copula", "called", "have", "verb", "past", "future", "maybe", "not"])
_CONDITION_TERMS = ("x:week:", "x:season:")


def compare_words(old: ParsedStatement, new: ParsedStatement) -> Comparison:
    """The verdict of an alignment of two texts."""
    if not old.content or not new.content:
        return Comparison(CompareVerdict.APART, "nothing to compare")
    if not unmatched_tokens(old.content, new.content) and not unmatched_tokens(
        new.content, old.content
    ):
        return compare_same_words(old, new)
    spans, common = align_tokens(old.content, new.content)
    alike = common_share(spans, common)
    verdict, reason = _compare_spans(old, new, spans, common, alike)
    masked = None
    if verdict is CompareVerdict.MASKED:
        masked = (
            _mask_spans(old.text, [s.old for s in spans]),
            _mask_spans(new.text, [s.new for s in spans]),
        )
    return Comparison(verdict, reason, masked, round(alike, 3))


def have_little_in_common(old: ParsedStatement, new: ParsedStatement) -> bool:
    """A cheap test by words, because most compared pairs are unrelated."""
    shared = len(old.vocabulary & new.vocabulary)
    return 2 * shared < _MIN_SHARED_WORDS * (len(old.vocabulary) + len(new.vocabulary))


def _compare_spans(
    old: ParsedStatement,
    new: ParsedStatement,
    spans: list[DifferingSpan],
    common: int,
    alike: float,
) -> tuple[CompareVerdict, str]:
    replaced = [span for span in spans if span.old and span.new]
    if alike < _MIN_COMMON_SHARE or not common:
        return _compare_unrelated(old, new)
    if old.modes != new.modes and not _gives_reason(old, new, spans):
        return CompareVerdict.BOTH, "said of another time"
    subjects = _subject_end(old), _subject_end(new)
    spans = [part for span in spans for part in _split_at_verb(span, subjects)]
    spans = [span for span in spans if not _is_role(old, span, subjects[0])]
    replaced = [span for span in spans if span.old and span.new]
    for span in spans:
        limits = len(replaced) == 1 and _is_quantity_in_subject(old, span)
        if span.at_old < subjects[0] and span.at_new < subjects[1] and not limits:
            if replaced and span in replaced:
                return (
                    CompareVerdict.APART,
                    f"{tokens_text(span.old)} is not {tokens_text(span.new)}",
                )
            return CompareVerdict.BOTH, f"about {tokens_text(span.old or span.new)} or not"
    if old.negations != new.negations and not _gives_reason(old, new, spans):
        if not replaced and not _differs_in_tense(old, new, subjects):
            return CompareVerdict.CHANGED, "negated"
        return CompareVerdict.BOTH, "one affirmed, another denied"
    if not replaced:
        return _compare_one_sided(old, spans)
    return _compare_replaced(old, new, replaced, len(spans))


def _differs_in_tense(
    old: ParsedStatement, new: ParsedStatement, subjects: tuple[int, int]
) -> bool:
    """ "smoked in college", "does not smoke"; but "finished", "did not finish"."""
    if any(t.word == "did" for p in (old, new) for t in p.tokens):
        return False
    return is_past_event(old, subjects[0]) != is_past_event(new, subjects[1])


def _compare_unrelated(old: ParsedStatement, new: ParsedStatement) -> tuple[CompareVerdict, str]:
    if old.negations == new.negations and old.modes == new.modes:
        return CompareVerdict.OPEN, "other words"
    return CompareVerdict.APART, "other words, one denied"


def _gives_reason(old: ParsedStatement, new: ParsedStatement, spans: list[DifferingSpan]) -> bool:
    """Whether one text only adds "because …", which may refer to another time."""
    if all(span.new and not span.old for span in spans):
        return new.main == (old.negations, old.modes)
    if all(span.old and not span.new for span in spans):
        return old.main == (new.negations, new.modes)
    return False


def _split_at_verb(span: DifferingSpan, ends: tuple[int, int]) -> list[DifferingSpan]:
    """Split a span at its verb: subject and value both differ."""
    left, right = ends[0] - span.at_old, ends[1] - span.at_new
    if not (0 < left < len(span.old) and 0 < right < len(span.new)):
        return [span]
    return [
        DifferingSpan(span.old[:left], span.new[:right], span.at_old, span.at_new),
        DifferingSpan(span.old[left:], span.new[right:], span.at_old + left, span.at_new + right),
    ]


def _is_role(old: ParsedStatement, span: DifferingSpan, subject_end: int) -> bool:
    """ "My landlord", "my landlady": a role that another person may hold now."""
    if not len(span.old) == len(span.new) == 1 or span.at_old >= subject_end:
        return False
    return has_copula(old) and is_other_gender(span.old[0], span.new[0], old.language)


def _is_quantity_in_subject(old: ParsedStatement, span: DifferingSpan) -> bool:
    """ "claims over 200 dollars": a quantity in the subject is a value, not a name."""
    return (
        len(span.old) == len(span.new) == 1
        and span.old[0].kind is span.new[0].kind is CompareTokenKind.NUMBER
        and (span.old[0].term.startswith("q:") or _is_compared(old, span.old[0]))
    )


def _is_compared(parsed: ParsedStatement, token: CompareToken) -> bool:
    """ "over 200", "more than 5"."""
    before = [t for t in parsed.tokens if t.start < token.start][-2:]
    return any(t.role == "prep" or t.term.startswith(("x:amount:", "x:trend:")) for t in before)


def _compare_one_sided(
    old: ParsedStatement, spans: list[DifferingSpan]
) -> tuple[CompareVerdict, str]:
    known = load_wordings(old.language)
    first = spans[0].new or spans[0].old
    after_subject = spans[0].at_old == _subject_end(old) and spans[0].at_old < len(old.content)
    if after_subject and (first[0].role == "verb" or first[0].word in known):
        return CompareVerdict.BOTH, f"{tokens_text(first)} or not"  # "quit smoking", "smokes"
    if all(span.new for span in spans):
        return CompareVerdict.MORE, f"adds {tokens_text(spans[0].new)}"
    if all(span.old for span in spans):
        return CompareVerdict.LESS, f"leaves out {tokens_text(spans[0].old)}"
    return CompareVerdict.BOTH, "each says something the other does not"


def _compare_replaced(
    old: ParsedStatement, new: ParsedStatement, replaced: list[DifferingSpan], count: int
) -> tuple[CompareVerdict, str]:
    span = replaced[0]
    reason = f"{tokens_text(span.old)} → {tokens_text(span.new)}"
    if any(_is_conditional(old, s) for s in replaced):
        return CompareVerdict.BOTH, f"another condition: {reason}"
    if all(_is_date_change(s) for s in replaced):
        return CompareVerdict.BOTH, f"another date: {reason}"
    if any(_is_date_change(s) for s in replaced) or _differs_in_year(replaced):
        return CompareVerdict.BOTH, f"other dates: {reason}"
    if len(replaced) == 1 and count == 1 and _is_opposite(span):
        return CompareVerdict.CHANGED, reason
    if any(_is_predicate(old, s) for s in replaced):
        alone = len(replaced) == count == 1 and len(span.old) == len(span.new) == 1
        return CompareVerdict.BOTH if alone else CompareVerdict.OPEN, f"other verbs: {reason}"
    if not all(is_short_replacement(s) for s in replaced):
        return CompareVerdict.OPEN, "long parts differ"
    if any(_names_someone(s, old.language) for s in replaced[:-1]):
        return CompareVerdict.BOTH, f"about others: {reason}"
    counted = all(_is_exact_replacement(s) for s in replaced)
    if (
        not counted
        and is_past_event(old, _subject_end(old))
        and is_past_event(new, _subject_end(new))
    ):
        return CompareVerdict.BOTH, f"done more than once: {reason}"
    alone = len(replaced) == 1 and not _has_purpose(old, span)
    single = counted or (alone and holds_single_value(old, new, span.old, span.new))
    if not single and all(_is_adjective(old, s) for s in replaced):
        return CompareVerdict.OPEN, f"described otherwise: {reason}"
    if single:
        return CompareVerdict.MASKED, reason
    return CompareVerdict.BOTH, f"several can hold: {reason}"


def _has_purpose(old: ParsedStatement, span: DifferingSpan) -> bool:
    """ "uses Figma for design", "uses Miro for workshops": both hold, for different purposes."""
    first, last = span.old[0].start, span.old[-1].start
    return any(t.word in _PURPOSE_WORDS and first < t.start < last for t in old.tokens)


def _is_exact_replacement(span: DifferingSpan) -> bool:
    """A number, time, code or letter on both sides, or a different unit: "per minute"."""
    if (
        len(span.old) == len(span.new) == 1
        and is_unit(span.old[0].word)
        and is_unit(span.new[0].word)
    ):
        return True
    return any(map(_is_exact, span.old)) and any(map(_is_exact, span.new))


def _is_exact(token: CompareToken) -> bool:
    return token.is_value or (len(token.term) == 1 and token.term.isalpha())


def _names_someone(span: DifferingSpan, language: str) -> bool:
    """If more than the last part differs, an earlier name identifies the person."""
    return any(is_name_token(token, language) for token in span.old)


def _is_conditional(old: ParsedStatement, span: DifferingSpan) -> bool:
    if any(t.term.startswith(_CONDITION_TERMS) for t in (*span.old, *span.new)):
        return True
    start = span.old[0].start
    opened = False  # by "when", until the next comma
    for token in old.tokens:
        if token.start >= start:
            break
        opened = token.role == "if" or (opened and token.text != ",")
    return opened


def _is_date_change(span: DifferingSpan) -> bool:
    return any(t.kind is CompareTokenKind.DATE for t in span.old) and any(
        t.kind is CompareTokenKind.DATE for t in span.new
    )


def _differs_in_year(replaced: Sequence[DifferingSpan]) -> bool:
    """ "2021 bei 2 Millionen", "2022 bei 3 Millionen": a different value with a different year."""
    years = any(any(map(_is_year, s.old)) and any(map(_is_year, s.new)) for s in replaced)
    return years and sum(len(s.old) for s in replaced) > 1


def _is_year(token: CompareToken) -> bool:
    return (
        token.kind is CompareTokenKind.NUMBER
        and token.text.isdigit()
        and token.text[:2] in ("19", "20")
        and len(token.text) == 4
    )


def _is_opposite(span: DifferingSpan) -> bool:
    """Antonyms from one row of the table: "open" and "closed"."""
    if len(span.old) != 1 or len(span.new) != 1:
        return False
    one, other = span.old[0].term, span.new[0].term
    if one.startswith("x:") and other.startswith("x:"):
        return one.split(":")[1] == other.split(":")[1]
    return _differs_in_negating_prefix(span.old[0].word, span.new[0].word)


def _differs_in_negating_prefix(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) > 3 and longer in {
        prefix + shorter for prefix in ("un", "in", "im", "dis", "non", "ir", "des", "des")
    }


def _subject_end(parsed: ParsedStatement) -> int:
    """Number of content tokens before the first verb; without a verb, after the first name or
    word."""
    known = load_wordings(parsed.language)
    content = parsed.content
    if not content:
        return 0
    title = parsed.text.find("\n")
    if title > 0:
        return sum(1 for t in content if t.start < title)
    if content[0].role == "verb" and is_instruction(parsed):
        return 1
    before = ""
    for token in parsed.tokens:
        is_verb = token.role in _VERB_ROLES or token.word in known
        noun = token.role not in ("copula", "called", "have") and before in (
            "article",
            "poss",
            "my",
        )
        before = token.role
        if (
            is_verb
            and not noun
            and token.start > content[0].start
            and token.kind is not CompareTokenKind.NAME
        ):
            return sum(1 for t in content if t.start < token.start)
    end = 1
    while end < len(content) - 1 and _continues_name(content[end - 1], content[end]):
        end += 1
    return end


def _continues_name(before: CompareToken, token: CompareToken) -> bool:
    """ "Flight LY315", "Dana Levi": a name or code that directly continues another."""
    return (
        token.kind in (CompareTokenKind.NAME, CompareTokenKind.CODE)
        and token.start - before.end <= 1
    )


def _is_predicate(old: ParsedStatement, span: DifferingSpan) -> bool:
    """The verb itself differs."""
    known = load_wordings(old.language)
    verbal = any(
        t.kind is CompareTokenKind.WORD and (t.role == "verb" or t.word in known) for t in span.old
    )
    if verbal and not _has_verb_before(old, span):
        return True
    end = _subject_end(old)
    is_imperative = old.content[0].role == "verb"  # "Use tabs": an imperative begins with its verb
    follows = span.at_old == end and not is_imperative and not has_copula(old)
    return follows and span.old[0].kind is CompareTokenKind.WORD and end < len(old.content) - 1


def _has_verb_before(old: ParsedStatement, span: DifferingSpan) -> bool:
    """ "commutes by train": "train" is not a verb there."""
    return any(
        token.role == "verb" or takes_single_value(old.language, token)
        for token in old.tokens
        if old.content[0].start < token.start < span.old[0].start
    )


def _is_adjective(old: ParsedStatement, span: DifferingSpan) -> bool:
    """A single word after "is": another description, which may hold as well."""
    if old.language in ("he", "ar") or len(span.old) != 1 or len(span.new) != 1:
        return False
    one, other = span.old[0], span.new[0]
    if one.kind is not CompareTokenKind.WORD or other.kind is not CompareTokenKind.WORD:
        return False
    before = [t for t in old.tokens if t.start < one.start]
    while before and before[-1].role in ("filler", "not"):
        before.pop()
    return bool(before) and before[-1].role == "copula" and before[-1].text not in (":", "=")


def _mask_spans(text: str, spans: Sequence[Sequence[CompareToken]]) -> str:
    pieces, at = [], 0
    for span in spans:
        if span and span[0].start >= at:
            pieces += [text[at : span[0].start], _MASK]
            at = span[-1].end
    return "".join([*pieces, text[at:]])

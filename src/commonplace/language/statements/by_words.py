"""Two texts compared word by word, where no frame tells."""

from collections.abc import Sequence

from commonplace.language.statements.align import Span, align, is_value, share_alike
from commonplace.language.statements.events import is_deed
from commonplace.language.statements.frames import wordings
from commonplace.language.statements.gender import other_gender
from commonplace.language.statements.lexicon import word_list
from commonplace.language.statements.numbers import is_unit
from commonplace.language.statements.parse import Parsed
from commonplace.language.statements.same_words import is_thing, links, same_bag
from commonplace.language.statements.slots import holds_one, is_order, takes_one
from commonplace.language.statements.terms import missing, told
from commonplace.language.statements.token import Kind, Token
from commonplace.language.statements.verdict import Comparison, Verdict

_TOO_FEW = 0.34
_FOR = frozenset(word_list("for para pour für per voor для"))
_STRANGERS = 0.25  # of the words in common
_MASK = "…"
_VERBS = frozenset(["copula", "called", "have", "verb", "past", "future", "maybe", "not"])
_CONDITIONS = ("x:week:", "x:season:")


def by_words(old: Parsed, new: Parsed) -> Comparison:
    """The verdict of an alignment of two texts."""
    if not old.content or not new.content:
        return Comparison(Verdict.APART, "nothing to compare")
    if not missing(old.content, new.content) and not missing(new.content, old.content):
        return same_bag(old, new)
    spans, common = align(old.content, new.content)
    alike = share_alike(spans, common)
    verdict, reason = _judge(old, new, spans, common, alike)
    masked = None
    if verdict is Verdict.MASKED:
        masked = (
            _masked(old.text, [s.old for s in spans]),
            _masked(new.text, [s.new for s in spans]),
        )
    return Comparison(verdict, reason, masked, round(alike, 3))


def have_little_in_common(old: Parsed, new: Parsed) -> bool:
    """Whether a look at the words is enough: most pairs that are compared are strangers."""
    shared = len(old.vocabulary & new.vocabulary)
    return 2 * shared < _STRANGERS * (len(old.vocabulary) + len(new.vocabulary))


def _judge(
    old: Parsed, new: Parsed, spans: list[Span], common: int, alike: float
) -> tuple[Verdict, str]:
    replaced = [span for span in spans if span.old and span.new]
    if alike < _TOO_FEW or not common:
        return _strangers(old, new)
    if old.modes != new.modes and not _gives_reason(old, new, spans):
        return Verdict.BOTH, "said of another time"
    subjects = _subject_end(old), _subject_end(new)
    spans = [part for span in spans for part in _split(span, subjects)]
    spans = [span for span in spans if not _is_role(old, span, subjects[0])]
    replaced = [span for span in spans if span.old and span.new]
    for span in spans:
        limits = len(replaced) == 1 and _limits(old, span)
        if span.at_old < subjects[0] and span.at_new < subjects[1] and not limits:
            if replaced and span in replaced:
                return Verdict.APART, f"{told(span.old)} is not {told(span.new)}"
            return Verdict.BOTH, f"about {told(span.old or span.new)} or not"
    if old.negations != new.negations and not _gives_reason(old, new, spans):
        if not replaced and not _other_tense(old, new, subjects):
            return Verdict.CHANGED, "negated"
        return Verdict.BOTH, "one affirmed, another denied"
    if not replaced:
        return _one_sided(old, spans)
    return _of_replaced(old, new, replaced, len(spans))


def _other_tense(old: Parsed, new: Parsed, subjects: tuple[int, int]) -> bool:
    """ "smoked in college", "does not smoke"; but "finished", "did not finish"."""
    if any(t.word == "did" for p in (old, new) for t in p.tokens):
        return False
    return is_deed(old, subjects[0]) != is_deed(new, subjects[1])


def _strangers(old: Parsed, new: Parsed) -> tuple[Verdict, str]:
    if old.negations == new.negations and old.modes == new.modes:
        return Verdict.OPEN, "other words"
    return Verdict.APART, "other words, one denied"


def _gives_reason(old: Parsed, new: Parsed, spans: list[Span]) -> bool:
    """The one adds only "because …", which may be of another time."""
    if all(span.new and not span.old for span in spans):
        return new.main == (old.negations, old.modes)
    if all(span.old and not span.new for span in spans):
        return old.main == (new.negations, new.modes)
    return False


def _split(span: Span, ends: tuple[int, int]) -> list[Span]:
    """A span that holds the verb, at it: the subject differs and the value as well."""
    left, right = ends[0] - span.at_old, ends[1] - span.at_new
    if not (0 < left < len(span.old) and 0 < right < len(span.new)):
        return [span]
    return [
        Span(span.old[:left], span.new[:right], span.at_old, span.at_new),
        Span(span.old[left:], span.new[right:], span.at_old + left, span.at_new + right),
    ]


def _is_role(old: Parsed, span: Span, subject_end: int) -> bool:
    """ "My landlord", "my landlady": the role that somebody else holds now."""
    if not len(span.old) == len(span.new) == 1 or span.at_old >= subject_end:
        return False
    return links(old) and other_gender(span.old[0], span.new[0], old.language)


def _limits(old: Parsed, span: Span) -> bool:
    """ "claims over 200 dollars": a quantity in the subject is a value, not a name."""
    return (
        len(span.old) == len(span.new) == 1
        and span.old[0].kind is span.new[0].kind is Kind.NUMBER
        and (span.old[0].term.startswith("q:") or _is_compared(old, span.old[0]))
    )


def _is_compared(parsed: Parsed, token: Token) -> bool:
    """ "over 200", "more than 5"."""
    before = [t for t in parsed.tokens if t.start < token.start][-2:]
    return any(t.role == "prep" or t.term.startswith(("x:amount:", "x:trend:")) for t in before)


def _one_sided(old: Parsed, spans: list[Span]) -> tuple[Verdict, str]:
    known = wordings(old.language)
    first = spans[0].new or spans[0].old
    after_subject = spans[0].at_old == _subject_end(old) and spans[0].at_old < len(old.content)
    if after_subject and (first[0].role == "verb" or first[0].word in known):
        return Verdict.BOTH, f"{told(first)} or not"  # "quit smoking", "smokes"
    if all(span.new for span in spans):
        return Verdict.MORE, f"adds {told(spans[0].new)}"
    if all(span.old for span in spans):
        return Verdict.LESS, f"leaves out {told(spans[0].old)}"
    return Verdict.BOTH, "each says something the other does not"


def _of_replaced(old: Parsed, new: Parsed, replaced: list[Span], count: int) -> tuple[Verdict, str]:
    span = replaced[0]
    reason = f"{told(span.old)} → {told(span.new)}"
    if any(_conditional(old, s) for s in replaced):
        return Verdict.BOTH, f"another condition: {reason}"
    if all(_dates(s) for s in replaced):
        return Verdict.BOTH, f"another date: {reason}"
    if any(_dates(s) for s in replaced) or _other_years(replaced):
        return Verdict.BOTH, f"other dates: {reason}"
    if len(replaced) == 1 and count == 1 and _opposite(span):
        return Verdict.CHANGED, reason
    if any(_is_predicate(old, s) for s in replaced):
        alone = len(replaced) == count == 1 and len(span.old) == len(span.new) == 1
        return Verdict.BOTH if alone else Verdict.OPEN, f"other verbs: {reason}"
    if not all(is_value(s) for s in replaced):
        return Verdict.OPEN, "long parts differ"
    if any(_names_someone(s, old.language) for s in replaced[:-1]):
        return Verdict.BOTH, f"about others: {reason}"
    counted = all(_counts(s) for s in replaced)
    if not counted and is_deed(old, _subject_end(old)) and is_deed(new, _subject_end(new)):
        return Verdict.BOTH, f"done more than once: {reason}"
    alone = len(replaced) == 1 and not _for_another_end(old, span)
    single = counted or (alone and holds_one(old, new, span.old, span.new))
    if not single and all(_is_adjective(old, s) for s in replaced):
        return Verdict.OPEN, f"described otherwise: {reason}"
    if single:
        return Verdict.MASKED, reason
    return Verdict.BOTH, f"several can hold: {reason}"


def _for_another_end(old: Parsed, span: Span) -> bool:
    """ "uses Figma for design", "uses Miro for workshops": both, each for its own end."""
    first, last = span.old[0].start, span.old[-1].start
    return any(t.word in _FOR and first < t.start < last for t in old.tokens)


def _counts(span: Span) -> bool:
    """A number, time, code or letter on both sides, or another unit: "per minute"."""
    if (
        len(span.old) == len(span.new) == 1
        and is_unit(span.old[0].word)
        and is_unit(span.new[0].word)
    ):
        return True
    return any(map(_is_exact, span.old)) and any(map(_is_exact, span.new))


def _is_exact(token: Token) -> bool:
    return token.is_value or (len(token.term) == 1 and token.term.isalpha())


def _names_someone(span: Span, language: str) -> bool:
    """Where more than the last part differs, an earlier name says whom it is about."""
    return any(is_thing(token, language) for token in span.old)


def _conditional(old: Parsed, span: Span) -> bool:
    if any(t.term.startswith(_CONDITIONS) for t in (*span.old, *span.new)):
        return True
    start = span.old[0].start
    opened = False  # by "when", up to the next comma
    for token in old.tokens:
        if token.start >= start:
            break
        opened = token.role == "if" or (opened and token.text != ",")
    return opened


def _dates(span: Span) -> bool:
    return any(t.kind is Kind.DATE for t in span.old) and any(t.kind is Kind.DATE for t in span.new)


def _other_years(replaced: Sequence[Span]) -> bool:
    """ "2021 bei 2 Millionen", "2022 bei 3 Millionen": beside a year, another value."""
    years = any(any(map(_is_year, s.old)) and any(map(_is_year, s.new)) for s in replaced)
    return years and sum(len(s.old) for s in replaced) > 1


def _is_year(token: Token) -> bool:
    return (
        token.kind is Kind.NUMBER
        and token.text.isdigit()
        and token.text[:2] in ("19", "20")
        and len(token.text) == 4
    )


def _opposite(span: Span) -> bool:
    """One word of a row for another: "open" and "closed"."""
    if len(span.old) != 1 or len(span.new) != 1:
        return False
    one, other = span.old[0].term, span.new[0].term
    if one.startswith("x:") and other.startswith("x:"):
        return one.split(":")[1] == other.split(":")[1]
    return _negating_prefix(span.old[0].word, span.new[0].word)


def _negating_prefix(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) > 3 and longer in {
        prefix + shorter for prefix in ("un", "in", "im", "dis", "non", "ir", "des", "des")
    }


def _subject_end(parsed: Parsed) -> int:
    """How many content tokens stand before the first verb; without one, the first name or word."""
    known = wordings(parsed.language)
    content = parsed.content
    if not content:
        return 0
    title = parsed.text.find("\n")
    if title > 0:
        return sum(1 for t in content if t.start < title)
    if content[0].role == "verb" and is_order(parsed):
        return 1
    before = ""
    for token in parsed.tokens:
        is_verb = token.role in _VERBS or token.word in known
        noun = token.role not in ("copula", "called", "have") and before in (
            "article",
            "poss",
            "my",
        )
        before = token.role
        if is_verb and not noun and token.start > content[0].start and token.kind is not Kind.NAME:
            return sum(1 for t in content if t.start < token.start)
    end = 1
    while end < len(content) - 1 and _named_on(content[end - 1], content[end]):
        end += 1
    return end


def _named_on(before: Token, token: Token) -> bool:
    """ "Flight LY315", "Dana Levi": a name or a code that goes on without a word between."""
    return token.kind in (Kind.NAME, Kind.CODE) and token.start - before.end <= 1


def _is_predicate(old: Parsed, span: Span) -> bool:
    """The verb itself differs."""
    known = wordings(old.language)
    verbal = any(t.kind is Kind.WORD and (t.role == "verb" or t.word in known) for t in span.old)
    if verbal and not _has_verb_before(old, span):
        return True
    end = _subject_end(old)
    orders = old.content[0].role == "verb"  # "Use tabs": its verb came first
    follows = span.at_old == end and not orders and not links(old)
    return follows and span.old[0].kind is Kind.WORD and end < len(old.content) - 1


def _has_verb_before(old: Parsed, span: Span) -> bool:
    """ "commutes by train": a train is no verb there."""
    return any(
        token.role == "verb" or takes_one(old.language, token)
        for token in old.tokens
        if old.content[0].start < token.start < span.old[0].start
    )


def _is_adjective(old: Parsed, span: Span) -> bool:
    """A single plain word after "is": another description, which may be true as well."""
    if old.language in ("he", "ar") or len(span.old) != 1 or len(span.new) != 1:
        return False
    one, other = span.old[0], span.new[0]
    if one.kind is not Kind.WORD or other.kind is not Kind.WORD:
        return False
    before = [t for t in old.tokens if t.start < one.start]
    while before and before[-1].role in ("filler", "not"):
        before.pop()
    return bool(before) and before[-1].role == "copula" and before[-1].text not in (":", "=")


def _masked(text: str, spans: Sequence[Sequence[Token]]) -> str:
    pieces, at = [], 0
    for span in spans:
        if span and span[0].start >= at:
            pieces += [text[at : span[0].start], _MASK]
            at = span[-1].end
    return "".join([*pieces, text[at:]])

"""Parsed statements, the verdicts on two of them, and comparison of equal words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from commonplace.language.compare.claims import StatementClaim, extract_claims
from commonplace.language.compare.frames import load_nouns, load_wordings
from commonplace.language.compare.tokenizer import stem_of, tokenize
from commonplace.language.compare.tokens import (
    OWNER_TERM,
    TITLE_PREFIX,
    CompareToken,
    CompareTokenKind,
    is_same_term,
)
from commonplace.language.text.lexicon import parse_word_list
from commonplace.language.text.normalise import fold


class CompareVerdict(StrEnum):
    """Relation of a new text to an old one."""

    EQUAL = "equal"  # the same words
    SAME = "same"  # different words, same meaning
    MORE = "more"  # all of the old text, and more
    LESS = "less"  # a part of the old text
    CHANGED = "changed"  # same subject, different value; proven by a frame or an antonym
    MASKED = "masked"  # values differ; changed if the rest is similar enough
    BOTH = "both"  # both can be true
    APART = "apart"  # unrelated
    OPEN = "open"  # undecided by words; similarity decides


@dataclass(frozen=True, slots=True)
class Comparison:
    """A verdict with its reason, and the input for a similarity decision."""

    verdict: CompareVerdict
    reason: str
    masked: tuple[str, str] | None = None
    words_alike: float = 0.0  # share of common words outside the differing values


ALIKE_VERDICTS = frozenset(
    {
        CompareVerdict.EQUAL,
        CompareVerdict.SAME,
        CompareVerdict.MORE,
        CompareVerdict.LESS,
        CompareVerdict.OPEN,
    }
)


# Languages with a future-tense ending.
_FUTURE_ENDING = {
    "es": re.compile(r"\w{2,}[aeid]r(?:é|á|án|emos)"),
    "pt": re.compile(r"\w{2,}[aei]r(?:ei|á|ão)"),
    "fr": re.compile(r"\w{3,}(?:er|ir|dr)(?:ai|a|ont|ons)"),
    "it": re.compile(r"\w{2,}[ei]r(?:ò|à|anno)"),
}
_REASON_WORDS = frozenset(
    parse_word_list("because since parce car porque weil denn perché omdat כי потому لان")
)
_MAX_CLAIM_TOKENS = 400  # longer text is not a single statement


@dataclass(frozen=True, slots=True)
class ParsedStatement:
    """A text prepared for comparison."""

    text: str
    folded: str  # equal in a repeated text
    language: str
    tokens: tuple[CompareToken, ...]
    content: tuple[CompareToken, ...]  # tokens with a meaning
    claims: tuple[StatementClaim, ...]
    negations: int  # number of negated parts
    modes: frozenset[str]
    main: tuple[int, frozenset[str]]  # negations and modes before "because"
    vocabulary: frozenset[str]  # its terms, without the speaker
    protected: tuple[CompareToken, ...]  # must not differ in equal statements
    counted: tuple[str, ...]  # the words after numbers

    @property
    def terms(self) -> tuple[str, ...]:
        return tuple(token.term for token in self.content)


@lru_cache(maxsize=4_096)
def parse_statement(text: str, language: str) -> ParsedStatement:
    tokens = tokenize(text, language)
    content = tuple(t for t in tokens if t.term and t.term[0] not in "~¬")
    claims = extract_claims(tokens, language) if len(tokens) <= _MAX_CLAIM_TOKENS else ()
    counted_modes = _negations(tokens), _modes(tokens, language)
    return ParsedStatement(
        text=text,
        folded=fold(text),
        language=language,
        tokens=tokens,
        content=content,
        claims=claims,
        negations=counted_modes[0],
        modes=counted_modes[1],
        main=_before_reason(tokens, language) or counted_modes,
        vocabulary=frozenset(t.term for t in content if t.kind is not CompareTokenKind.NUMBER)
        - {OWNER_TERM},
        protected=_protected(content, language),
        counted=_counted(content),
    )


def _protected(content: tuple[CompareToken, ...], language: str) -> tuple[CompareToken, ...]:
    opening, naming = load_wordings(language), load_nouns(language)
    return tuple(
        token
        for token in content
        if is_protected(token, language)
        and (token.is_value or not (token.word in opening or token.word in naming))
    )


def _counted(content: tuple[CompareToken, ...]) -> tuple[str, ...]:
    return tuple(
        content[at + 1].word
        for at in range(len(content) - 1)
        if content[at].kind is CompareTokenKind.NUMBER and content[at].term == content[at].bare
    )


def _before_reason(
    tokens: tuple[CompareToken, ...], language: str
) -> tuple[int, frozenset[str]] | None:
    """Negations and modes before "because"; None if no reason is given."""
    reason = next((n for n, t in enumerate(tokens) if t.word in _REASON_WORDS), None)
    if reason is None:
        return None
    return _negations(tokens[:reason]), _modes(tokens[:reason], language)


def _modes(tokens: tuple[CompareToken, ...], language: str) -> frozenset[str]:
    """Past, future or possible; "was" in a passive is not past."""
    found = {token.role for token in tokens} & {"past", "future", "maybe"}
    if any(token.role == "by" for token in tokens):
        found.discard("past")
    future = _FUTURE_ENDING.get(language)
    if future and any(future.fullmatch(t.word) for t in tokens if t.kind is CompareTokenKind.WORD):
        found.add("future")
    return frozenset(found)


def _negations(tokens: tuple[CompareToken, ...]) -> int:
    """Number of negated parts: "ne … pas" and "non … mai" count once."""
    count, denied = 0, False
    for token in tokens:
        if token.kind is CompareTokenKind.MARK and token.text in ".,;!?\n":
            denied = False
        elif token.role == "not":
            count += not denied
            denied = True
    return count


def is_protected(token: CompareToken, language: str) -> bool:
    """Whether a token must not differ between equal statements.

    In scripts without capitals, any word may be a name.
    """
    if (
        token.is_value
        or token.kind is CompareTokenKind.NAME
        or token.term.startswith(("x:", TITLE_PREFIX))
    ):
        return True
    if len(token.term) == 1:
        return True  # "plan b"
    return language in ("he", "ar") and token.role != "verb"


def compare_same_words(old: ParsedStatement, new: ParsedStatement) -> Comparison:
    """The verdict on equal words: by order, negation and tense."""
    if old.modes != new.modes:
        return Comparison(CompareVerdict.BOTH, "said of another time", words_alike=1.0)
    if old.negations != new.negations:
        return Comparison(CompareVerdict.CHANGED, "negated", words_alike=1.0)
    if (
        _is_same_order(old.content, new.content)
        or _is_reordered(old, new)
        or _terms_with_sorted_lists(old) == _terms_with_sorted_lists(new)
    ):
        return Comparison(CompareVerdict.SAME, "the same words", words_alike=1.0)
    return Comparison(
        CompareVerdict.BOTH, "the same words, with their parts swapped", words_alike=1.0
    )


def _terms_with_sorted_lists(parsed: ParsedStatement) -> list[str]:
    """Terms with lists sorted: "A and B" equals "B and A"."""
    terms = [t.term for t in parsed.content]
    joints = {t.start for t in parsed.tokens if t.role == "and"}
    hebrew = parsed.language == "he"
    for at in range(1, len(terms)):
        one, other = parsed.content[at - 1], parsed.content[at]
        joined = any(one.end <= start < other.start for start in joints)
        if hebrew and other.word[:1] == "ו" and len(other.word) > 2:
            joined, terms[at] = True, stem_of(other.word[1:], "he")
        if joined:
            terms[at - 1 : at + 1] = sorted(terms[at - 1 : at + 1])
    return terms


def _is_same_order(old: Sequence[CompareToken], new: Sequence[CompareToken]) -> bool:
    return len(old) == len(new) and all(map(is_same_term, old, new))


def _is_reordered(old: ParsedStatement, new: ParsedStatement) -> bool:
    """One part is moved ("On Mondays Dana swims"), or the passive reverses the order."""
    before, after = [t.term for t in old.content], [t.term for t in new.content]
    if sorted(before) != sorted(after):
        return False
    passive = _is_passive(old) != _is_passive(new)
    # A capital at the start of a text is no evidence of a name; the other text may have it.
    known = {t.term for p in (old, new) for t in p.content if is_name_token(t, p.language)}
    names = [term for term in before if term in known]
    names_after = [term for term in after if term in known]
    if passive:
        return len(names) < 2 or names[0] != names_after[0]
    linked = has_copula(old) and has_copula(new)
    if linked:
        turned = len(names) < 2 or names != names_after
        return _copula_sides(old, turned) == _copula_sides(new, turned)
    if names != names_after:
        return False
    size = len(before)
    start = 0
    while before[start] == after[start]:
        start += 1
    end = size
    while before[end - 1] == after[end - 1]:
        end -= 1
    middle, moved = before[start:end], after[start:end]
    rotations = (middle[n:] + middle[:n] for n in range(1, len(middle)))
    is_rotated = any(rotation == moved for rotation in rotations)
    # After the verb, exchanged parts change the meaning: "tea to coffee", "coffee to tea".
    to_the_front = start == 0 and len(middle) > 2
    return is_rotated and (to_the_front or any(t.is_value for t in old.content[start:end]))


def _copula_sides(parsed: ParsedStatement, turned: bool) -> list[list[str]]:
    """The two sides of "is", in either order; a date may be on either.

    "Laura's father is Ken" means that Ken is Laura's father, not that Laura is Ken's. If the parts
    are reversed, it matters which of them follows the other.
    """
    sides: list[list[str]] = [[], []]
    linked = False
    for at, token in enumerate(parsed.tokens):
        following = parsed.tokens[at + 1 : at + 2]
        if token.role in ("copula", "called"):
            linked = True
        elif turned and token.role in ("prep", "by") and not any(t.is_value for t in following):
            sides[linked].append(token.word)
        elif token.term and not token.is_value:
            sides[linked].append(token.term)
    return sorted(map(sorted, sides))


def is_name_token(token: CompareToken, language: str) -> bool:
    return token.kind is CompareTokenKind.NAME or (
        language in ("he", "ar") and token.kind is CompareTokenKind.WORD
    )


def has_copula(parsed: ParsedStatement) -> bool:
    return any(token.role in ("copula", "called") for token in parsed.tokens)


def _is_passive(parsed: ParsedStatement) -> bool:
    return any(token.role == "by" for token in parsed.tokens)

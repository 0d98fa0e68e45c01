"""A text read once: its tokens, what it claims, and what in it must not differ."""

import re
from dataclasses import dataclass
from functools import lru_cache

from commonplace.language.normalise import fold
from commonplace.language.statements.claims import Claim, claims_of
from commonplace.language.statements.frames import nouns, wordings
from commonplace.language.statements.lexicon import word_list
from commonplace.language.statements.read import read
from commonplace.language.statements.titles import TITLE
from commonplace.language.statements.token import Kind, Token

# Languages that say the future by an ending.
_FUTURE = {
    "es": re.compile(r"\w{2,}[aeid]r(?:é|á|án|emos)"),
    "pt": re.compile(r"\w{2,}[aei]r(?:ei|á|ão)"),
    "fr": re.compile(r"\w{3,}(?:er|ir|dr)(?:ai|a|ont|ons)"),
    "it": re.compile(r"\w{2,}[ei]r(?:ò|à|anno)"),
}
_REASONS = frozenset(
    word_list("because since parce car porque weil denn perché omdat כי потому لان")
)
_MANY_TOKENS = 400  # a text this long is no single statement


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text as it is compared."""

    text: str
    folded: str  # what is equal in a repeat
    language: str
    tokens: tuple[Token, ...]
    content: tuple[Token, ...]  # the tokens that say something
    claims: tuple[Claim, ...]
    negations: int  # parts that are denied
    modes: frozenset[str]
    main: tuple[int, frozenset[str]]  # negations and modes before "because"
    vocabulary: frozenset[str]  # what it speaks of, but for the speaker
    protected: tuple[Token, ...]  # of these none may differ in what is the same
    counted: tuple[str, ...]  # the words behind numbers

    @property
    def terms(self) -> tuple[str, ...]:
        return tuple(token.term for token in self.content)


@lru_cache(maxsize=4_096)
def parse(text: str, language: str) -> Parsed:
    """The text read in a language."""
    tokens = read(text, language)
    content = tuple(t for t in tokens if t.term and t.term[0] not in "~¬")
    claims = claims_of(tokens, language) if len(tokens) <= _MANY_TOKENS else ()
    told = _negations(tokens), _modes(tokens, language)
    return Parsed(
        text=text,
        folded=fold(text),
        language=language,
        tokens=tokens,
        content=content,
        claims=claims,
        negations=told[0],
        modes=told[1],
        main=_main(tokens, language) or told,
        vocabulary=frozenset(t.term for t in content if t.kind is not Kind.NUMBER) - {"@me"},
        protected=_protected(content, language),
        counted=_counted(content),
    )


def _protected(content: tuple[Token, ...], language: str) -> tuple[Token, ...]:
    opening, naming = wordings(language), nouns(language)
    return tuple(
        token
        for token in content
        if is_protected(token, language)
        and (token.is_value or not (token.word in opening or token.word in naming))
    )


def _counted(content: tuple[Token, ...]) -> tuple[str, ...]:
    return tuple(
        content[at + 1].word
        for at in range(len(content) - 1)
        if content[at].kind is Kind.NUMBER and content[at].term == content[at].bare
    )


def _main(tokens: tuple[Token, ...], language: str) -> tuple[int, frozenset[str]] | None:
    """Negations and modes before "because"; None where no reason is given."""
    reason = next((n for n, t in enumerate(tokens) if t.word in _REASONS), None)
    if reason is None:
        return None
    return _negations(tokens[:reason]), _modes(tokens[:reason], language)


def _modes(tokens: tuple[Token, ...], language: str) -> frozenset[str]:
    """What was, will be or might be; "was" in the passive says only who did it."""
    found = {token.role for token in tokens} & {"past", "future", "maybe"}
    if any(token.role == "by" for token in tokens):
        found.discard("past")
    future = _FUTURE.get(language)
    if future and any(future.fullmatch(t.word) for t in tokens if t.kind is Kind.WORD):
        found.add("future")
    return frozenset(found)


def _negations(tokens: tuple[Token, ...]) -> int:
    """How many parts of the text are denied: "ne … pas" and "non … mai" deny once."""
    count, denied = 0, False
    for token in tokens:
        if token.kind is Kind.MARK and token.text in ".,;!?\n":
            denied = False
        elif token.role == "not":
            count += not denied
            denied = True
    return count


def is_protected(token: Token, language: str) -> bool:
    """Tokens of which none may differ where two texts are taken for the same.

    Scripts without capital letters show no names: there every word may be one.
    """
    if token.is_value or token.kind is Kind.NAME or token.term.startswith(("x:", TITLE)):
        return True
    if len(token.term) == 1:
        return True  # "plan b"
    return language in ("he", "ar") and token.role != "verb"

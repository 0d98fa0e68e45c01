"""Whether a text tells what somebody did: a deed does not undo the one before it."""

import re

from commonplace.language.statements.parse import Parsed
from commonplace.language.statements.past_forms import is_deed_word
from commonplace.language.statements.slots import words_of
from commonplace.language.statements.token import Kind, Token

# Endings of participles after "have": "a planté", "hat gebaut", "ha scritto".
_PARTICIPLE = {
    "fr": re.compile(r"\w{2,}(?:é|ée|és|i|u|is|it|ert)"),
    "de": re.compile(r"(?:\w*ge\w+|be\w+|ver\w+|er\w+|ent\w+|zer\w+)(?:t|en)"),
    "it": re.compile(r"\w{2,}(?:ato|ito|uto|sto|tto|rso|so)"),
    "es": re.compile(r"\w{2,}(?:ado|ido|cho|sto|rto)"),
    "nl": re.compile(r"(?:\w*ge\w+|be\w+|ver\w+|ont\w+)(?:t|d|en)"),
}


def is_deed(parsed: Parsed, predicate: int) -> bool:
    """Whether the verb tells a deed of the past; `predicate` is where content goes on after it."""
    language = parsed.language
    roles = {token.role for token in parsed.tokens}
    if language == "he" and _has_known_verb(parsed):
        return False
    if "copula" in roles or "called" in roles or "past" in roles:
        return False  # "was painted blue": how something is
    participle = _PARTICIPLE.get(language)
    if participle and "have" in roles:
        return any(participle.fullmatch(t.word) for t in parsed.content if t.kind is Kind.WORD)
    return any(is_deed_word(token.word, language) for token in _verbs(parsed, predicate))


def _has_known_verb(parsed: Parsed) -> bool:
    """A state or a verb in the present; any three letters may look like a deed."""
    known = words_of("he", "verbs") | words_of("he", "states")
    return any(token.word in known for token in parsed.content)


def _verbs(parsed: Parsed, predicate: int) -> list[Token]:
    """The words that can be the verb: after the subject, or the first where it holds the subject.

    Words with a known role are in the present, or no verbs.
    """
    content = parsed.content
    places = {0} if parsed.language == "ar" else {0, predicate}
    if parsed.language == "he" and not content[0].word.endswith(("נו", "תי")):
        places = {predicate}  # a name of three letters looks like a verb
    return [
        content[place]
        for place in sorted(places)
        if place < len(content) - 1 and content[place].kind is Kind.WORD and not content[place].role
    ]

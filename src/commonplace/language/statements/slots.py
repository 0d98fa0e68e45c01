"""Whether the place where two texts differ holds one value, so that another one replaces it.

Without a frame, little tells: numbers and codes, what "is" something or somewhere, some verbs, and
standing orders. All else that somebody does, has or wants may be said of several things.
"""

import re
from collections.abc import Sequence
from functools import cache

from commonplace.language.past import is_past
from commonplace.language.statements.frames import nouns
from commonplace.language.statements.lexicon import data, word_list
from commonplace.language.statements.parse import Parsed
from commonplace.language.statements.read import stem_of
from commonplace.language.statements.titles import TITLE
from commonplace.language.statements.token import Kind, Token
from commonplace.language.statements.where import is_where

_WALKED_OVER = frozenset(word_list("article filler prep of by not pron my aux past"))
_LINKS = frozenset({"copula", "called"})
_PERSONS = frozenset(
    word_list("child sibling friend colleague neighbour cousin partner married_to client manager")
)
_HAVE_NO_CAPITALS = frozenset({"he", "ar"})
_PARTICIPLE = {
    "en": re.compile(r"\w{2,}ed"),
    "es": re.compile(r"\w{2,}[ai]d[oa]s?"),
    "fr": re.compile(r"\w{2,}(?:é|ée|és|ées)"),
    "de": re.compile(r"(?:\w*ge\w+|be\w+|ver\w+|er\w+|ent\w+)(?:t|en)"),
    "it": re.compile(r"\w{2,}(?:at|it|ut)[oaie]"),
    "pt": re.compile(r"\w{2,}[ai]d[oa]s?"),
    "ru": re.compile(r"\w{2,}(?:ан|ен|ён)[аоы]?"),
}
# How an order begins where no subject does: "Répondre en français", «לענות בעברית».
_ORDER = {
    "es": re.compile(r"\w{2,}[aei]r"),
    "fr": re.compile(r"\w{2,}(?:er|ir|re)"),
    "it": re.compile(r"\w{2,}[aei]re"),
    "pt": re.compile(r"\w{2,}[aei]r"),
    "ru": re.compile(r"\w{2,}(?:[аяуюе]й|йте|ите)|\w{3,}ть"),
    "he": re.compile(r"ל[א-ת]{3,}"),
}
_PERSON = {
    "he": re.compile("(?<=...)(?:ים|ות|ת|ה)$"),
    "ru": re.compile("(?<=...)(?:[аяуюеёи]т|[ую]|[еи]м|ешь|ишь)(?:ся|сь)?$"),
}
_BY = frozenset(word_list("by door ידי"))  # that mean nothing else
_NO_SUBJECT = frozenset(word_list("article my me pron prep of have copula past future maybe"))


@cache
def words_of(language: str, column: str) -> frozenset[str]:
    """A column of single.toml."""
    return frozenset(word_list(data("single").get(language, {}).get(column, "")))


def holds_one(old: Parsed, new: Parsed, was: Sequence[Token], now: Sequence[Token]) -> bool:
    """Whether the place of these tokens is that of a single value, in both texts alike."""
    before, after = _untitled(was), _untitled(now)
    one, other = _leading(old, before), _leading(new, after)
    if not _same_lead(one, other):
        return False
    if one and one[0].role in _LINKS:
        return _after_link(old, new, one, before, after)
    if is_order(old):
        return _is_told_once(old, one, was)
    if one and (takes_one(old.language, one[0]) or _is_post(old, one[0])):
        return True
    if any(t.role == "by" and t.word in _BY for t in one[1:]):
        return True  # "is edited by", «נערך על ידי»
    return (
        _is_state(old, one)
        or _has_known_thing(old, before)
        or _is_kept_at(old, one)
        or (is_where(old, was) and is_where(new, now))
    )


def _untitled(value: Sequence[Token]) -> Token:
    return next((t for t in value if not t.term.startswith(TITLE)), value[0])


@cache
def _stems(language: str) -> frozenset[str]:
    return frozenset(_stem(word, language) for word in words_of(language, "verbs"))


def _stem(word: str, language: str) -> str:
    """A verb without its person: נמצאות, נמצא; лежат, лежит."""
    ending = _PERSON.get(language)
    return ending.sub("", word) if ending else stem_of(word, language)


def takes_one(language: str, verb: Token) -> bool:
    """A verb of single.toml, in any person."""
    if verb.word in words_of(language, "verbs"):
        return True
    return verb.kind is Kind.WORD and _stem(verb.word, language) in _stems(language)


def _is_kept_at(parsed: Parsed, lead: Sequence[Token]) -> bool:
    """«החשבון שלי בבנק לאומי»: where something of somebody's is, without a verb."""
    if parsed.language != "he" or not lead or lead[0].word[:1] != "ב":
        return False
    before = [t for t in parsed.tokens if t.end <= lead[0].start]
    return bool(before) and before[-1].role in ("my", "pron")


def _leading(parsed: Parsed, token: Token) -> list[Token]:
    """What leads to a place: the nearest that says something, and the small words after it."""
    passed = words_of("any", "titles") | words_of(parsed.language, "places")
    earlier = [
        t for t in parsed.tokens if t.start < token.start and (t.role or t.kind is not Kind.MARK)
    ]
    at = len(earlier) - 1
    while at > 0 and (earlier[at].role in _WALKED_OVER or earlier[at].word in passed):
        at -= 1
    return earlier[at:] if earlier else []


def _same_lead(one: Sequence[Token], other: Sequence[Token]) -> bool:
    """Both places follow the same verb, or both follow some form of "is"."""
    if not one or not other:
        return not one and not other
    linked = one[0].role in _LINKS and other[0].role in _LINKS
    return linked or one[0].term == other[0].term


def _after_link(
    old: Parsed, new: Parsed, lead: Sequence[Token], before: Token, after: Token
) -> bool:
    if any(t.role in ("prep", "by") for t in lead) or lead[0].text in (":", "="):
        return True  # "is under the mat", "wifi: Blue9"
    if lead[0].role == "called":
        return True
    subject = [t for t in old.tokens if t.end <= lead[0].start]
    if not _is_known_thing(old, subject):
        return False
    if any(t.word in words_of(old.language, "defining") for t in subject):
        return True  # "the default branch is main"
    plain = before.kind is Kind.WORD and after.kind is Kind.WORD
    return not plain or old.language in ("he", "ar", "ru") or len(lead) > 1


def _is_known_thing(parsed: Parsed, subject: Sequence[Token]) -> bool:
    """ "The theme of the party", "my gym": no name alone, nor a person of whom much is true."""
    known = nouns(parsed.language)
    for token in _head(subject):
        for noun in known.get(token.word, ()):
            if len(noun.parts) == 1 and noun.frame.name in _PERSONS:
                return False
    definite = words_of(parsed.language, "definite")
    if parsed.language in _HAVE_NO_CAPITALS or parsed.language == "ru":
        return sum(bool(t.term) for t in subject) > 1 or any(
            (t.word[:1] == "ה" or t.word[-1:] == "ي") and len(t.word) > 3 for t in subject
        )
    said = [t for t in subject if t.term]
    named_only = parsed.language != "de" and all(t.kind is Kind.NAME for t in said)
    if parsed.language == "de" and len(said) > 1:
        return True  # "Lenas Trainer"
    return any(t.word in definite or t.role == "poss" for t in subject) and not named_only


def _head(subject: Sequence[Token]) -> Sequence[Token]:
    """Of "my daughter's teacher" the teacher, of "the teacher of my daughter" too."""
    owners = [n for n, t in enumerate(subject) if t.role == "poss"]
    if owners:
        return subject[owners[-1] + 1 :]
    owned = next((n for n, t in enumerate(subject) if t.role == "of"), len(subject))
    return subject[:owned]


def _is_post(parsed: Parsed, token: Token) -> bool:
    """ "Dana is the head of sales": a person holds one such post."""
    known = nouns(parsed.language).get(token.word, ())
    return any(len(noun.parts) == 1 and noun.frame.roles for noun in known)


def _is_state(parsed: Parsed, lead: Sequence[Token]) -> bool:
    """ "is hosted on", «מבוטחת ב»: how something is kept, not what somebody is fond of."""
    word = lead[0].word if lead else ""
    language = parsed.language
    if word in words_of(language, "open"):
        return False
    if word in words_of(language, "states"):
        return True
    linked = (
        any(t.role in _LINKS and t.start < lead[0].start for t in parsed.tokens) if lead else False
    )
    shape = _PARTICIPLE.get(language)
    return linked and shape is not None and shape.fullmatch(word) is not None


def is_order(parsed: Parsed) -> bool:
    """ "Always reply in English", "Use tabs": nobody is named who does it."""
    first = next((t for t in parsed.tokens if t.kind is not Kind.MARK), None)
    if first is None:
        return False
    always = words_of(parsed.language, "always")
    told = [t for t in parsed.tokens if t.kind is Kind.WORD and t.word not in always]
    verb = told[0] if told else first
    if first.role in _NO_SUBJECT or verb.role in _NO_SUBJECT:
        return False
    shape = _ORDER.get(parsed.language)
    if verb.role == "verb" and verb is parsed.content[0]:
        return True
    if shape is not None and shape.fullmatch(verb.word):
        return not any(t.role == "have" or is_past(t.word) for t in parsed.tokens)
    standing = any(t.word in always for t in parsed.tokens)
    return standing and verb.kind is Kind.WORD and first.kind is Kind.WORD


def _is_told_once(parsed: Parsed, lead: Sequence[Token], span: Sequence[Token]) -> bool:
    """An order about how, where or for what; what else is to be done or avoided adds up.

    "Reply in English", "Use tabs for indentation", "Use metric units", "Keep answers short"; but
    "Use short sentences" and "Use lists" are both to be followed, and so is all that is forbidden.
    """
    value, verb = span[0], _order_verb(parsed)
    if parsed.negations:
        return False
    if any(t.role == "me" for t in parsed.tokens if verb.start < t.start < value.start):
        return True  # "Call me Dan"
    if _is_task(parsed) or _names_its_thing(parsed, lead, value):
        return False
    if any(t.role == "prep" for t in lead[1:]) or _is_prefixed(parsed, lead, value):
        return True
    if not lead or lead[0] is not verb:
        return bool(lead)
    return takes_one(parsed.language, verb) and span[-1].end < parsed.content[-1].start


def _is_prefixed(parsed: Parsed, lead: Sequence[Token], value: Token) -> bool:
    """«לענות בעברית»; what is used has the same prefix in Hebrew, and says nothing of how."""
    if parsed.language != "he" or value.word[:1] not in ("ב", "ל") or not lead:
        return False
    return "שתמש" not in lead[0].word


def _order_verb(parsed: Parsed) -> Token:
    always = words_of(parsed.language, "always")
    words = [t for t in parsed.tokens if t.kind is not Kind.MARK]
    return next((t for t in words if t.word not in always and t.role != "not"), words[0])


def _is_task(parsed: Parsed) -> bool:
    tasks = words_of(parsed.language, "tasks")
    return any(token.word in tasks for token in parsed.content[:2])


def _names_its_thing(parsed: Parsed, lead: Sequence[Token], value: Token) -> bool:
    """ "Water the ferns", "Water the roses": what is dealt with is another thing."""
    definite = words_of(parsed.language, "definite")
    prepared = any(t.role == "prep" for t in lead[1:])
    return not prepared and any(t.word in definite for t in lead[1:])


def _has_known_thing(parsed: Parsed, value: Token) -> bool:
    """ "hosts the website on Vercel", "takes her coffee black": one thing, done in one way."""
    definite = words_of(parsed.language, "definite")
    content = parsed.content
    if not content:
        return False
    opened = False
    for token in parsed.tokens:
        if token.start >= value.start:
            return False
        if token.start <= content[0].start:
            continue
        if opened and token.term and token.kind is not Kind.NAME:
            return any(t.term and t.start < token.start for t in content[1:])
        opened = token.word in definite
    return False

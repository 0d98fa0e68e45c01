"""Whether a position in a statement takes a single value, or several can hold at once.

Without a frame there are few indications: numbers and codes, what "is" something or somewhere, some
verbs, and standing instructions. Anything else that a person does, has or wants may hold of several
things.
"""

import re
from collections.abc import Sequence
from functools import cache

from commonplace.language.compare.frames import load_nouns
from commonplace.language.compare.statement import ParsedStatement
from commonplace.language.compare.tokenizer import stem_of
from commonplace.language.compare.tokens import TITLE_PREFIX, CompareToken, CompareTokenKind
from commonplace.language.text.lexicon import load_table, parse_word_list
from commonplace.language.text.sentences import is_past, is_past_verb

_HEBREW_PLACE_WORDS = frozenset(parse_word_list(load_table("single")["he"]["places"]))
_RUSSIAN_OPEN_VERBS = frozenset(parse_word_list(load_table("single")["ru"]["open"]))
_LOOKS_LIKE_A_VERB = re.compile(r"\w+(?:[аеиоуыюя]т|ла?|ли|ло|[ую]|[тс][ья]|ешь|ишь|ем|им)")


def is_location_clause(parsed: ParsedStatement, value: Sequence[CompareToken]) -> bool:
    """Whether the text ends with this place and has only a definite thing before it."""
    if value[-1] is not parsed.content[-1] or value[0].is_value:
        return False
    thing = [t for t in parsed.tokens if t.end <= value[0].start]
    if any(t.role in ("verb", "have", "copula", "not") for t in thing):
        return False
    if parsed.language == "he":
        return _opens_location(value[0], thing) and _is_definite_thing(thing)
    if parsed.language == "ar":
        named = len(thing) == 2 and thing[0].word.startswith("ال")  # «المفتاح تحت السجادة»
        return named and thing[1].role == "prep"
    if parsed.language == "ru":
        return thing[-1:] != [] and thing[-1].role == "prep" and _is_bare_noun(thing[:-1])
    return False


def _opens_location(first: CompareToken, before: Sequence[CompareToken]) -> bool:
    has_prefix = first.word[:1] == "ב" and len(first.word) > 2
    return (
        has_prefix
        or first.word in _HEBREW_PLACE_WORDS
        or (bool(before) and before[-1].role == "prep")
    )


def _is_definite_thing(thing: Sequence[CompareToken]) -> bool:
    """«המפתח הרזרבי», «הדרכון של דנה»: each word has its article, or follows "of"."""
    content = [t for t in thing if t.role != "prep"]
    if not content or content[0].word[:1] != "ה" or len(content[0].word) < 4:
        return False
    return all(
        t.word[:1] == "ה" or t.role in ("my", "pron", "of") or content[at - 1].role == "of"
        for at, t in enumerate(content)
    )


def _is_bare_noun(thing: Sequence[CompareToken]) -> bool:
    plain = [
        t for t in thing if t.term and t.kind in (CompareTokenKind.WORD, CompareTokenKind.NAME)
    ]
    named = len(plain) == 1 and plain[0].kind is CompareTokenKind.NAME and plain[0].start > 0
    verbal = any(
        t.word in _RUSSIAN_OPEN_VERBS or _LOOKS_LIKE_A_VERB.fullmatch(t.word) for t in plain
    )
    return bool(plain) and not named and not verbal


_SKIPPED_ROLES = frozenset(parse_word_list("article filler prep of by not pron my aux past"))
_LINK_ROLES = frozenset({"copula", "called"})
_PERSON_FRAMES = frozenset(
    parse_word_list(
        "child sibling friend colleague neighbour cousin partner married_to client manager"
    )
)
_HAVE_NO_CAPITALS = frozenset({"he", "ar"})
_STATE_PARTICIPLE = {
    "en": re.compile(r"\w{2,}ed"),
    "es": re.compile(r"\w{2,}[ai]d[oa]s?"),
    "fr": re.compile(r"\w{2,}(?:é|ée|és|ées)"),
    "de": re.compile(r"(?:(?>\w*?ge)\w+|be\w+|ver\w+|er\w+|ent\w+)(?:t|en)"),
    "it": re.compile(r"\w{2,}(?:at|it|ut)[oaie]"),
    "pt": re.compile(r"\w{2,}[ai]d[oa]s?"),
    "ru": re.compile(r"\w{2,}(?:ан|ен|ён)[аоы]?"),
}
# Forms of instructions without a subject: "Répondre en français", «לענות בעברית».
_INSTRUCTION_VERB = {
    "es": re.compile(r"\w{2,}[aei]r"),
    "fr": re.compile(r"\w{2,}(?:er|ir|re)"),
    "it": re.compile(r"\w{2,}[aei]re"),
    "pt": re.compile(r"\w{2,}[aei]r"),
    "ru": re.compile(r"\w{2,}(?:[аяуюе]й|йте|ите)|\w{3,}ть"),
    "he": re.compile(r"ל[א-ת]{3,}"),
}
_PERSON_ENDING = {
    "he": re.compile("(?<=...)(?:ים|ות|ת|ה)$"),
    "ru": re.compile("(?<=...)(?:[аяуюеёи]т|[ую]|[еи]м|ешь|ишь)(?:ся|сь)?$"),
}
_PASSIVE_BY = frozenset(parse_word_list("by door ידי"))  # unambiguous
_SUBJECTLESS_ROLES = frozenset(
    parse_word_list("article my me pron prep of have copula past future maybe")
)


@cache
def single_value_words(language: str, column: str) -> frozenset[str]:
    return frozenset(parse_word_list(load_table("single").get(language, {}).get(column, "")))


def holds_single_value(
    old: ParsedStatement,
    new: ParsedStatement,
    was: Sequence[CompareToken],
    now: Sequence[CompareToken],
) -> bool:
    """Whether these tokens are a single value in both texts."""
    before, after = _first_untitled(was), _first_untitled(now)
    one, other = _leading_tokens(old, before), _leading_tokens(new, after)
    if not _has_same_lead(one, other):
        return False
    if one and one[0].role in _LINK_ROLES:
        return _is_single_after_copula(old, new, one, before, after)
    if is_instruction(old):
        return _is_single_instruction(old, one, was)
    if one and (takes_single_value(old.language, one[0]) or _is_post(old, one[0])):
        return True
    if any(t.role == "by" and t.word in _PASSIVE_BY for t in one[1:]):
        return True  # "is edited by", «נערך על ידי»
    return (
        _is_state(old, one)
        or _has_definite_object(old, before)
        or _is_hebrew_location(old, one)
        or (is_location_clause(old, was) and is_location_clause(new, now))
    )


def _first_untitled(value: Sequence[CompareToken]) -> CompareToken:
    return next((t for t in value if not t.term.startswith(TITLE_PREFIX)), value[0])


@cache
def _stems(language: str) -> frozenset[str]:
    return frozenset(_stem(word, language) for word in single_value_words(language, "verbs"))


def _stem(word: str, language: str) -> str:
    """A verb without its person ending: נמצאות, נמצא; лежат, лежит."""
    ending = _PERSON_ENDING.get(language)
    return ending.sub("", word) if ending else stem_of(word, language)


def takes_single_value(language: str, verb: CompareToken) -> bool:
    """A verb of single.toml, in any person."""
    if verb.word in single_value_words(language, "verbs"):
        return True
    return verb.kind is CompareTokenKind.WORD and _stem(verb.word, language) in _stems(language)


def _is_hebrew_location(parsed: ParsedStatement, lead: Sequence[CompareToken]) -> bool:
    """«החשבון שלי בבנק לאומי»: the location of a possessed thing, without a verb."""
    if parsed.language != "he" or not lead or lead[0].word[:1] != "ב":
        return False
    before = [t for t in parsed.tokens if t.end <= lead[0].start]
    return bool(before) and before[-1].role in ("my", "pron")


def _leading_tokens(parsed: ParsedStatement, token: CompareToken) -> list[CompareToken]:
    """Tokens before a position: the last content token, and the function words after it."""
    passed = single_value_words("any", "titles") | single_value_words(parsed.language, "places")
    earlier = [
        t
        for t in parsed.tokens
        if t.start < token.start and (t.role or t.kind is not CompareTokenKind.MARK)
    ]
    at = len(earlier) - 1
    while at > 0 and (earlier[at].role in _SKIPPED_ROLES or earlier[at].word in passed):
        at -= 1
    return earlier[at:] if earlier else []


def _has_same_lead(one: Sequence[CompareToken], other: Sequence[CompareToken]) -> bool:
    """Both follow the same verb, or both follow a form of "is"."""
    if not one or not other:
        return not one and not other
    linked = one[0].role in _LINK_ROLES and other[0].role in _LINK_ROLES
    return linked or one[0].term == other[0].term


def _is_single_after_copula(
    old: ParsedStatement,
    new: ParsedStatement,
    lead: Sequence[CompareToken],
    before: CompareToken,
    after: CompareToken,
) -> bool:
    if any(t.role in ("prep", "by") for t in lead) or lead[0].text in (":", "="):
        return True  # "is under the mat", "wifi: Blue9"
    if lead[0].role == "called":
        return True
    subject = [t for t in old.tokens if t.end <= lead[0].start]
    if not _is_known_thing(old, subject):
        return False
    if any(t.word in single_value_words(old.language, "defining") for t in subject):
        return True  # "the default branch is main"
    plain = before.kind is CompareTokenKind.WORD and after.kind is CompareTokenKind.WORD
    return not plain or old.language in ("he", "ar", "ru") or len(lead) > 1


def _is_known_thing(parsed: ParsedStatement, subject: Sequence[CompareToken]) -> bool:
    """ "The theme of the party", "my gym": not a name alone, nor a person, who may have many
    descriptions."""
    known = load_nouns(parsed.language)
    for token in _head(subject):
        for noun in known.get(token.word, ()):
            if len(noun.parts) == 1 and noun.frame.name in _PERSON_FRAMES:
                return False
    definite = single_value_words(parsed.language, "definite")
    if parsed.language in _HAVE_NO_CAPITALS or parsed.language == "ru":
        return sum(bool(t.term) for t in subject) > 1 or any(
            (t.word[:1] == "ה" or t.word[-1:] == "ي") and len(t.word) > 3 for t in subject
        )
    terms = [t for t in subject if t.term]
    named_only = parsed.language != "de" and all(t.kind is CompareTokenKind.NAME for t in terms)
    if parsed.language == "de" and len(terms) > 1:
        return True  # "Lenas Trainer"
    return any(t.word in definite or t.role == "poss" for t in subject) and not named_only


def _head(subject: Sequence[CompareToken]) -> Sequence[CompareToken]:
    """The teacher, in "my daughter's teacher" and in "the teacher of my daughter"."""
    owners = [n for n, t in enumerate(subject) if t.role == "poss"]
    if owners:
        return subject[owners[-1] + 1 :]
    owned = next((n for n, t in enumerate(subject) if t.role == "of"), len(subject))
    return subject[:owned]


def _is_post(parsed: ParsedStatement, token: CompareToken) -> bool:
    """ "Dana is the head of sales": a person holds one such post."""
    known = load_nouns(parsed.language).get(token.word, ())
    return any(len(noun.parts) == 1 and noun.frame.roles for noun in known)


def _is_state(parsed: ParsedStatement, lead: Sequence[CompareToken]) -> bool:
    """ "is hosted on", «מבוטחת ב»: a state of a thing, not a person's liking."""
    word = lead[0].word if lead else ""
    language = parsed.language
    if word in single_value_words(language, "open"):
        return False
    if word in single_value_words(language, "states"):
        return True
    linked = (
        any(t.role in _LINK_ROLES and t.start < lead[0].start for t in parsed.tokens)
        if lead
        else False
    )
    shape = _STATE_PARTICIPLE.get(language)
    return linked and shape is not None and shape.fullmatch(word) is not None


def is_instruction(parsed: ParsedStatement) -> bool:
    """ "Always reply in English", "Use tabs": no subject is named."""
    first = next((t for t in parsed.tokens if t.kind is not CompareTokenKind.MARK), None)
    if first is None:
        return False
    always = single_value_words(parsed.language, "always")
    words = [t for t in parsed.tokens if t.kind is CompareTokenKind.WORD and t.word not in always]
    verb = words[0] if words else first
    if first.role in _SUBJECTLESS_ROLES or verb.role in _SUBJECTLESS_ROLES:
        return False
    shape = _INSTRUCTION_VERB.get(parsed.language)
    if verb.role == "verb" and verb is parsed.content[0]:
        return True
    if shape is not None and shape.fullmatch(verb.word):
        return not any(t.role == "have" or is_past(t.word) for t in parsed.tokens)
    standing = any(t.word in always for t in parsed.tokens)
    return standing and verb.kind is CompareTokenKind.WORD and first.kind is CompareTokenKind.WORD


def _is_single_instruction(
    parsed: ParsedStatement, lead: Sequence[CompareToken], span: Sequence[CompareToken]
) -> bool:
    """Whether an instruction about manner, place or purpose has a single value.

    "Reply in English", "Use tabs for indentation", "Use metric units", "Keep answers short" do.
    "Use short sentences" and "Use lists" both hold, as do all prohibitions.
    """
    value, verb = span[0], _instruction_verb(parsed)
    if parsed.negations:
        return False
    if any(t.role == "me" for t in parsed.tokens if verb.start < t.start < value.start):
        return True  # "Call me Dan"
    if _is_task(parsed) or _names_its_object(parsed, lead, value):
        return False
    if any(t.role == "prep" for t in lead[1:]) or _is_prefixed(parsed, lead, value):
        return True
    if not lead or lead[0] is not verb:
        return bool(lead)
    return takes_single_value(parsed.language, verb) and span[-1].end < parsed.content[-1].start


def _is_prefixed(
    parsed: ParsedStatement, lead: Sequence[CompareToken], value: CompareToken
) -> bool:
    """«לענות בעברית»; the object of "use" has the same prefix in Hebrew, but is not a manner."""
    if parsed.language != "he" or value.word[:1] not in ("ב", "ל") or not lead:
        return False
    return "שתמש" not in lead[0].word


def _instruction_verb(parsed: ParsedStatement) -> CompareToken:
    always = single_value_words(parsed.language, "always")
    words = [t for t in parsed.tokens if t.kind is not CompareTokenKind.MARK]
    return next((t for t in words if t.word not in always and t.role != "not"), words[0])


def _is_task(parsed: ParsedStatement) -> bool:
    tasks = single_value_words(parsed.language, "tasks")
    return any(token.word in tasks for token in parsed.content[:2])


def _names_its_object(
    parsed: ParsedStatement, lead: Sequence[CompareToken], value: CompareToken
) -> bool:
    """ "Water the ferns", "Water the roses": different objects."""
    definite = single_value_words(parsed.language, "definite")
    prepared = any(t.role == "prep" for t in lead[1:])
    return not prepared and any(t.word in definite for t in lead[1:])


def _has_definite_object(parsed: ParsedStatement, value: CompareToken) -> bool:
    """ "hosts the website on Vercel", "takes her coffee black": one thing in one manner."""
    definite = single_value_words(parsed.language, "definite")
    content = parsed.content
    if not content:
        return False
    opened = False
    for token in parsed.tokens:
        if token.start >= value.start:
            return False
        if token.start <= content[0].start:
            continue
        if opened and token.term and token.kind is not CompareTokenKind.NAME:
            return any(t.term and t.start < token.start for t in content[1:])
        opened = token.word in definite
    return False


# Participle endings after "have": "a planté", "hat gebaut", "ha scritto".
_PERFECT_PARTICIPLE = {
    "fr": re.compile(r"\w{2,}(?:é|ée|és|i|u|is|it|ert)"),
    "de": re.compile(r"(?:(?>\w*?ge)\w+|be\w+|ver\w+|er\w+|ent\w+|zer\w+)(?:t|en)"),
    "it": re.compile(r"\w{2,}(?:ato|ito|uto|sto|tto|rso|so)"),
    "es": re.compile(r"\w{2,}(?:ado|ido|cho|sto|rto)"),
    "nl": re.compile(r"(?:(?>\w*?ge)\w+|be\w+|ver\w+|ont\w+)(?:t|d|en)"),
}


def is_past_event(parsed: ParsedStatement, predicate: int) -> bool:
    """Whether the verb is a past event; `predicate`: index of the content after the verb."""
    language = parsed.language
    roles = {token.role for token in parsed.tokens}
    if language == "he" and _has_known_verb(parsed):
        return False
    if "copula" in roles or "called" in roles or "past" in roles:
        return False  # "was painted blue": a state
    participle = _PERFECT_PARTICIPLE.get(language)
    if participle and "have" in roles:
        return any(
            participle.fullmatch(t.word) for t in parsed.content if t.kind is CompareTokenKind.WORD
        )
    return any(is_past_verb(token.word, language) for token in _possible_verbs(parsed, predicate))


def _has_known_verb(parsed: ParsedStatement) -> bool:
    """A state or a present-tense verb; any three Hebrew letters may look like a past verb."""
    known = single_value_words("he", "verbs") | single_value_words("he", "states")
    return any(token.word in known for token in parsed.content)


def _possible_verbs(parsed: ParsedStatement, predicate: int) -> list[CompareToken]:
    """Words that may be the verb: after the subject, or the first if it contains the subject.

    Words with a known role are in the present tense or not verbs.
    """
    content = parsed.content
    places = {0} if parsed.language == "ar" else {0, predicate}
    if parsed.language == "he" and not content[0].word.endswith(("נו", "תי")):
        places = {predicate}  # a name of three letters looks like a verb
    return [
        content[place]
        for place in sorted(places)
        if place < len(content) - 1
        and content[place].kind is CompareTokenKind.WORD
        and not content[place].role
    ]

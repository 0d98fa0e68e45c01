"""Claims of a statement: subject, predicate frame and value; job titles."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from commonplace.language.compare.frames import (
    PredicateFrame,
    WordingMatch,
    is_dropped,
    load_frames,
    load_nouns,
    load_wordings,
    match_wording,
)
from commonplace.language.compare.tokenizer import stem_of
from commonplace.language.compare.tokens import (
    OWNER_TERM,
    VALUE_KINDS,
    CompareToken,
    CompareTokenKind,
)
from commonplace.language.text.lexicon import load_table, parse_word_list
from commonplace.language.text.sentences import is_past, is_past_verb

# Endings that are rare in other words.
_JOB_ENDING = {
    "en": re.compile(r"\w{3,}(?:ologist|iatrist|graphist|icist|grapher|ician|smith|ographer)"),
    "es": re.compile(r"\w{3,}(?:ólog[oa]|iatra|ógraf[oa]|ecari[oa])"),
    "fr": re.compile(r"\w{3,}(?:ologue|iatre|icien|icienne|ographe)"),
    "de": re.compile(
        r"\w{3,}(?:loge|login|iker|ikerin|graf|grafin|arzt|ärztin|lehrer|lehrerin|meister"
        r"|meisterin|berater|beraterin|leiter|leiterin|ingenieur|ingenieurin|pfleger|pflegerin)"
    ),
    "it": re.compile(r"\w{3,}(?:olog[oa]|iatra|ografo)"),
    "pt": re.compile(r"\w{3,}(?:ólog[oa]|iatra|ógraf[oa])"),
    "ru": re.compile(r"\w{3,}(?:олог|иатр|ограф)(?:ом)?"),
}
_NOUN_FIRST_LANGUAGES = frozenset(
    {"es", "fr", "it", "pt", "he", "ar", "ru"}
)  # "ingeniera de caminos"


@cache
def _known_jobs(language: str) -> frozenset[str]:
    return frozenset(parse_word_list(load_table("jobs").get(language, "")))


def is_job(words: Sequence[str], language: str) -> bool:
    heads = words[:1] if language in _NOUN_FIRST_LANGUAGES else words
    shape = _JOB_ENDING.get(language)
    return any(word in _known_jobs(language) or (shape and shape.fullmatch(word)) for word in heads)


_STOPS = frozenset(".;!?\n")
_AUXILIARY_ROLES = frozenset(parse_word_list("aux copula called have past future maybe not filler"))
_LINK_ROLES = frozenset({"copula", "called"})
_TENSE_ROLES = frozenset({"past", "future", "maybe"})
_NAMED_FRAMES = frozenset({"pet"})  # several are possible, but each has one name
_TITLES = frozenset(parse_word_list(load_table("single")["any"]["titles"]))
_OWNER_FOLLOWS = frozenset({"he", "ar", "ru"})  # "the manager Dana" is Dana's manager
_LONGEST_SUBJECT = 6
_LONGEST_OPENING = 5


@dataclass(frozen=True, slots=True)
class StatementClaim:
    """One claim about one subject."""

    frame: PredicateFrame
    subject: frozenset[str]
    value: tuple[CompareToken, ...]  # the value with its details
    negated: bool
    mode: str  # "", "past", "future" or "maybe"
    sort: str = ""  # the noun, if the frame's nouns have different meanings
    words: frozenset[str] = frozenset()  # of the wording

    @property
    def key(self) -> str:
        return f"{self.about}|{' '.join(sorted(self.subject))}"

    @property
    def about(self) -> str:
        """Frame and noun: claims are comparable only if both are equal."""
        return f"{self.frame.name} {self.sort}".strip()


def extract_claims(tokens: tuple[CompareToken, ...], language: str) -> tuple[StatementClaim, ...]:
    """Claims of a text by clause; a clause without a subject has the previous one's."""
    found: list[StatementClaim] = []
    subject: frozenset[str] = frozenset()
    for clause in _clauses(tokens, language):
        of_clause = (
            _verb_claims(clause, language, subject)
            or _noun_claims(clause, language, subject)
            or _job_claims(clause, language)
            or _date_claims(clause, language)
        )
        if of_clause:
            subject = of_clause[-1].subject
        found.extend(of_clause)
    return tuple(found)


def _clauses(tokens: tuple[CompareToken, ...], language: str) -> list[list[CompareToken]]:
    """Token runs between full stops, and before "and" or a comma that a verb follows."""
    clauses: list[list[CompareToken]] = [[]]
    for at, token in enumerate(tokens):
        stops = token.kind is CompareTokenKind.MARK and token.text in _STOPS
        if (
            stops
            or token.role == "clause"
            or (_is_joint(token) and _clause_continues(tokens, at, language))
        ):
            clauses.append([])
        else:
            clauses[-1].append(token)
    return [clause for clause in clauses if clause]


def _is_joint(token: CompareToken) -> bool:
    return token.role == "and" or token.text == ","


def _clause_continues(tokens: tuple[CompareToken, ...], at: int, language: str) -> bool:
    """Whether a clause with its own verb follows: "… and works at Acme"."""
    for token in tokens[at + 1 : at + 1 + _LONGEST_OPENING]:
        if _is_joint(token) and token.start > tokens[at + 1].start:
            return False
        if token.role in ("copula", "called", "verb") or token.word in load_wordings(language):
            return True
    return False


def _verb_claims(
    clause: list[CompareToken], language: str, last: frozenset[str]
) -> list[StatementClaim]:
    """Claims made by a verb: "Dana lives in Haifa"."""
    stream = [t for t in clause if not is_dropped(t)]
    denied = any(t.role == "not" for t in clause)
    known = load_wordings(language)
    found: list[StatementClaim] = []
    at = start = 0
    while at < len(stream):
        hit = None
        for wording in known.get(stream[at].word, ()):
            hit = match_wording(wording, stream, at)
            if hit:
                break
        if hit is None:
            at += 1
            continue
        claim, end = _build_claim(stream, start, hit, denied, language, last)
        if claim is None and hit.wording.frame.dated:
            at += 1
            continue
        if claim is not None:
            found.append(claim)
            last = claim.subject
        start, at = end, max(end, at + 1)
    return found


def _build_claim(
    stream: list[CompareToken],
    start: int,
    hit: WordingMatch,
    denied: bool,
    language: str,
    last: frozenset[str],
) -> tuple[StatementClaim | None, int]:
    wording = hit.wording
    left = hit.start
    while left > start and stream[left - 1].role in _AUXILIARY_ROLES:
        left -= 1
    end = len(stream)
    before, after = (
        stream[start:left],
        _without_prefix(stream[hit.end : end], hit.prefix_length),
    )
    if hit.subject:
        before = stream[slice(*hit.subject)]
    if hit.value:
        after = [*stream[slice(*hit.value)], *stream[hit.end :]]
    subject, value = (after, before) if wording.value_first else (before, after)
    named = claim_subject(subject)
    terms = named or last or frozenset({OWNER_TERM})
    value = _content_tokens(value)
    has_no_subject = not subject and not last and language == "en" and wording.frame.many
    if (
        not value
        or has_no_subject
        or len(terms) > _LONGEST_SUBJECT
        or (not named and any(t.kind is CompareTokenKind.DATE for t in subject))
        or _is_misread(stream, hit, value)
    ):
        return None, end
    mode = _mode(stream, hit, wording.was)
    negated = denied != wording.negates
    words = frozenset(t.word for t in stream[hit.start : hit.end])
    return StatementClaim(wording.frame, terms, tuple(value), negated, mode, words=words), end


def _is_misread(stream: list[CompareToken], hit: WordingMatch, value: list[CompareToken]) -> bool:
    """ "is painted blue" is not an action, "meets on Monday" not a person, "is on the table" not a
    date, and neither is "is 5 weeks"."""
    frame = hit.wording.frame
    if frame.dated:
        is_amount = len(hit.wording.slots) == 1 and value[0].term.startswith("q:")
        return is_amount or value[0].kind not in (
            CompareTokenKind.DATE,
            CompareTokenKind.TIME,
            CompareTokenKind.NUMBER,
        )
    if not frame.many:
        return False
    verb = stream[hit.start]
    before = stream[hit.start - 1].role if hit.start else ""
    passive = before in ("copula", "past") and verb.role != "copula" and verb.word.endswith("ed")
    irregular = before == "past" and verb.role != "past"
    return passive or irregular or value[0].kind is CompareTokenKind.DATE


def _mode(stream: list[CompareToken], hit: WordingMatch | None, was: bool) -> str:
    """The mode: past, future or possible; words of the wording itself do not count."""
    if was:
        return "past"
    for at, token in enumerate(stream):
        if token.role in _TENSE_ROLES and not (hit and hit.start <= at < hit.end):
            return token.role
    return ""


def _without_prefix(value: list[CompareToken], letters: int) -> list[CompareToken]:
    """The value without the preposition that is a prefix of its first word."""
    if (
        not letters
        or not value
        or value[0].kind not in (CompareTokenKind.WORD, CompareTokenKind.NAME)
    ):
        return value
    first = value[0]
    word = first.word[letters:]
    return [replace(first, word=word, term=stem_of(word, "he"), role=""), *value[1:]]


def _content_tokens(tokens: list[CompareToken]) -> list[CompareToken]:
    found = [t for t in tokens if (t.term and t.term[0] not in "~¬") or t.role in ("prep", "if")]
    while found and not found[0].term:
        found.pop(0)
    return found


def claim_subject(tokens: list[CompareToken]) -> frozenset[str]:
    """The terms that identify a subject, independent of its construction."""
    found = []
    for token in _without_opening(tokens):
        if (
            not token.term
            or token.term[0] in "~¬"
            or token.kind in (CompareTokenKind.MARK, CompareTokenKind.DATE)
        ):
            continue
        found.append(token.term)
    return frozenset(found)


def _without_opening(tokens: list[CompareToken]) -> list[CompareToken]:
    """The subject without a leading "since the merger" or "two months ago"."""
    opens = tokens and (tokens[0].role == "prep" or tokens[0].term.startswith("x:order:"))
    if not opens:
        return tokens
    for at, token in enumerate(tokens):
        if token.text == ",":
            return tokens[at + 1 :]
    named = [
        at for at, t in enumerate(tokens) if t.term == OWNER_TERM or t.kind is CompareTokenKind.NAME
    ]
    if not named:
        return []
    last = first = named[-1]
    while first - 1 in named and first - 1 > 0:
        first -= 1
    return tokens[first : last + 1]


def _noun_claims(
    clause: list[CompareToken], language: str, last: frozenset[str]
) -> list[StatementClaim]:
    """Claims made by a noun: "Dana's manager is Noa", "Noa is the manager of Dana"."""
    stream = [t for t in clause if not is_dropped(t)]
    known = load_nouns(language)
    for at in range(len(stream)):
        for noun in known.get(stream[at].word, ()):
            end = at + len(noun.parts)
            if tuple(t.word for t in stream[at:end]) != noun.parts:
                continue
            if _is_owner(stream, at, end) or _is_title(stream, at, end):
                break  # "our cat's name" is about a name, "Doctor Levy" about Levy
            if language not in _OWNER_FOLLOWS and _is_named_already(stream, end):
                break  # "my wife Noa is a nurse" does not say who the wife is
            split = _split_around_noun(stream, at, end, language not in _OWNER_FOLLOWS)
            if split is None:
                break
            owner, value = split
            frame, sort = noun.frame, "" if noun.frame.one else noun.sort
            if frame.name in _NAMED_FRAMES and _is_called(stream, end):
                frame, sort, owner = _name_claim_parts(language, stream[at:end], owner)
            terms = claim_subject([t for t in owner if t.role != "of"])
            if not terms and any(t.role == "pron" for t in owner):
                terms = last
            if not value or len(terms) > _LONGEST_SUBJECT:
                break
            negated = any(t.role == "not" for t in clause)
            value = _content_tokens(value)
            if value:
                mode = _mode(stream, None, was=False)
                return [StatementClaim(frame, terms, tuple(value), negated, mode, sort)]
            break
    return []


def _is_title(stream: list[CompareToken], start: int, end: int) -> bool:
    named = end < len(stream) and stream[end].kind is CompareTokenKind.NAME
    return named and stream[start].word in _TITLES


def _is_named_already(stream: list[CompareToken], end: int) -> bool:
    """Whether the noun's name follows it, and the statement goes on: "Dana's manager Noa is …"."""
    names = end + int(end < len(stream) and stream[end].text == ",")
    after = names
    while after < len(stream) and stream[after].kind is CompareTokenKind.NAME:
        after += 1
    return after > names and any(token.role in _LINK_ROLES for token in stream[after:])


def _is_owner(stream: list[CompareToken], start: int, end: int) -> bool:
    """ "my daughter's teacher", "the teacher of my daughter"."""
    if end < len(stream) and stream[end].role == "poss":
        return True
    before = start - 1
    while before >= 0 and stream[before].role == "my":
        before -= 1
    return before > 0 and stream[before].role == "of"


def _is_called(stream: list[CompareToken], end: int) -> bool:
    return any(token.role == "called" for token in stream[end:])


def _name_claim_parts(
    language: str, thing: list[CompareToken], owner: list[CompareToken]
) -> tuple[PredicateFrame, str, list[CompareToken]]:
    """ "Our cat is called Miso" gives the name of our cat."""
    frame = load_frames()["name"]
    first = next(
        n for options in load_nouns(language).values() for n in options if n.frame is frame
    )
    return frame, first.sort, [*owner, *thing]


def _job_claims(clause: list[CompareToken], language: str) -> list[StatementClaim]:
    """ "Mia is a nurse" claims the same as "Mia works as a nurse"."""
    stream = [t for t in clause if not is_dropped(t)]
    link = next((n for n, t in enumerate(stream) if t.role == "copula"), None)
    if link is None and language in ("he", "ar", "ru") and len(stream) == 2:
        subject, value = stream[:1], stream[1:]
    elif link is not None:
        subject, value = stream[:link], stream[link + 1 :]
    else:
        return []
    value = _content_tokens(value)
    terms = claim_subject(subject)
    whole = [token.word for token in value if token.term]
    if not terms or not whole or not is_job(whole, language):
        return []
    negated = any(t.role == "not" for t in clause)
    mode = _mode(stream, None, was=False)
    return [StatementClaim(load_frames()["job"], terms, tuple(value), negated, mode)]


def _date_claims(clause: list[CompareToken], language: str) -> list[StatementClaim]:
    """«החתונה של דנה ב-14 ביוני», «Свадьба Эли 14 июня»: no verb; the date is the value."""
    if language not in ("he", "ru"):
        return []
    content = [t for t in clause if t.term]
    dated = [n for n, t in enumerate(content) if t.kind is CompareTokenKind.DATE]
    verbless = not any(t.role in ("verb", "have", *_TENSE_ROLES) for t in clause)
    if not verbless or dated != [len(content) - 1] or len(content) < 2:
        return []
    subject = content[:-1]
    plain = [t.word for t in subject[language == "ru" :] if not t.term.startswith("x:")]
    if any(is_past_verb(word, language) or is_past(word) for word in plain):
        return []
    terms = claim_subject(subject)
    if not terms or len(terms) > _LONGEST_SUBJECT or not _is_noun_phrase(clause, subject, language):
        return []
    negated = any(t.role == "not" for t in clause)
    return [StatementClaim(load_frames()["deadline"], terms, (content[-1],), negated, "")]


def _is_noun_phrase(clause: list[CompareToken], subject: list[CompareToken], language: str) -> bool:
    """In Hebrew a definite thing has an article or an owner."""
    if language == "ru":
        return True
    owned = any(t.role in ("of", "my") for t in clause)
    return owned or any(t.word[:1] == "ה" for t in subject)


def _split_around_noun(
    stream: list[CompareToken], start: int, end: int, has_case: bool
) -> tuple[list[CompareToken], list[CompareToken]] | None:
    """Owner and value around a noun at [start, end)."""
    links = [n for n, t in enumerate(stream) if t.role in _LINK_ROLES]
    links = links or [n for n, t in enumerate(stream) if t.role in ("past", "future")]
    after = next((n for n in links if n >= end), None)
    if after is not None:
        return stream[:start] + stream[end:after], stream[after + 1 :]
    before = next((n for n in reversed(links) if n < start), None)
    if before is not None and stream[before + 1].role == "prep":
        return None  # "I am on the Basic plan"
    if before is not None:
        follows = stream[end:]
        if has_case and follows and follows[0].role not in ("of", "prep"):
            follows = []  # "… is Frau Kurz": a title
        owner = stream[before + 1 : start] + follows
        if stream[0].role == "prep" and owner and owner[0].kind is CompareTokenKind.NAME:
            names = next(
                (n for n, t in enumerate(owner) if t.kind is not CompareTokenKind.NAME), len(owner)
            )
            return owner[names:], owner[:names]  # "Seit Mai ist Eva meine Chefin"
        return (owner, stream[:before]) if owner else None
    has = next((n for n, t in enumerate(stream[:start]) if t.role == "have"), None)
    if has is not None:
        return stream[:has] or stream[has + 1 : start], stream[end:]
    value = next((n for n in range(end, len(stream)) if stream[n].kind in VALUE_KINDS), None)
    if value is None or any(t.role == "verb" for t in stream[:value]):
        return None
    if has_case and value > end and stream[end].role not in ("of", "prep"):
        return None  # "the dog eats twice a day" has no value for the dog
    return stream[:start] + stream[end:value], stream[value:]

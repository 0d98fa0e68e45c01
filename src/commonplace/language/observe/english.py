"""English clauses, and first-person statements rewritten in the third person."""

from __future__ import annotations

import re

from commonplace.language.text.lexicon import fill_word_lists, load_patterns
from commonplace.language.text.sentences import is_past

_WORDS = load_patterns("observe/english")["words"]

# ——— clauses ———

_OPENER = re.compile(rf"^\W*(?:{fill_word_lists('{opener}', _WORDS)}\b[,:!.\s–-]*)+", re.IGNORECASE)
_TAIL = re.compile(rf"(?:[\s,]+{fill_word_lists('{tail}', _WORDS)})+\W*$", re.IGNORECASE)
_SUBJECT = (
    r"(?:i|i'm|i've|i'd|i'll|we|we're|we've|we'll|my|our|he|he's|she|she's|it|it's|they|they're|"
    r"you|you'll|that's|this|there|his|her|their|don't|can you|not|no)"
)
_BOUNDARY = re.compile(
    r"\s*;\s*|\s+[–—-]+\s+|\s*:\)\s*"
    r"|,\s+so\s+|\s+so\s+(?=(?:the|that|please|can)\b)"
    rf"|\s+so\s+(?={_SUBJECT}\b)"
    r"|,?\s+(?:but|because|'?cause|cuz|although|though|even though|except|and then|which|hence|"
    r"therefore|anyway|and so|or else|whereas|yet)\s+(?!far\b|that\b|much\b)"
    rf"|,\s+(?:and\s+)?(?={_SUBJECT}\b)|\s+and\s+(?={_SUBJECT}\b)"
    r"|,\s+(?:and\s+)?"
    r"(?=(?:the|[A-Z]\w+) (?:\w+ ){0,3}?(?:is|are|was|has|will|should|got|broke)\b)"
    r"|,\s+(?=(?:been|never|mostly|amazing|have been|please|thanks|really|right|which|who)\b)"
    r"|\s+\((?=[^)]*\)?$)|[.!?…]+\s*$",
    re.IGNORECASE,
)


_WHEN_COMMA = re.compile(
    r"^((?:last|this|next|on) \w+|yesterday|today|tomorrow), (?=(?:I|we|my|our)\b)", re.I
)


# "My wife and I are vegetarian": also holds for the speaker alone.
_BOTH_OF_US = re.compile(
    r"\b(?:(?:my|our) (?:\w+ )?[\w-]+ and I|(?:me|I) and my (?:\w+ )?[\w-]+)"
    r"(?= (?:are|were|have|both|will|want|plan|love|like|hate|live|moved|got|just|decided|went)\b)",
    re.IGNORECASE,
)


def split_clauses(sentence: str) -> list[str]:
    """Independent clauses of a sentence, without conjunctions."""
    found = []
    whole = _BOTH_OF_US.sub("we", _OPENER.sub("", sentence, count=1))
    whole = _WHEN_COMMA.sub(r"\1 ", whole)
    for part in _BOUNDARY.split(whole):
        clause = _TAIL.sub("", _OPENER.sub("", part.strip(), count=1) if part else "")
        clause = clause.strip(" ,.;:!?…()–-")
        if clause:
            found.append(expand_contractions(clause))
    return found


def strip_opener(sentence: str) -> str:
    return _OPENER.sub("", sentence, count=1)


def strip_tail(clause: str) -> str:
    return _TAIL.sub("", clause)


# ——— contractions ———

_SPELLINGS = (
    (r"\bi ?m\b(?=[ '])|\bI'm\b|\bim\b", "I am"),
    (r"\bi'?ve\b", "I have"),
    (r"\bI'll\b", "I will"),
    (r"\bI'd\b", "I would"),
    (r"\bwe're\b", "we are"),
    (r"\bwe've\b", "we have"),
    (r"\bwe'll\b", "we will"),
    (r"\bwe'd\b", "we would"),
    (r"\bdont\b", "don't"),
    (r"\bcant\b", "can't"),
    (r"\bdoesnt\b", "doesn't"),
    (r"\bdidnt\b", "didn't"),
    (r"\bwont\b", "won't"),
    (r"\bgonna\b", "going to"),
    (r"\bwanna\b", "want to"),
    (r"\bgotta\b", "have to"),
    (r"\bhave got\b(?= (?:to|an?|the|my|our|two|three|four|no|\d))", "have"),
    (
        r"((?:my|our) (?:\w+ )?\w+)'s(?= (?:an?|the|very|not|turning|moving|getting|coming)\b)",
        r"\1 is",
    ),
    (r"((?:my|our) (?:\w+ )?\w+)'s(?= (?:got|been)\b)", r"\1 has"),
)
# Elided subjects, as in informal writing: "finally passed my test", "not crazy about sushi".
_ELIDED = (
    (
        r"^decision(?: made)?[:,]? (?:we|I)(?:'re|'m| are| am) (?:going to )?(?=\w+ing\b)",
        "we decided on ",
    ),
    (r"^not (?:crazy|wild|mad) about\b", "I am not fond of"),
    (r"^(?:please )?(?:remind me|remember|don't forget|do not forget) to ", "I need to "),
    (
        r"^(?=(?:never been|not) (?:a (?:big |huge )?fan of|keen on|into|fond of|able to)\b)",
        "I am ",
    ),
    (
        r"^(?=(?:(?:finally|just|already|recently) )*(?:passed|got|finished|bought|sold|moved|"
        r"signed|quit|booked|broke|lost|won|started|was at|was in|went to|met|decided|had to|"
        r"adopted) )",
        "I ",
    ),
)
# "Last week I visited home": the rules expect the subject first.
_WHEN_FIRST = re.compile(
    r"^(?P<when>(?:last|this|next) (?:night|week|month|year|weekend|summer|winter|spring|fall|"
    r"autumn|semester|morning|evening|\w+day)|yesterday|today|tomorrow|on \w+day|in [A-Z]\w+|"
    r"in (?:\d+|two|three|a few) \w+|"
    r"(?:a|two|three|a few|\d+) (?:days?|weeks?|months?|years?) ago),? "
    r"(?P<rest>(?:I|we|my|our)\b.*)$",
    re.IGNORECASE,
)
_LATE_CAPITAL = re.compile(r"^I ([A-Z][a-z]+ )")  # a word after an inserted subject
_COMPILED_SPELLINGS = tuple(
    (re.compile(short, re.IGNORECASE), long) for short, long in (*_ELIDED, *_SPELLINGS)
)


def expand_contractions(clause: str) -> str:
    """ "I'm" → "I am": the rules need one form only."""
    for short, long in _COMPILED_SPELLINGS:
        clause = short.sub(long, clause)
    clause = _WHEN_FIRST.sub(r"\g<rest> \g<when>", clause)
    return _LATE_CAPITAL.sub(lambda found: f"I {found[1].lower()}", clause)


# ——— third person ———

_ADVERB = fill_word_lists("{adv}", _WORDS)
_BASE_VERB = re.compile(
    fill_word_lists("{state_verb}|{like}|know|believe|feel|want|hope|plan", _WORDS), re.I
)
_ME_AND_VERB = re.compile(
    rf"\b(?:I|we)\b(?P<adverbs>(?: {_ADVERB}\b)*) (?P<verb>[\w'-]+)", re.IGNORECASE
)
_AND_VERB = re.compile(r"(?P<link>\b(?:and|or|but)|,) (?P<verb>[a-z]+)\b(?! of\b)")
_BOTH = re.compile(r"\b(we) (?:both|all)\b", re.IGNORECASE)
_FORMS = {
    "am": "is", "are": "is", "have": "has", "do": "does", "were": "was", "don't": "doesn't",
    "haven't": "hasn't", "aren't": "isn't", "weren't": "wasn't", "go": "goes", "'m": "is",
}  # fmt: skip
# Words that only mean "recently" relative to the speaker.
_JUST_NOW = re.compile(
    r"(?P<before>\b(?:I|we)(?: (?:have|had|am|are))?(?: (?:also|finally|actually))*) "
    r"(?:just|recently|lately)\b|,? (?:recently|lately|just now)(?=$|,)",
    re.IGNORECASE,
)
_SAME_FORM = re.compile(
    r"(?:will|would|can|could|cannot|wo|may|might|must|should|shall|had|was|did|ca)(?:n't)?|can't"
)
_POSSESSIVES = (
    (re.compile(r"\b(?:my|our) own\b", re.I), "the user's own"),
    (re.compile(r"\b(?:my|our)\b", re.I), "the user's"),
    (re.compile(r"\b(?:mine|ours)\b", re.I), "the user's"),
    (re.compile(r"\b(?:me|us)\b"), "the user"),
)
_PRONOUN_LEFT = re.compile(
    r"\b(?:I|me|my|myself|we|us|our|ours|ourselves|you|your|yours|yourself|he|him|his|himself|she|"
    r"her|hers|herself|it|its|it's|itself|they|them|their|theirs|themselves|he's|she's|they're)\b",
    re.IGNORECASE,
)
_UNFINISHED = re.compile(
    r"\b(?:is|are|was|were|has|have|to|and|or|the|an?|of|with|for|than|as|such|very|so)\W*$", re.I
)
_UNINFORMATIVE = re.compile(r"\S+(?: \S+)?|the user \S+", re.I)  # "the user joined"
_US = re.compile(r"\bUS\b|\bIT\b|\bMe\b(?=[A-Z])")


def to_third_person(clause: str, subject: str = "the user") -> str | None:
    """A first-person clause about the user in the third person; None if a pronoun remains."""
    text = _US.sub(lambda found: "\ufffb".join(found[0]), clause)
    text = _BOTH.sub(r"\1", text)
    text = _JUST_NOW.sub(lambda found: found["before"] or "", text)
    present = False

    def conjugate(found: re.Match[str]) -> str:
        nonlocal present
        verb = found["verb"]
        third = third_person_verb(verb)
        present = present or third != verb
        return f"{subject}{found['adverbs']} {third}"

    text = _ME_AND_VERB.sub(conjugate, text)
    if present:
        text = _AND_VERB.sub(_conjugate_next, text)
    for own, third_person in _POSSESSIVES:
        text = own.sub(third_person.replace("the user", subject), text)
    if _PRONOUN_LEFT.search(text) or _UNFINISHED.search(text) or _UNINFORMATIVE.fullmatch(text):
        return None
    return format_sentence(text.replace("\ufffb", ""))


def _conjugate_next(found: re.Match[str]) -> str:
    verb = found["verb"]
    if not _BASE_VERB.fullmatch(verb) or is_past(verb):
        return found[0]
    return f"{found['link']} {third_person_verb(verb)}"


def third_person_verb(verb: str) -> str:
    """ "work" → "works"; past tenses and modals have one form."""
    folded = verb.lower()
    if folded in _FORMS:
        return _FORMS[folded]
    if _SAME_FORM.fullmatch(folded) or is_past(folded) or folded.endswith("ing"):
        return verb
    if re.search(r"(?:s|x|z|ch|sh|o)$", folded):
        return f"{verb}es"
    if re.search(r"[^aeiou]y$", folded):
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def format_sentence(words: str) -> str:
    """With a capital and a full stop; an address keeps its case."""
    trimmed = " ".join(words.split()).strip(" ,;:–-")
    if not trimmed:
        return ""
    ended = trimmed if trimmed[-1] in ".!?" else f"{trimmed}."
    return capitalise(ended)


def capitalise(text: str) -> str:
    is_address = "@" in text.partition(" ")[0]
    return text if is_address else text[0].upper() + text[1:]

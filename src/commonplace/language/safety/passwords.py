"""Passwords, logins and the phrases of wallets in a text, by the words around them.

"password is", "pw", "used to be … but now it is", a name and a password side by side, and the bare
answer to a question for one. The words are in secrets.toml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from commonplace.language.safety.secret_words import (
    NEAR,
    REDACTED,
    SecretSpan,
    find_each,
    is_everyday,
    mentions_everyday,
    named_patterns,
    word_pattern,
)
from commonplace.model.sources.source import BLOT

_PASSWORD, _WEAK_WORD = word_pattern("password"), word_pattern("weak_password")
_NO_VALUE, _GRAMMAR = word_pattern("no_value"), word_pattern("grammar")
_SEED_WORD = word_pattern("seed_word")
_LOGINS = named_patterns("login", re.I)
_CHANGED = word_pattern("changed")

_VALUE = re.compile(r"[\"'“”`«]([^\"'“”`«»\n]{3,80})[\"'“”`»]|(\S{3,120})")
_END_OF_SENTENCE = re.compile(r"[ \t]{0,8}(?:[.!?,;)]{1,8}(?:\s|$)|\n|$)")
_CLOSING = ".,;:!?)]}\"'”’»"
# In a program: `<label>Password:</label>`, and `password = request.form["password"]`.
_MARKUP = re.compile(r"</|<[a-z]{1,10}[ >]|\{\w|\$\{|```")
_EXPRESSION = re.compile(
    r"[A-Za-z_][\w.]{0,60}[(\[]|(?:[A-Za-z_.]{0,40}[_.])?passw(?:or)?d(?:_[a-z]{1,20})?$|\$[A-Z_]+$"
)
_MASKED = frozenset(f"*•.x_-{BLOT}")


def passwords(text: str) -> Iterator[SecretSpan]:
    for match in _PASSWORD.finditer(text):
        if is_everyday(text, match) or _is_inside_word(text, match):
            continue
        is_weak = _WEAK_WORD.fullmatch(match[0]) is not None
        if value := _password_value(text, match.end(), is_weak):
            yield value
        yield from _changed_to(text, match.end())
    for login in find_each(_LOGINS, text):
        yield from _login_value(text, login)


def _is_inside_word(text: str, match: re.Match[str]) -> bool:
    before = text[match.start() - 1 : match.start()]
    if match[0].isupper() and text[match.end() : match.end() + 1] == "=":
        return False  # PGPASSWORD=…
    return before in ("/", "\\", "@") or (before.isascii() and before.isalnum())


_BEFORE_LINK = r"(?:[ \t]{1,8}[^\s:=]{1,30}){0,6}?[ \t]{0,8}"
_IS = (
    r"is|was|are|es|era|est|était|ist|war|lautet|lautete|é|è|jest|är|היא|הוא|זה|הייתה|היתה"
    r"|это|هي|c['’]est"
)
_SIGN_LINK = re.compile(rf"{_BEFORE_LINK}(?:[:=]|->|→)\s{{0,8}}")
_IS_LINK = re.compile(rf"{_BEFORE_LINK}(?<!\w)(?:{_IS})(?!\w)\s{{0,8}}", re.I)
_TO_LINK = re.compile(r"[ \t]{1,8}to[ \t]{1,8}", re.I)  # "changed my password to …"
_HEBREW_TO = re.compile(r"(?:[ \t]{1,8}\S{1,30}){0,2}[ \t]{1,8}ל[- ]?(?=[A-Za-z0-9])")
_BE_LINK = re.compile(
    rf"(?:['’]s{_BEFORE_LINK}|{_BEFORE_LINK}(?<!\w)be[ \t]{{1,8}})\s{{0,8}}", re.I
)
_APART = re.compile(
    r"(?:[ \t]{1,8}[^\W\d_]{1,20})?\s{1,8}(?=[\w#$%&*@!^+=.-]{0,80}\d)|\s{1,8}(?=[\"'“`«]\S)"
)

_LONG_ENOUGH = re.compile(r"\S{4}")

# Each with whether a plain word may follow it: "should be changed" tells nothing.
_LINKS = (
    (_SIGN_LINK, True),
    (_IS_LINK, True),
    (_TO_LINK, False),
    (_HEBREW_TO, False),
    (_BE_LINK, False),
    (_APART, False),
)


def _password_value(text: str, end: int, is_weak: bool) -> SecretSpan | None:
    """The value after "password", "password for the bank is", "password:", "password's"."""
    for link, takes_words in _LINKS:
        linked = link.match(text, end)
        if linked is None or re.search(r"[.!?]\s", linked[0]):
            continue
        if link is _APART and not _LONG_ENOUGH.match(text, linked.end()):
            continue  # "password 2FA"
        is_sign = link is _SIGN_LINK
        takes = takes_words and (is_sign or not is_weak)
        if value := _value_at(text, linked.end(), is_sign, takes):
            return value
    return None


def _value_at(text: str, start: int, is_sign: bool, takes_words: bool) -> SecretSpan | None:
    found = _VALUE.match(text, start)
    if found is None or text.startswith(REDACTED, start):
        return None
    start, stop = found.span(1 if found[1] else 2)
    if found[2]:
        stop = start + len(found[2].rstrip(_CLOSING)) or stop
    value = text[start:stop]
    if len(value) < 3 or REDACTED in value or set(value) <= _MASKED:
        return None
    if not found[1] and _is_code(text, start, value):
        return None
    if _looks_made_up(value) or found[1]:
        return SecretSpan(start, stop)
    return _plain_words(text, start, stop, is_sign) if takes_words else None


def _is_code(text: str, start: int, value: str) -> bool:
    if _MARKUP.match(value):
        return True
    is_assigned = text[max(0, start - 8) : start].rstrip().endswith("=")
    return is_assigned and _EXPRESSION.match(value) is not None


def _looks_made_up(value: str) -> bool:
    """Whether it looks like a password, and not like a word about one."""
    odd = re.search(r"[^\W\d_]", value) and re.search(r"[\d#$%&*@!^+=_]", value)
    return bool(odd or re.search(r"[a-z][A-Z]", value) or re.fullmatch(r"\d{4,}", value))


_PHRASE = re.compile(r"[^\W\d_]{2,30}(?:[ -][^\W\d_]{2,30}){0,11}")
_MAX_PHRASE = 8  # words
_MIN_PHRASE_AFTER_IS = 4
_ABOUT_IT = ("ed", "ing", "ly")  # endings of words that say what became of a password


def _plain_words(text: str, start: int, stop: int, is_sign: bool) -> SecretSpan | None:
    """One word that ends its sentence, or a phrase of words without grammar ("correct horse battery
    staple")."""
    if _END_OF_SENTENCE.match(text, stop):
        value = text[start:stop]
        is_about = _says_something([value]) or (not is_sign and value.endswith(_ABOUT_IT))
        return None if is_about else SecretSpan(start, stop)
    phrase = _PHRASE.match(text, start)
    if phrase is None or not _END_OF_SENTENCE.match(text, phrase.end()):
        return None
    words = re.split("[ -]", phrase[0])
    fewest = 2 if is_sign else _MIN_PHRASE_AFTER_IS
    if not fewest <= len(words) <= _MAX_PHRASE or _says_something(words):
        return None
    if not is_sign and any(word.endswith(_ABOUT_IT) for word in words):
        return None
    return SecretSpan(*phrase.span())


_NEW_VALUE = re.compile(
    rf"(?<!\w)(?:{_IS}|it['’]s|to|auf|zu|a|por|en|ל)(?!\w)[ \t-]{{0,3}}(?P<secret>\S{{4,80}})", re.I
)


def _changed_to(text: str, end: int) -> Iterator[SecretSpan]:
    """The other value of "was … and I changed it to …", "used to be … but now it is …"."""
    rest = _SENTENCE_BREAK.split(text[end : end + 3 * NEAR], maxsplit=1)[0]
    if not _CHANGED.search(rest):
        return
    for match in _NEW_VALUE.finditer(rest):
        value = match["secret"].rstrip(_CLOSING)
        if len(value) > 3 and REDACTED not in value and _looks_made_up(value):
            start = end + match.start("secret")
            yield SecretSpan(start, start + len(value))


_SENTENCE_BREAK = re.compile(r"\n|[.!?]\s")


def _says_something(words: list[str]) -> bool:
    """Whether they are a remark about a password. In four words and more only grammar tells:
    "correct horse battery staple" is one."""
    if any(map(_GRAMMAR.fullmatch, words)):
        return True
    return len(words) < _MIN_PHRASE_AFTER_IS and any(map(_NO_VALUE.fullmatch, words))


# ——— logins ———


def _login_value(text: str, login: re.Match[str]) -> Iterator[SecretSpan]:
    """The password beside a name or an address: it has letters and a figure or a sign."""
    value = login["secret"].rstrip(_CLOSING)
    start = login.start("secret")
    if len(value) < 5 or REDACTED in value or "://" in value or re.search(r"@\S+\.\w", value):
        return
    if re.search(r"[^\W\d_]", value) and re.search(r"[\d!#$%&*^+=_?]", value):
        yield SecretSpan(start, start + len(value))


def wallet_phrases(text: str) -> Iterator[SecretSpan]:
    """The words of a wallet: at least eight after "seed phrase"."""
    for match in _SEED_WORD.finditer(text):
        rest = _BEFORE_PHRASE.match(text, match.end())
        words = _WALLET_WORDS.match(text, rest.end()) if rest else None
        if words:
            yield SecretSpan(*words.span())


_BEFORE_PHRASE = re.compile(r"[^\n:=]{0,30}(?:[:=]|\bis\b)\s{0,8}")
_WALLET_WORDS = re.compile(r"(?:[^\W\d_]{1,20}[ ,]{1,3}){7,24}[^\W\d_]{1,20}")


# ——— answers ———

_ASKS, _DECLINES = word_pattern("asks"), word_pattern("declines")
_ASKED_CODE = word_pattern("asked_code")
_MAX_ANSWER = 80  # characters
_MAX_ANSWER_WORDS = 8
_OPENING = re.compile(
    r"(?:(?:sure|ok(?:ay)?|yes|here|it|it['’]s|it is|my|the|password|pw|code|pin|is|you go|הנה|זה"
    r"|היא|בטח|es|claro|ist|das|c['’]est|voilà)[\s,:-]{1,3}){0,5}",
    re.I,
)
_NUMBER = re.compile(r"(?<![\w.,])\d{3,8}(?![\w%]|[.,:]\d)")
_TOKEN = re.compile(r"\S{4,80}")


def answered(text: str, asked: str) -> Iterator[SecretSpan]:
    """The secret in a short answer to a question for a password, a PIN or a code."""
    question = _last_question(asked) if _is_short(text) else None
    if question is not None:
        wants_words = _PASSWORD.search(question) is not None
        yield from _answers(text, _ASKED_CODE.search(question) is not None, wants_words)


def may_be_answer(text: str) -> bool:
    """Whether it would be a secret if one had been asked for."""
    return _is_short(text) and next(_answers(text, True, True), None) is not None


def _is_short(text: str) -> bool:
    return len(text) <= _MAX_ANSWER and len(text.split()) <= _MAX_ANSWER_WORDS


def _answers(text: str, wants_numbers: bool, wants_words: bool) -> Iterator[SecretSpan]:
    if wants_numbers:
        yield from (SecretSpan(*match.span()) for match in _NUMBER.finditer(text))
    made_up = list(_made_up_tokens(text))
    yield from made_up
    if not made_up and wants_words:
        yield from _plain_answer(text)


def _last_question(asked: str) -> str | None:
    """The last request for a secret in what was said before, unless it is for an everyday one."""
    end = asked[-5 * _MAX_ANSWER :]
    found = list(_ASKS.finditer(end))
    if not found or mentions_everyday(found[-1][0]) or is_everyday(end, found[-1]):
        return None
    return found[-1][0]


def _made_up_tokens(text: str) -> Iterator[SecretSpan]:
    for match in _TOKEN.finditer(text):
        value = match[0].rstrip(_CLOSING)
        if len(value) >= 4 and value != REDACTED and _looks_made_up(value):
            yield SecretSpan(match.start(), match.start() + len(value))


def _plain_answer(text: str) -> Iterator[SecretSpan]:
    """Only words: one, or a phrase without grammar."""
    opening = _OPENING.match(text)
    start = opening.end() if opening else 0
    phrase = _PHRASE.match(text, start)
    if phrase is None or text[phrase.end() :].strip(" \n" + _CLOSING) or len(phrase[0]) < 4:
        return
    words = re.split("[ -]", phrase[0])
    if len(words) == 2 or _says_something(words) or _DECLINES.search(phrase[0]):
        return
    yield SecretSpan(*phrase.span())

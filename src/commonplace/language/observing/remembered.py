"""Whether a sentence asks to remember, and what."""

from __future__ import annotations

import re

from commonplace.language.triggers import without_trigger

# What certainly asks to keep something; "save", "add" and "write" alone may ask for other work.
_ASKS = re.compile(
    r"\b(?:remember(?! (?:when|how|who|what|where|why|to|me|if|the time))|memori[sz]e|"
    r"note(?: to self| down| that)|make a note|take a note|"
    r"(?:write|jot|put)(?: (?:this|it))? down|keep(?: this| it)? in mind|bear in mind|"
    r"(?:do(?:n't| not)|never) forget(?! (?:to|about)\b)|for the record|for your memory|"
    r"save this|store this)"
    r"|(?<![\w\"״׳'])(?:תזכור|תזכרי|תזכרו|זכור ש|זכרי ש|תרשום|תרשמי|תרשמו|רשום|רשמי|"
    r"אל תשכח|אל תשכחי|שתדע|שתדעי|קח בחשבון|קחי בחשבון|שים לב|שימי לב|"
    r"תשים לב|תשימי לב|"
    r"לזכור ש|תשמור ש|תשמרי ש)",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"^(?:(?:please|hey|ok|okay|also|and|so|can you|could you)[,:]? )*"
    r"(?:remember|memori[sz]e|don't forget|do not forget|note to self|make a note(?: that| of)?)\b"
    r"[:,]? *(?:that )?",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"^(?:this|it|the following|את זה|זה)(?: for (?:later|me|now))?\s*[:,–-]\s*", re.I
)
_REQUESTED = re.compile(
    r"(?:(?:hey|please|ok|so|and|also|hi|היי|בבקשה)\W+){0,4}"
    r"(?:can|could|would|will|תוכל|תוכלי|אפשר|אתה יכול|את יכולה)\b",
    re.IGNORECASE,
)
_BEGINS = 60  # characters into which the asking falls
_THINKING_BACK = re.compile(
    r"\b(?:i|we|she|he|they|you|who|to|can't|always|still|barely|hardly)"
    r"(?: (?:do|don't|can|can't|will|won't))? remember\b",
    re.I,
)


def asked_to_remember(sentence: str) -> str | None:
    """What is to be remembered; None when nothing is asked."""
    if _ASKS.search(sentence[:_BEGINS]) is None:
        return None
    is_question = sentence.rstrip().endswith("?") or _THINKING_BACK.search(sentence)
    if is_question and not _REQUESTED.match(sentence):  # "remember that summer?"
        return None
    content = _BARE.sub("", without_trigger(sentence).content)
    content = _POINTING.sub("", content).strip()
    return None if content == sentence.strip() or not content else content

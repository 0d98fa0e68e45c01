"""Kind of one sentence that is neither a contact nor a kv: rule, event, fact or note.

RULE   an instruction for the time to come: "always …", "never …", «תמיד …»
EVENT  past, with its day: "yesterday we signed the lease"
FACT   a plain statement of how things are, or what somebody wants or has to do
NOTE   the rest: ideas, lists, drafts, questions, errands, words without a verb
"""

import re
from functools import cache
from itertools import pairwise

from commonplace.language.text.detect import Script, detect_script, statement_languages
from commonplace.language.text.lexicon import load_word_lists
from commonplace.language.text.normalise import fold_case
from commonplace.language.text.sentences import is_past
from commonplace.model.memory.kinds import Kind

_APOSTROPHES = str.maketrans("\u2019\u02bc", "''")
_WORD = re.compile(r"[^\W_]+(?:['’\"״׳-][^\W_]+)*")


def sentence_kind(sentence: str) -> Kind:
    plain = " ".join(fold_case(sentence).translate(_APOSTROPHES).split())
    words = _WORD.findall(plain)
    if _RULE.match(plain) and not plain.endswith("?"):
        return Kind.RULE
    if not words or _is_note(plain, words):
        return Kind.NOTE
    if _DATED.search(plain) and _is_over(plain):
        return Kind.EVENT
    return Kind.FACT if _is_statement(plain, words, sentence) else Kind.NOTE


# ——— rules ———

_POLITE = r"(?:(?:please|ok|okay|and|also|so|but|hey|from now on|going forward|בבקשה|נא)\b[,:]? +)*"
# An instruction ("Always answer …"), not a remark ("Always happy to help").
_RULE = re.compile(
    rf"{_POLITE}(?:"
    r"(?:always|never) (?!(?:been|here|there|good|great|nice|happy|up|down|on|in|so|too|more|ready|"
    r"a|an|the|my|me|one|had|saw|felt|thought|knew|heard|say never|mind|again|\w+ing|\w+ed)\b)\w"
    r"|(?:do not|don'?t) ever (?!(?:been|had|seen)\b)\w|under no circumstances\b"
    r"|you (?:must|should) (?:always|never)\b"
    r"|(?:תמיד|אף פעם|לעולם|בשום אופן) (?:אל |לא )?(?:ת[א-ת]{2,}|תן|תני|לענות|לכתוב|לשלוח|לשאול)"
    r")"
)

# ——— notes ———

_LISTED = re.compile(r"^\S+(?: \S+){0,4}(?::| [-–—]) .*,|[:;–—-]$|^[-*•]|^\S+(?: \S+){0,3}: ")
_UNDECIDED = re.compile(
    r"^(?:what if|how about|why not|let's|lets|could we|should we|shall we|things? to|to[- ]?do\b|"
    r"(?:i'm |im )?(?:not sure|thinking (?:of|about)|wondering)|i (?:think|guess|suppose|wonder)|"
    r"(?:some|a few|random) (?:thoughts|ideas|notes|links)|note to self)\b|"
    r"^(?:מה אם|בוא נ|אני חושב|אני חושבת|לא בטוח|לא בטוחה|כנראה)"
)
# «לקנות חלב»: an errand. «לדנה יש כלב» is not one.
_HEBREW_ERRAND = re.compile(
    r"(?:לא )?(?![א-ת]+(?:תי|נו)(?![א-ת]))ל[א-ת]{3,}(?! (?:יש|אין|היה|הייתה|היו|יהיה|קוראים|קראו|"
    r"נולד|נולדה|כואב|כואבת|אסור|מותר|"
    r"הולך|קשה|נמאס|מגיע|חסר)(?![א-ת]))(?![א-ת])"
)


# Sentences typed without capitals, which `split_sentences` takes for one.
_SEVERAL = re.compile(r"[^\W\d_]{4,}[.!] +\w")


def _is_note(plain: str, words: list[str]) -> bool:
    lists = load_word_lists("fields/verbs.txt")
    return (
        plain.endswith("?")
        or words[0] in lists["en note"]
        or words[0] in lists["he note"]
        or _LISTED.search(plain) is not None
        or _SEVERAL.search(plain) is not None
        or _UNDECIDED.match(plain) is not None
        or _HEBREW_ERRAND.match(plain) is not None
    )


# ——— events ———

_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
_SEASON = r"(?:spring|summer|autumn|fall|winter)"
_WEEKDAY_HE = r"(?:ראשון|שני|שלישי|רביעי|חמישי|שישי|שבת)"
_MONTH_HE = r"(?:ינואר|פברואר|מרץ|מרס|אפריל|מאי|יוני|יולי|אוגוסט|ספטמבר|אוקטובר|נובמבר|דצמבר)"
_DATED = re.compile(
    r"\b(?:yesterday|the other day|this morning|earlier today|today|tonight|just now|"
    r"on the weekend|"
    r"at the weekend|over christmas|over easter)\b"
    rf"|\b(?:last|this) (?:night|week|weekend|month|year|time|{_WEEKDAY}|{_MONTH}|{_SEASON})\b"
    r"|\b(?:\d+|an?|one|two|three|four|five|six|a few|a couple of) "
    r"(?:days?|weeks?|months?|years?|hours?) ago\b"
    rf"|\b(?:on |^){_WEEKDAY}\b|\bon the \d{{1,2}}(?:st|nd|rd|th)?\b"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}\b|\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b"
    rf"|\bin (?:early |late |mid )?(?:{_MONTH}|(?:19|20)\d\d)\b|"
    rf"\b\d{{1,4}}[-./]\d{{1,2}}[-./]\d{{1,4}}\b"
    r"|(?<![א-ת])(?:אתמול|שלשום|הבוקר|אמש|היום)(?![א-ת])|(?:שעבר|שעברה)(?![א-ת])|(?<![א-ת])לפני "
    rf"|(?<![א-ת])ב(?:יום )?{_WEEKDAY_HE}(?![א-ת])|ב-?\d{{1,2}} ?[בל]?{_MONTH_HE}|"
    rf"(?<![א-ת])ב{_MONTH_HE}"
    r"|(?<![א-ת])ב-?(?:19|20)\d\d(?!\d)"
)
# What began then and still holds is a fact: "moved to Lisbon on 20 January".
_STATE_BEGAN = re.compile(
    r"\b(?:moved (?:house|home|to|in|into|from|back|out)|relocated|(?:was|were) born|born in|"
    r"(?:got )?(?:married|divorced|engaged)|joined|started (?:at|work|working|as|with|school|a new|"
    r"his|her|my|their|nursery)|retired|became|switched to|changed (?:jobs?|to|his|her|my|its|"
    r"their)|"
    r"died|passed away|(?:was|were|been|got) (?:promoted|diagnosed|renamed)|is|are|used to)\b"
    r"|(?<![א-ת])(?:עבר|עברה|עברו|עברתי|עברנו) ל|(?<![א-ת])(?:נולד|נולדה|נולדתי|התחתן|התחתנה|"
    r"התחתנו|"
    r"התגרש|התגרשה|הצטרף|הצטרפה|התחיל|התחילה) ?"
)
_NOT_YET = re.compile(
    r"\b(?:am|is|are|isn't|aren't|will|won't|would|going to|has to|have to|need|needs|want|wants|"
    r"wanna|gonna|gotta|hoping|planning|trying|can|can't|should|must|\w+'(?:m|re|ll))\b"
)
_HEBREW_WE = re.compile(
    r"(?<![א-ת])(?!(?:לנו|שלנו|אנחנו|אותנו|איתנו|אלינו|עלינו|אצלנו|כולנו|"
    r"בשבילנו)(?![א-ת]))[א-ת]{2,}נו(?![א-ת])"
)


def _is_over(plain: str) -> bool:
    """Whether the main verb is in the past, and does not begin something that still holds."""
    if _STATE_BEGAN.search(plain):
        return False
    future = _NOT_YET.search(plain)
    head = plain[: future.start()] if future else plain
    return is_past(head) or _HEBREW_WE.search(head) is not None


# ——— statements ———

_AUXILIARIES = frozenset(
    [
        "am",
        "is",
        "are",
        "was",
        "were",
        "isn't",
        "aren't",
        "wasn't",
        "weren't",
        "isnt",
        "arent",
        "wasnt",
        "has",
        "have",
        "had",
        "hasn't",
        "haven't",
        "hasnt",
        "havent",
        "does",
        "doesn't",
        "doesnt",
        "did",
        "didn't",
        "didnt",
        "don't",
        "dont",
        "can",
        "can't",
        "cant",
        "cannot",
        "will",
        "won't",
        "wont",
        "would",
        "wouldn't",
        "should",
        "shouldn't",
        "must",
        "may",
        "might",
        "i'm",
        "im",
        "i've",
        "ive",
        "i'd",
        "i'll",
        "he's",
        "she's",
        "it's",
        "that's",
        "there's",
        "we're",
        "we've",
        "we'll",
        "we'd",
        "they're",
        "they've",
        "they'll",
        "you're",
    ]
)
_BARE_SUBJECTS = frozenset(
    [
        "i",
        "we",
        "you",
        "they",
        "people",
        "kids",
        "everyone",
        "and",
        "also",
        "really",
        "always",
        "never",
        "usually",
        "still",
        "often",
        "sometimes",
        "only",
        "just",
        "both",
        "all",
        "who",
        "dont",
        "don't",
    ]
)
_WITHOUT_SUBJECT = re.compile(
    r"(?:(?:currently|now|still|lately|always|mostly|really|just|also|already) )*"
    r"(?:(?:hoping|planning|trying|aiming|saving|learning|training|working|building|writing|"
    r"looking|"
    r"redesigning|renovating|studying|living|getting|moving|starting|thinking)\b|"
    r"(?:not )?(?:a |an )?(?:big |huge |massive )?(?:fan of|believer in|allergic to|vegan\b|"
    r"obsessed|"
    r"interested in|into )|gotta\b|gonna\b|wanna\b|cant\b|can't\b|don't\b|should (?:really )?\w)"
)
# "Dana juggles with knives": a name, and what reads like a verb in the third person.
_DOER = re.compile(r"[A-Z][a-z]+ [a-z]{3,}s [a-z]")
_OF_NOBODY = frozenset(("s", "as", "is", "us", "this", "his", "its", "yes", "plus", "less", "thus"))


def _is_statement(plain: str, words: list[str], written: str) -> bool:
    """English by its verb; other languages by their length, since some need no verb."""
    script = detect_script(plain)
    if script is not Script.LATIN:
        return script is Script.CJK or len(words) > 1
    if _has_english_verb(words) or _WITHOUT_SUBJECT.match(plain) or _DOER.match(written):
        return True
    return "en" not in statement_languages(plain) and len(words) > 2 and "," not in plain


def _has_english_verb(words: list[str]) -> bool:
    lists = load_word_lists("fields/verbs.txt")
    if words[0] in lists["en of me"] or is_past(words[0]):
        return len(words) > 1
    if words[0] in ("im", "ive", "i'm", "i've", "there's", "it's", "he's", "she's", "that's"):
        return True
    for before, word in pairwise(words):
        if word in _AUXILIARIES or word in _present_forms() or is_past(word):
            return True
        if word in lists["en"] and (before in _BARE_SUBJECTS or before.endswith("s")):
            return before not in _OF_NOBODY
    return words[0] in _AUXILIARIES and words[0] not in ("do", "don't", "dont")


@cache
def _present_forms() -> frozenset[str]:
    """Third person: works, goes, tries."""
    return frozenset(map(_third_person, load_word_lists("fields/verbs.txt")["en"]))


def _third_person(verb: str) -> str:
    if verb == "have":
        return "has"
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"

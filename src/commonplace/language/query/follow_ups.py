"""Follow-up messages expanded to whole questions, using earlier turns.

The user's words are kept: insertions replace a pronoun, or repeat the previous question. Earlier
follow-ups are expanded first, so that "and her brother?" after "what about sarah?" resolves.
Without a conversation, a bare mention becomes the question of what is known about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from commonplace.language.query.message import (
    WHOLE_MESSAGE,
    FollowUpShape,
    RecentTurn,
    ShapedMessage,
    cue_words,
    last_user_turn,
    latest_turns,
    read_shape,
    strip_ending,
)
from commonplace.language.query.question import (
    PersonMention,
    find_persons,
    is_kin_word,
    may_refer_to,
)
from commonplace.language.text.detect import Script, detect_script

_TIME = re.compile(
    r"\b(?:last|next|this) (?:\w+)\b|\b(?:yesterday|today|tomorrow|tonight)\b", re.IGNORECASE
)
_OF_TIME = re.compile(
    r"\b(?:spring|summer|autumn|fall|winter|morning|evening|night|week|month|year|weekend|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|"
    r"\w+day)\b|\b(?:19|20)\d\d\b",
    re.IGNORECASE,
)
_SPACES = re.compile(r"\s+")
_MAX_TAIL_WORDS = 4  # words that may belong to a preposition


def replace_topic(question: str, part: str, is_place: bool, known: Collection[str] = ()) -> str:
    """The question with another topic in place of its own, or appended to it."""
    expanded = (
        _replace_place(question, part) if is_place else _replace_person(question, part, known)
    )
    return _SPACES.sub(" ", expanded or f"{question}, {part}").strip()


def _replace_person(question: str, part: str, known: Collection[str]) -> str:
    """Replace the first person named; a time replaces a time."""
    if _OF_TIME.search(part):
        return _replace_time(question, part)
    named = find_persons(question, known)
    if not named:
        return ""
    first = named[0]
    end = first.end
    if _is_of_the_same(part, first.text):  # "and her phone?": of the same person
        end = found.end() if (found := _OWNED.match(question, first.end)) else end
    return question[: first.start] + part + question[end:]


_OWNED = re.compile(r"['’]s\s+\w+")


def _is_of_the_same(part: str, person: str) -> bool:
    """Whether the part belongs to the same person. A relative is another person: the question is
    repeated for them."""
    owned = re.fullmatch(rf"{re.escape(person)}['’]s\s+(\w+)", part, re.IGNORECASE)
    return owned is not None and not is_kin_word(owned[1])


def _replace_place(question: str, part: str) -> str:
    prefix = re.match("[בלמ](?=[א-ת]{3})", part)
    if prefix:
        return _replace_hebrew_place(question, part, prefix[0])
    preposition = part.split()[0]
    at = _last_match_start(question, rf"\b{re.escape(preposition)}\s+(?=\w)")
    if at >= 0 and len(question[at:].split()) <= 1 + _MAX_TAIL_WORDS:
        return question[:at] + part
    if _OF_TIME.search(part) and (expanded := _replace_time(question, part)):
        return expanded
    other = _last_match_start(question, r"\b(?:in|at|on|near|from|for|during)\s+(?=\w)")
    if other >= 0 and len(question[other:].split()) <= 1 + _MAX_TAIL_WORDS:
        return question[:other] + part
    return f"{question} {part}"


def _replace_time(question: str, part: str) -> str:
    times = list(_TIME.finditer(question))
    return question[: times[-1].start()] + part + question[times[-1].end() :] if times else ""


def _replace_hebrew_place(question: str, part: str, letter: str) -> str:
    """In Hebrew "in" is a prefix letter."""
    at = _last_match_start(question, rf"(?<![א-ת]){letter}(?=[א-ת]{{3}})")
    if at >= 0 and len(question[at:].split()) <= _MAX_TAIL_WORDS:
        return question[:at] + part
    return f"{question} {part}"


def _last_match_start(text: str, pattern: str) -> int:
    found = [match.start() for match in re.finditer(pattern, text, re.IGNORECASE)]
    return found[-1] if found else -1


_CLAUSE = r"[^.!?;:\n—]{2,160}"
_ACTION_PHRASE = re.compile(
    r"\b(?:(?:if|whether) (?:i|we) should|should (?:i|we)|(?:i|we) (?:should|could|might|will|can)|"
    r"(?:want|wanted|need|needed|have|had|plan|planned|planning|going|decide|decided|hope|hoping|"
    r"try|trying|about|promised|meant|intend|whether|how|like) to|"
    r"(?:thinking|think|thought|dreaming) (?:of|about)|considering|consider|regret|regretting) "
    rf"(?:really |maybe |actually )?({_CLAUSE})",
    re.IGNORECASE,
)
_ACTION_PHRASE_HE = re.compile(
    r"(?<![א-ת])(?:אם|האם|רוצה|רציתי|חושב|חושבת|מתלבט|מתלבטת|שוקל|שוקלת|צריך|צריכה|מתכנן|מתכננת|"
    rf"החלטתי|כדאי לי|עומד|עומדת|מתכוון|מתכוונת) (ל[א-ת]{{2,}}{_CLAUSE})"
)
# "the red bike", "my passport", "which headphones": up to the next function word.
_THING = re.compile(
    r"\b(?P<det>the|my|our|a|an|which|that)\s+(?P<np>[^\W\d_][\w'’-]*(?:\s+[^\W\d_][\w'’-]*){0,3})",
    re.IGNORECASE,
)
_THING_HE = re.compile(r"(?<![א-ת])(?:את )?(ה[א-ת]{3,}(?: של[א-ת]*)?|[א-ת]{3,} שלי)(?![א-ת])")
_CONJUNCTION = re.compile(
    r"\s*(?:,|and|&|ו)\s*$|\s+(?:and|&)\s+|\s*,\s*(?:and )?|\s+ו", re.IGNORECASE
)


class Antecedents:
    """Antecedents in the conversation, searched from the newest turn backwards, on demand."""

    def __init__(self, turns: Sequence[RecentTurn], known: Collection[str] = ()):
        self._turns = [turn for turn in turns if turn.text.strip()]
        self.known = known

    @cached_property
    def question(self) -> str:
        """The user's last whole question: a follow-up continues it."""
        turn = last_user_turn(turn for turn in self._turns if strip_ending(turn.text))
        return _last_sentence(strip_ending(turn.text)) if turn else ""

    @cached_property
    def last(self) -> str:
        return _last_sentence(strip_ending(self._turns[-1].text)) if self._turns else ""

    @cached_property
    def action(self) -> str:
        for turn in self._user_turns_first():
            for pattern in (_ACTION_PHRASE, _ACTION_PHRASE_HE):
                found = pattern.search(turn.text)
                if found:
                    return found[1].strip(" ,'\"")
        return ""

    @cached_property
    def thing(self) -> str:
        return next(
            (thing for turn in self._user_turns_first() if (thing := _last_thing(turn.text))), ""
        )

    def person(self, pronoun: str | None) -> str:
        """The last person named that the pronoun can refer to."""
        for turn in reversed(self._turns):
            for mention in reversed(find_persons(turn.text, self.known)):
                if pronoun is None or may_refer_to(mention, pronoun):
                    return mention.text
        return ""

    @cached_property
    def people(self) -> str:
        """ "Ruth and Adam": the last two people named together."""
        for turn in reversed(self._turns):
            found = find_persons(turn.text, self.known)
            for one, other in reversed(list(pairwise(found))):
                if _are_together(turn.text, one, other):
                    return turn.text[one.start : other.end]
        return ""

    def _user_turns_first(self) -> Iterator[RecentTurn]:
        """The user's turns before the assistant's: answers may digress."""
        yield from (turn for turn in reversed(self._turns) if turn.is_from_user)
        yield from (turn for turn in reversed(self._turns) if not turn.is_from_user)


def _are_together(text: str, one: PersonMention, other: PersonMention) -> bool:
    return _CONJUNCTION.fullmatch(text[one.end : other.start]) is not None


def _last_sentence(text: str) -> str:
    """The last sentence of sufficient length: "Sure. And when was it?"."""
    parts = [part.strip() for part in re.split(r"(?<=[.!?])\s+|\n", text) if part.strip()]
    return next((part for part in reversed(parts) if len(part.split()) > 1), text)


# "I got the job offer but the pay is low": what follows is said of the offer.
_REMARK = re.compile(
    r",?\s+(?:but|because|though|although|however|even though|except that|only that)\s"
    r"|,?\s+(?:אבל|כי|למרות ש|אלא ש)",
    re.IGNORECASE,
)


def _last_thing(text: str) -> str:
    """The last definite thing of the last sentence that has one, before any remark on it."""
    for sentence in reversed(re.split(r"(?<=[.!?])\s+|\n", text)):
        remark = _REMARK.search(sentence)
        heads = (sentence[: remark.start()], sentence) if remark else (sentence,)
        if thing := next(filter(None, map(_last_thing_of, heads)), ""):
            return thing
    return ""


def _last_thing_of(text: str) -> str:
    things = [_noun_phrase(match) for match in _THING.finditer(text)]
    named = [thing for thing in things if thing]
    if named:
        return named[-1]
    hebrew = _THING_HE.findall(text)
    return hebrew[-1] if hebrew else ""


def _noun_phrase(match: re.Match[str]) -> str:
    words = []
    for word in match["np"].split():
        if word.lower() in cue_words("en", "ends_a_thing"):
            break
        words.append(word)
    if not words:
        return ""
    determiner = match["det"].lower()
    article = "the" if determiner in ("which", "a", "an") else determiner
    of_whom = _PREPOSITIONAL_NAME.match(match.string, match.start("np") + len(" ".join(words)))
    return f"{article} {' '.join(words)}{of_whom[0] if of_whom else ''}"


_PREPOSITIONAL_NAME = re.compile(
    r" (?:from|at|with|by|of|for) [A-Z][\w'’-]*"
)  # "a job offer from Google"


_HEBREW = re.compile("[א-ת]")
_ABOUT_TEMPLATES = {"en": "What does the user know about {}", "he": "מה המשתמש יודע על {}"}
_TEMPLATE = re.compile(
    "|".join(re.escape(form).replace(r"\{\}", "(.+)") for form in _ABOUT_TEMPLATES.values()),
    re.IGNORECASE,
)
_PLACE = re.compile(r"^(?:in|at|on|for|from|with|by|about|to)\s+", re.IGNORECASE)
_PREFIX = re.compile(r"^(?:[בל]-?(?=[א-ת]{3})|מ-?(?=[א-ת]{4}))")


@dataclass(frozen=True, slots=True)
class Filled:
    """An insertion into a message, and its reason."""

    said: str  # the user's words that it replaces; "" for an ellipsis
    meant: str
    why: str


@dataclass(frozen=True, slots=True)
class ExpandedMessage:
    query: str
    filled: tuple[Filled, ...] = ()


def expand_follow_up(
    message: str, recent: Sequence[RecentTurn] = (), known: Collection[str] = ()
) -> ExpandedMessage:
    """The message made independent of the conversation. ``known``: folded first names."""
    expanded: list[RecentTurn] = []
    for turn in latest_turns(recent):
        text = _expand_message(turn.text, expanded, known).query if turn.is_from_user else turn.text
        expanded.append(RecentTurn(text, turn.role))
    return _expand_message(message, expanded, known)


def _expand_message(
    message: str, turns: Sequence[RecentTurn], known: Collection[str]
) -> ExpandedMessage:
    read = read_shape(message, known)
    if read == WHOLE_MESSAGE:
        return ExpandedMessage(message)
    before = Antecedents(turns, known)
    return _EXPANDERS[read.shape](message, read, before)


def _expand_place_or_person(
    message: str, read: ShapedMessage, before: Antecedents
) -> ExpandedMessage:
    part, filled = _resolve_pronouns(read.part, before)
    if before.question:
        query = replace_topic(
            before.question, part, read.shape is FollowUpShape.PLACE, before.known
        )
        why = f"takes up: {before.question}"
        return ExpandedMessage(query, (*filled, Filled("", query, why)))
    about = _without_preposition(part)
    query = _ABOUT_TEMPLATES[_language(about)].format(about)
    return ExpandedMessage(
        query, (*filled, Filled("", query, "there is no conversation to take up"))
    )


def _without_preposition(part: str) -> str:
    return _PREFIX.sub("", _PLACE.sub("", part)) or part


def topic_of_template(query: str) -> str:
    """The topic of "What does the user know about …", as `expand_follow_up` writes it; or ""."""
    found = _TEMPLATE.fullmatch(strip_ending(query))
    return next(filter(None, found.groups()), "") if found else ""


def _language(text: str) -> str:
    return "he" if detect_script(text) is Script.HEBREW else "en"


def _expand_question_word(
    message: str, read: ShapedMessage, before: Antecedents
) -> ExpandedMessage:
    topic = before.question or before.last
    if not topic:
        return ExpandedMessage(message)
    query = f"{read.part} {_lowered(topic)}"
    return ExpandedMessage(query, (Filled("", topic, f"takes up: {topic}"),))


def _lowered(topic: str) -> str:
    """In lower case, as after a question word; names keep their capitals."""
    first = topic.split(maxsplit=1)[0]
    return topic[0].lower() + topic[1:] if first.lower() in cue_words("en", "lowered") else topic


def _expand_action(message: str, read: ShapedMessage, before: Antecedents) -> ExpandedMessage:
    action = before.action
    if not action:
        return _expand_pronouns(message, read, before)
    why = "the deed spoken of before"
    expanded, places = _DO_IT.subn(lambda _: action, message, count=1)
    if places and not action.split()[0].endswith("ing"):
        replaced = found[0] if (found := _DO_IT.search(message)) else ""
        return ExpandedMessage(expanded, (Filled(replaced, action, why),))
    return ExpandedMessage(f"{strip_ending(message)}: {action}", (Filled("", action, why),))


_DO_IT = re.compile(r"\bdo (?:it|that|this)\b|לעשות (?:את )?(?:זה|זאת)", re.IGNORECASE)


def _expand_pronouns(message: str, read: ShapedMessage, before: Antecedents) -> ExpandedMessage:
    query, filled = _resolve_pronouns(message, before)
    if filled:
        return ExpandedMessage(query, filled)
    topic = before.thing or before.question
    if not topic:
        return ExpandedMessage(message)
    return ExpandedMessage(
        f"{strip_ending(message)}: {topic}", (Filled("", topic, "spoken of before"),)
    )


_EXPANDERS: Mapping[FollowUpShape, Callable[[str, ShapedMessage, Antecedents], ExpandedMessage]] = {
    FollowUpShape.ABOUT: _expand_place_or_person,
    FollowUpShape.PLACE: _expand_place_or_person,
    FollowUpShape.WORD: _expand_question_word,
    FollowUpShape.ACTION: _expand_action,
    FollowUpShape.PRONOUN: _expand_pronouns,
}


# ——— pronouns ———

_PRONOUN = re.compile(
    r"\b(?:she|he|they|him|them|his|hers|her|their|theirs|its|it)\b"
    r"|(?<=on )that\b|(?<=for )that\b|(?<=about )that\b|(?<=of )that\b|(?<=is )that\b"
    r"|(?<![א-ת])(?:הוא|היא|הם|הן|אותו|אותה|אותם|שלו|שלה|שלהם|זה|זאת)(?![א-ת])",
    re.IGNORECASE,
)
_POSSESSIVE = frozenset(("his", "their", "its"))
_THINGS = frozenset(("it", "its", "that", "זה", "זאת"))
_GENDER = {"she": "she", "her": "she", "hers": "she", "he": "he", "him": "he", "his": "he"}
_NOUN_NEXT = re.compile(
    r"\s+(?!(?:again|back|that|about|to|for|with|in|on|at|and|or|now|still)\b)\w"
)


def _resolve_pronouns(text: str, before: Antecedents) -> tuple[str, tuple[Filled, ...]]:
    """Replace pronouns by their antecedents, where known."""
    filled: dict[str, Filled] = {}

    def expanded(match: re.Match[str]) -> str:
        pronoun = match[0].lower()
        antecedent = _antecedent_of(pronoun, before)
        if not antecedent:
            return match[0]
        filled.setdefault(pronoun, Filled(match[0], antecedent, "spoken of before"))
        if pronoun in ("שלו", "שלה", "שלהם"):
            return f"של {antecedent}"
        antecedent = _lower_possessive(antecedent)
        owns = pronoun in _POSSESSIVE or (pronoun == "her" and _NOUN_NEXT.match(text, match.end()))
        return _possessive_form(antecedent) if owns else antecedent

    return _PRONOUN.sub(expanded, text), tuple(filled.values())


def _antecedent_of(pronoun: str, before: Antecedents) -> str:
    if pronoun in _THINGS:
        return before.thing
    if pronoun in ("they", "them", "their", "theirs", "הם", "הן", "אותם", "שלהם"):
        return before.people or before.thing
    person = before.person(_GENDER.get(pronoun))
    return person or (before.thing if _HEBREW.search(pronoun) else "")


def _lower_possessive(phrase: str) -> str:
    """ "My nephew" may come from the start of a sentence."""
    first, space, rest = phrase.partition(" ")
    return f"{first.lower()}{space}{rest}" if first.lower() in cue_words("en", "own") else phrase


def _possessive_form(phrase: str) -> str:
    return phrase if phrase.endswith(("'s", "’s")) else f"{phrase}'s"

"""The other wordings of a deep query: of a language model, or else of the rules.

The rules complete a follow-up from the conversation and write abbreviations out. A model is asked
outside any transaction; without one, or if it gives no usable answer, the rules alone remain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from commonplace.engine.context import EngineContext
from commonplace.engine.llm.model_calls import ModelOutcome, ask_model
from commonplace.engine.search.plan import DeepSearch, RecallPlan, WordedBy
from commonplace.engine.understanding import load_recent_turns, turns_as_data, understand_message
from commonplace.language.llm.prompts import as_data, load_prompt
from commonplace.language.query.message import MAX_MESSAGE_CHARACTERS, RecentTurn
from commonplace.language.query.phrasings import read_phrasings
from commonplace.language.safety.secrets import redact_secrets
from commonplace.model.access.principal import Principal

PROMPT = "deep_query"


def deepen(engine: EngineContext, principal: Principal, plan: RecallPlan) -> RecallPlan:
    """The plan with other wordings of its query, and with how they were found."""
    with engine.store.read_session():
        uncleared = replace(principal, cleared=False)  # a model has no clearance
        recent = load_recent_turns(engine, uncleared, plan.thread_id, plan.query)
        expanded = understand_message(engine, principal, plan.query, recent).query
        outcome, worded = _ask(engine, principal, plan.query, recent)
    by = WordedBy.MODEL if worded else WordedBy.RULES
    others = dict.fromkeys((*([] if expanded == plan.query else [expanded]), *worded))
    return replace(plan, deep=DeepSearch(by, str(outcome), tuple(others)))


def _ask(
    engine: EngineContext, principal: Principal, query: str, recent: Sequence[RecentTurn]
) -> tuple[ModelOutcome, tuple[str, ...]]:
    if not principal.is_in_own_scope:  # the turns are another owner's
        return ModelOutcome.NO_MODEL, ()
    question = redact_secrets(query[:MAX_MESSAGE_CHARACTERS])
    values = {"turns": turns_as_data(recent), "question": as_data(question)}
    reply = ask_model(engine, principal.own_scope, load_prompt(PROMPT), values, awaited=True)
    return reply.outcome, read_phrasings(reply.value, query) if reply.has_answer else ()

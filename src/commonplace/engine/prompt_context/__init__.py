"""Prompt context: what an agent should know at the start of a turn, within a token budget.

`layers` says what there is and in which order, `gather` fetches it, `wording` says it in lines,
`budget` decides how much of it is said, `compose` puts it together; `context` is the verb.
"""

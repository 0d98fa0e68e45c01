"""What a process reads when it first needs it (word lists, patterns, descriptions), needed once in
the server that the tests' processes are forked from: hundreds of them would read it anew.

Nothing of it is left but what was read: the book is closed, and no thread of it goes on."""

import threading

import commonplace
from commonplace.surfaces.mcp.presentation import all_tool_descriptions
from commonplace.surfaces.rest.openapi import openapi_description

with commonplace.open(":memory:", embedder="hashing", worker="off") as book:
    me = book.user("warm")
    me.remember("Dana lives in Haifa")
    me.observe("I am allergic to peanuts, and my sister Noa moved to Berlin.", thread="warm")
    me.ingest("Tal: The spare keys are in the blue drawer.", wait=True)
    me.recall("Where does Dana live?")
    me.context("What may I eat?", thread="warm")
openapi_description()
all_tool_descriptions()

assert threading.active_count() == 1, "a fork takes over only the thread that forks"

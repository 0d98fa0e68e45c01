"""openCypher over a picture of the graph: only reading, and only what the picture shows.

A query is *read* into a tree of our own (tokens → reader → tree), and *written* anew from it in the
engine's dialect (write, rewrite). So what reaches the engine is never the caller's text. It runs in
a child process (pool → child) that holds a copy of the picture (schema → project), can open no file
and is killed at the deadline.
"""

"""How fast, how large: the engine beside a plain numpy scan and its peers, in one run.

`python -m commonplace.bench` prints the tables; `docs/benchmarks.md` is one such run.
"""

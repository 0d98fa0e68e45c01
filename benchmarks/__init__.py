"""Benchmarks of Commonplace: speed, judgement and recall quality, compared with peers.

`python -m benchmarks` prints the tables; `docs/benchmarks.md` is one such run.
"""

"""Recall quality on public datasets with known evidence.

One file reads each set; `play` asks the product, `baselines` two plain methods beside it.
"""

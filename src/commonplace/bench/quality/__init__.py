"""How well the right things come back: public sets of questions with known evidence.

One file reads each set; `play` asks the product, `baselines` two plain methods beside it.
"""

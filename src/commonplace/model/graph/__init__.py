"""The personal graph: what it is made of, and the rules that hold for it. Pure."""

"""Models behind small protocols: what the engine needs of them, and the ones that ship."""

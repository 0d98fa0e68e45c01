"""Embedders behind one protocol: wordllama, hashing, MiniLM, OpenAI over HTTP."""

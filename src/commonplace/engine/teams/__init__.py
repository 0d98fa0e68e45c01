"""Teams, members, shared sources and API keys."""

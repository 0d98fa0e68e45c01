"""Surfaces: command line, REST and MCP over the API, without rules of their own."""

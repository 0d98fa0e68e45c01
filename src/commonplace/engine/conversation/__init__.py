"""Conversations: what turns leave in memory."""

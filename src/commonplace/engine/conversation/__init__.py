"""Conversations: store turns and the memories they give."""

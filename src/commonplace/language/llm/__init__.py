"""Language models behind one protocol; their prompts. Off unless configured."""

"""What one turn of a conversation has that is worth keeping: rules in two languages, no model."""

"""The functions and aggregates that a query may call."""

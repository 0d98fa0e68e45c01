"""Safety: prompt injection, secrets and sensitive matters in a text."""

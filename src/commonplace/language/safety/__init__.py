"""Safety: prompt injection, secrets and sensitive topics in a text."""

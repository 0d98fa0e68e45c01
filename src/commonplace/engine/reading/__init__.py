"""A language model reads turns and sources: jobs that turn grounded findings into changes."""

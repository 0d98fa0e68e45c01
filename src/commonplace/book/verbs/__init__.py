"""The verbs of one user's memory, a file for each topic; `book.user` puts them together."""

"""Deep queries: other wordings of a question are searched, too, and the lists are fused."""

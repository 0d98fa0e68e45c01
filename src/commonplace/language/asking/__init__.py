"""What a message asks for, read without a model: whether the user's memory is needed at all, what
a follow-up leaves out, what an abbreviation stands for. Pure."""

"""What a text says, compared with the words that it rests on."""

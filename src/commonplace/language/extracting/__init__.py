"""What a source tells of people, concepts and things, read by rules. Pure."""

"""What two texts say about the same thing: compared by words, values and frames, no model."""

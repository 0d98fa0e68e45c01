"""All behaviour that the two databases share."""

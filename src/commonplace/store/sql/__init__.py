"""SQL behaviour that both databases share."""

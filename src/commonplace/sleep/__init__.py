"""What happens when nobody is waiting: tidying, and looking after the store."""

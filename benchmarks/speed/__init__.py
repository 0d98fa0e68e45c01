"""Speed of the verbs compared with a plain numpy scan and peers."""

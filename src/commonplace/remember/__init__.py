"""The write path: compose → neighbours → decide → link → one changeset."""

"""Many clients at once against real servers on loopback: how many requests, how long, none lost."""

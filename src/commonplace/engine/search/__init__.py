"""Search: plan, arms, candidates, rank, hits, pack; query; the recall log."""

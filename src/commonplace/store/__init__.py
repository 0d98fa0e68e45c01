"""The databases: one contract, all shared behaviour once, two dialects."""

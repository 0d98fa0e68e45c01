"""Sleep: runs of maintenance tasks, their schedule, log and undo."""

"""Maintenance: tidy, jobs and worker, embedding again, health checks."""

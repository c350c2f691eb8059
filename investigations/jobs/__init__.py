"""Clusters, their failed jobs, and the queue in which they stand."""

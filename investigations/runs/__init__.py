"""Runs: collecting a job's telemetry, attributing the failure, and showing how far that is."""

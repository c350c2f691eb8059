"""The console: clusters and their failed jobs, runs that collect and attribute, and what people say of the verdicts."""

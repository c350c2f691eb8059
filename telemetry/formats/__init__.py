"""Readers of what the tools print: one module a format. Text in, values out; no files, no network."""

"""A verdict made readable: the words, rows and cells that pages show. Nothing here decides anything about a verdict."""

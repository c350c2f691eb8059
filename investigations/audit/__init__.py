"""Who did what, to what, and when."""

"""What people say of verdicts: appended, never rewritten."""

"""The code graph: built, kept, brought up to date, asked."""

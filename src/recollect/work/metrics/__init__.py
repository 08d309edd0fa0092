"""Counts, timings, and the tokens that memory saved."""

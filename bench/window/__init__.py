"""A session of 2,000 turns in a window of 100,000 tokens: never over the limit, always valid, nothing out of reach."""

from bench.window.measure import run, show

__all__ = ["run", "show"]

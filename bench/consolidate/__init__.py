"""Consolidation of 100,000 memories with planted duplicates, contradictions, near-misses and orphan tags."""

from bench.consolidate.measure import run, show

__all__ = ["run", "show"]

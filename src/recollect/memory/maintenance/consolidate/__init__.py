"""Consolidation: many small acts on many memories, undone as one."""

"""Whether what is asked for is found: quality (`python -m bench.recall`), and what it costs (`python -m bench.recall.cost`)."""

from bench.recall.report import run, show

__all__ = ["run", "show"]

"""What reaches the agent for a prompt: the useful memories of bench/data/delivery, and nothing where nothing is known.

`python -m bench delivery --split dev` measures on the projects for development only; `--failures` lists what was missed
and what was wrong in them.
"""

from bench.delivery.measure import run, show

__all__ = ["run", "show"]

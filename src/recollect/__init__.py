"""Long-term memory for coding agents.

    from recollect import Engine

    with Engine.open() as memory:
        memory.remember("Tests need a running Redis", kind="gotcha")
        for hit in memory.search("why do the tests fail?").results:
            print(hit.memory.content)

This is the only supported import path.
"""

from recollect.engine import Engine
from recollect.errors import RecollectError
from recollect.model import Answer, Hit, Link, Memory, Receipt

__version__ = "0.1.0"
__all__ = ["Answer", "Engine", "Hit", "Link", "Memory", "Receipt", "RecollectError", "__version__"]

"""The tools of each role, extended by a file of the user.

The file is TOML: `formatter = "ourfmt"` adds tools to a role of `data/words.toml` (`families`), and a name that is not
there makes a role of its own, of which two tools are rivals.
"""

import logging
import tomllib
from functools import lru_cache
from pathlib import Path

from recollect.memory.judgement import statement
from recollect.memory.judgement.tools import add_tools

logger = logging.getLogger(__name__)

MAX_BYTES = 65_536


@lru_cache(maxsize=8)
def learn_roles(file: str) -> None:
    """Add the tools in `file` to the tables. A file that cannot be read is logged and changes nothing."""
    if not file:
        return
    try:
        data = Path(file).expanduser().read_bytes()[:MAX_BYTES]
        roles = {name: str(tools).lower().split() for name, tools in tomllib.loads(data.decode()).items()}
    except (OSError, ValueError) as error:
        logger.warning("the roles in %s cannot be read: %s", file, error)
        return
    for role, tools in roles.items():
        add_tools(role, tools)
    statement.parse.cache_clear()

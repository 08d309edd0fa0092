"""What agents learnt while the team server was away: sealed on this machine, delivered once when it is back."""

import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from recollect.errors import ClientTooOld, Offline, RecollectError, TokenRefused, TooManyRequests
from recollect.remote.wire import Place
from recollect.store.spool_files import SpoolFiles

logger = logging.getLogger(__name__)

Send = Callable[[str, Mapping[str, Any], Place, str, str], object]  # operation, arguments, place, actor, key
_NAME = "outbox"


class Outbox:
    """Writes that wait. Each has a key under which the server counts it once, so that it may be sent again."""

    def __init__(self, home: Path, database: Path) -> None:
        self._files = SpoolFiles(home / "spool" / "outbox", database=database)

    def add(self, operation: str, arguments: Mapping[str, Any], place: Place, actor: str, key: str) -> bool:
        """Write the call down; return False if there is no room for it."""
        import recollect.model as m

        line = m.dumps([operation, arguments, place, actor, key])
        return self._files.append(_NAME, line + "\n")

    def waiting(self) -> bool:
        return self._files.waiting()

    def deliver(self, send: Send) -> int:
        """Send what waits, in order; return how many. What cannot be sent yet stays; what is refused is dropped."""

        def send_all(lines: list[bytes]) -> int:
            for line in lines:
                try:
                    operation, arguments, place, actor, key = json.loads(line)
                    send(
                        operation,
                        arguments,
                        Place(tuple(place["keys"]), place["name"], place["branch"]),
                        actor,
                        key,
                    )
                except (ClientTooOld, Offline, TokenRefused, TooManyRequests) as error:
                    raise TimeoutError from error  # the file stays
                except RecollectError as error:
                    logger.warning("what waited for the team server was refused: %s", error.message)
                except (ValueError, KeyError, TypeError):  # cut off by a crash
                    continue
            return len(lines)

        return self._files.drain(send_all)

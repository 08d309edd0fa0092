"""The methods of an engine that a context window uses."""

from typing import TYPE_CHECKING, Protocol

import recollect.model as m
from recollect.config import Settings

if TYPE_CHECKING:
    from recollect.code.relevant.search import Relevant
    from recollect.context.store import Store
    from recollect.work.delivery.composer import Composer
    from recollect.work.episodes.episodes import Episodes


class WindowEngine(Protocol):
    """An `Engine` fulfils this protocol."""

    @property
    def settings(self) -> Settings: ...

    @property
    def store(self) -> "Store": ...

    @property
    def project(self) -> m.Project | None: ...

    @property
    def episodes(self) -> "Episodes": ...

    @property
    def delivery(self) -> "Composer": ...

    def relevant(
        self, task: str, *, limit: int = 10, budget: int = 2000, patient: bool = True
    ) -> "Relevant": ...

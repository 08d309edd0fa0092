"""Who may see which memory, decided once per class of rows instead of once per row.

Rows of one class have the same user, project, scope, branch, visibility, state and kind, are proposals or not, and, if they
are session-scoped, have the same session. There are few classes, so a view over 100,000 rows costs a few hundred decisions and one table look-up.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from recollect.model import SEEDS_OF, TRUST, Scope, Source, Standing, View, VisibilityKey

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# A repository's word that no person has accepted: `Memory.is_proposal`.
IS_PROPOSAL = f"(substr(m.created_by, 1, {len(SEEDS_OF)}) = '{SEEDS_OF}' AND m.trust < {TRUST[Source.USER_STATED]} AND m.standing <> '{Standing.PINNED}')"
COLUMNS = (
    f"m.user_id, m.project_id, m.scope, m.branch, m.visibility, m.state, m.kind, {IS_PROPOSAL}, m.session"
)


class VisibilityClasses:
    def __init__(self, keys: Iterable[VisibilityKey] = ()) -> None:
        """`keys` are the classes of another, by number."""
        self._codes: dict[VisibilityKey, int] = {key: number for number, key in enumerate(keys)}

    @property
    def keys(self) -> list[VisibilityKey]:
        return list(self._codes)

    def code(self, key: VisibilityKey) -> int:
        """Return the number of the row's class."""
        if key[2] != Scope.SESSION:
            key = (*key[:8], None)  # other memories do not depend on the session: fewer classes
        return self._codes.setdefault(key, len(self._codes))

    def shown(self, view: View) -> "npt.NDArray[np.bool_]":
        """Return for each class number whether `view` shows its rows."""
        import numpy as np

        return np.fromiter((_shows(view, key) for key in self._codes), bool, len(self._codes))


def _shows(view: View, key: VisibilityKey) -> bool:
    user_id, project_id, scope, branch, visibility, state, kind, is_proposal, session = key
    return view.shows(
        user_id=user_id,
        project_id=project_id,
        scope=scope,
        branch=branch,
        visibility=visibility,
        state=state,
        kind=kind,
        is_proposal=bool(is_proposal),
        session=session,
    )

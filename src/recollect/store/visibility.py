"""Who may see what, decided once per class of rows and not once per row.

Rows of one class have the same user, project, scope, branch, visibility, state, kind and (if it matters) session. There are
few classes, so a view over 100,000 rows costs a few hundred decisions and one table look-up.
"""

from typing import TYPE_CHECKING

from recollect.model import Scope, View, VisibilityKey

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

COLUMNS = "m.user_id, m.project_id, m.scope, m.branch, m.visibility, m.state, m.kind, m.session"


class VisibilityClasses:
    def __init__(self) -> None:
        self._codes: dict[VisibilityKey, int] = {}

    def code(self, key: VisibilityKey) -> int:
        """The number of the class of a row."""
        if key[2] != Scope.SESSION:
            key = (*key[:7], None)  # the session matters only to session-scoped memories: fewer classes
        return self._codes.setdefault(key, len(self._codes))

    def shown(self, view: View) -> "npt.NDArray[np.bool_]":
        """By class number: whether `view` shows it."""
        import numpy as np

        return np.fromiter((_shows(view, key) for key in self._codes), bool, len(self._codes))


def _shows(view: View, key: VisibilityKey) -> bool:
    user_id, project_id, scope, branch, visibility, state, kind, session = key
    return view.shows(
        user_id=user_id,
        project_id=project_id,
        scope=scope,
        branch=branch,
        visibility=visibility,
        state=state,
        kind=kind,
        session=session,
    )

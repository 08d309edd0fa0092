"""What a team's database does not hold: episodes and texts that left a context window stay on each person's machine."""

from typing import Any, NoReturn

from recollect.errors import Refused


class _LocalPart:
    """Refuses every call, instead of answering that there is nothing."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._refuse

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise Refused(
            f"{self._what} stay on the machine where they were recorded; the team server does not have them.",
            "Ask for them there.",
        )


LOCAL_EPISODES: Any = _LocalPart("Episodes")
LOCAL_PRUNED_TEXTS: Any = _LocalPart("Texts that left a context window")

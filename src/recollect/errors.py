"""Every error Recollect raises on purpose.

    RecollectError
    ├── Refused                 a write that breaks a rule; nothing was changed
    │   ├── ContentRefused          empty, too long, not text, from an ignored file
    │   ├── LimitReached            an agent's session has written its share
    │   └── OutOfScope              an agent reached for another project
    ├── MemoryNotFound          no such id
    ├── AmbiguousId             a prefix that fits several
    ├── UnknownName             a kind, scope, relation… that does not exist
    ├── BadSetting              config.toml, environment or flag
    ├── NoSuchFolder            a project folder that is not there
    ├── BadImport               a file that is not what `export` writes
    ├── StoreError              the file under it all
    │   ├── StoreBusy               another process holds it
    │   ├── StoreUnwritable         read-only, full
    │   ├── StoreTooNew             written by a newer Recollect
    │   ├── StoreDamaged            and no backup to restore
    │   └── WrongKey                encrypted, and this is not its key
    └── EmbedderUnavailable     no vectors for now; words still work
        └── VectorsTurnedOff        because the user said so

The message says what happened and to which thing; `hint` says what to do now.
"""


class RecollectError(Exception):
    """The base: shown bare to the person at the keyboard, without a traceback."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Refused(RecollectError):
    """A write that breaks a rule. Nothing was changed."""


class ContentRefused(Refused):
    """The text itself cannot be kept."""


class LimitReached(Refused):
    """An agent's session has written its share."""


class OutOfScope(Refused):
    """An agent tried to write outside the project it runs in."""


class MemoryNotFound(RecollectError):
    def __init__(self, memory_id: str) -> None:
        super().__init__(f"No memory {memory_id[:60]!r}.", "`recollect list` shows what is stored here.")
        self.memory_id = memory_id


class AmbiguousId(RecollectError):
    def __init__(self, prefix: str, matches: list[str]) -> None:
        shown = ", ".join(matches[:3]) + (", …" if len(matches) > 3 else "")
        super().__init__(f"{prefix[:60]!r} fits several memories: {shown}.", "Give more of the id.")
        self.prefix = prefix
        self.matches = tuple(matches)


class ChangeNotFound(RecollectError):
    def __init__(self, name: str) -> None:
        super().__init__(f"No single change {name[:60]!r}.", "`recollect changes` lists them with their ids.")


class SessionNotFound(RecollectError):
    def __init__(self, name: str) -> None:
        super().__init__(
            f"No session {name[:60]!r} here.", "`recollect session list` shows those of this project."
        )


class ReviewNotFound(RecollectError):
    def __init__(self, name: str) -> None:
        super().__init__(
            f"No single question {name[:60]!r} is open.", "`recollect review --json` lists them."
        )


class UnknownName(RecollectError):
    """A name from a closed list that is not on it."""

    def __init__(self, what: str, name: str, known: list[str]) -> None:
        from difflib import get_close_matches

        near = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
        hint = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(known)}."
        super().__init__(f"Unknown {what} {name[:60]!r}.", hint)


class BadSetting(RecollectError):
    """A setting that is unknown or has a value it cannot have."""


class NoHome(RecollectError):
    """Raised when `~` or `~name` has no home folder, as for a container's user id without a name."""

    def __init__(self, path: object) -> None:
        super().__init__(
            f"Cannot resolve {path}: there is no such home folder.",
            "Set HOME, or give an absolute path (RECOLLECT_HOME for where memory is kept).",
        )


class NoSuchFolder(RecollectError):
    def __init__(self, path: object) -> None:
        super().__init__(
            f"There is no folder {str(path)!r}.", "Name the project's folder, or leave --project out."
        )


class BadImport(RecollectError):
    """A file that cannot be imported; the message has the line."""


class StoreError(RecollectError):
    """The file under it all."""


class StoreBusy(StoreError):
    """Another process has held the store for too long."""


class StoreUnwritable(StoreError):
    """The disk is full, or the home is read-only."""


class StoreTooNew(StoreError):
    """Written by a newer Recollect."""


class StoreDamaged(StoreError):
    """Not readable, and there is no good backup."""


class WrongKey(StoreError):
    """The store is encrypted, and the key at hand does not open it."""


class EmbedderUnavailable(RecollectError):
    """No vectors for now. Writing and word search go on without them."""

    by_choice = False  # whether the user turned vectors off, and need not be told


class VectorsTurnedOff(EmbedderUnavailable):
    by_choice = True

    def __init__(self) -> None:
        super().__init__("Vectors are turned off.", 'Set `embedder = "minilm"` to turn them on.')

"""Every error that Recollect raises on purpose.

    RecollectError
    ├── Refused                 the request breaks a rule; nothing was changed
    │   ├── ContentRefused          empty, too long, not text, from an ignored file
    │   ├── ChangedMeanwhile        somebody else changed the memory since it was read
    │   ├── LimitReached            an agent has written too many memories in a session
    │   ├── OutOfScope              an agent tried to write to another project
    │   └── MemoryOff               the user has turned memory off
    ├── MemoryNotFound          no memory has this id
    ├── AmbiguousId             several memories match
    ├── ChangeNotFound          no change has this id
    ├── SessionNotFound         no session has this id
    ├── ReviewNotFound          no open question has this id
    ├── UnknownName             a kind, scope, relation, … that does not exist
    ├── BadSetting              an invalid value in config.toml, the environment or an option
    ├── NoHome                  a home folder that does not exist
    ├── NoSuchFolder            a project folder that does not exist
    ├── BadImport               a file that cannot be imported
    ├── StoreError              a problem with the database file
    │   ├── StoreBusy               another process has locked it
    │   ├── StoreUnwritable         it is read-only, or the disk is full
    │   ├── StoreTooNew             a newer Recollect wrote it
    │   ├── StoreMissing            the file is gone, and backups of it are there
    │   ├── StoreDamaged            it cannot be read, and there is no backup
    │   └── WrongKey                it is encrypted with another key
    ├── EmbedderUnavailable     vectors cannot be made at the moment
    │   └── VectorsTurnedOff        because the settings say so
    └── TeamError               a problem with the team server
        ├── Offline                 it does not answer
        ├── TokenRefused            it does not accept the token: revoked, expired, or never valid
        └── TooManyRequests         it has had enough requests from this person for now

The message says what happened and to what; `hint` says what to do, with the command to run.
"""


class RecollectError(Exception):
    """The base class. Interfaces show the message and the hint, without a traceback."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Refused(RecollectError):
    """Raised when a request breaks a rule. Nothing was changed."""


class ContentRefused(Refused):
    """Raised when a text cannot be stored."""


class ChangedMeanwhile(Refused):
    """Raised when a memory is not what the person saw who wants to change it."""

    def __init__(self, memory_id: str) -> None:
        super().__init__(
            f"Memory {memory_id} was changed by somebody else since you opened it.",
            "Nothing was saved. Compare both texts, and save again.",
        )


class LimitReached(Refused):
    """Raised when an agent has written too many memories in one session."""


class OutOfScope(Refused):
    """Raised when an agent tries to write outside the project that it runs in."""


class MemoryOff(Refused):
    """Raised when memory is to be used in a project in which the user has turned it off."""

    def __init__(self) -> None:
        super().__init__(
            "Memory is off in this project.",
            "Run `recollect on` to turn it on. `recollect list` and `recollect show` still show what is stored.",
        )


class MemoryNotFound(RecollectError):
    def __init__(self, memory_id: str) -> None:
        super().__init__(
            f"No memory matches {memory_id[:60]!r}.", "Run `recollect list` to see what is stored."
        )
        self.memory_id = memory_id


class AmbiguousId(RecollectError):
    def __init__(self, prefix: str, matches: list[str]) -> None:
        shown = ", ".join(matches[:3]) + (", …" if len(matches) > 3 else "")
        super().__init__(
            f"{prefix[:60]!r} matches several memories: {shown}.", "Give more characters of the id."
        )
        self.prefix = prefix
        self.matches = tuple(matches)


class ChangeNotFound(RecollectError):
    def __init__(self, name: str) -> None:
        super().__init__(
            f"No single change matches {name[:60]!r}.", "Run `recollect changes` to list the ids."
        )


class SessionNotFound(RecollectError):
    def __init__(self, name: str) -> None:
        super().__init__(
            f"No session {name[:60]!r} in this project.", "Run `recollect session list` to list the ids."
        )


class ReviewNotFound(RecollectError):
    def __init__(self, name: str) -> None:
        super().__init__(
            f"No single open question matches {name[:60]!r}.", "Run `recollect review` to list the ids."
        )


class UnknownName(RecollectError):
    """Raised for a name that is not in a fixed list. The hint has the nearest one, or all."""

    def __init__(self, what: str, name: str, known: list[str]) -> None:
        from difflib import get_close_matches

        similar = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
        hint = f"Did you mean {similar[0]!r}?" if similar else f"Known: {', '.join(known)}."
        super().__init__(f"Unknown {what} {name[:60]!r}.", hint)
        self.what = what
        self.has_similar = bool(similar)


class BadSetting(RecollectError):
    """Raised for an unknown setting or an invalid value."""


class NoHome(RecollectError):
    """Raised when `~` or `~name` has no home folder, as for a container's user id without a name."""

    def __init__(self, path: object) -> None:
        super().__init__(
            f"Cannot resolve {path}: the home folder does not exist.",
            "Set HOME, or use an absolute path (RECOLLECT_HOME for the store).",
        )


class NoSuchFolder(RecollectError):
    def __init__(self, path: object) -> None:
        super().__init__(
            f"The folder {str(path)!r} does not exist.", "Give the project's folder, or omit --project."
        )


class BadImport(RecollectError):
    """Raised for a file that cannot be imported. The message names the line."""


class StoreError(RecollectError):
    """Raised for a problem with the database file."""


class StoreBusy(StoreError):
    """Raised when another process keeps the store locked for too long."""


class StoreUnwritable(StoreError):
    """Raised when the disk is full or the home is read-only."""


class StoreTooNew(StoreError):
    """Raised for a store that a newer Recollect wrote."""


class StoreMissing(StoreError):
    """Raised when the file of a store is gone: deleted or moved, while its backups exist or while it was open."""


class StoreDamaged(StoreError):
    """Raised when the store cannot be read and there is no intact backup."""


class WrongKey(StoreError):
    """Raised when the key does not open the encrypted store."""


class EmbedderUnavailable(RecollectError):
    """Raised when no vectors can be made. Writing and word search work without them."""

    by_choice = False  # whether the user turned vectors off and needs no message


class VectorsTurnedOff(EmbedderUnavailable):
    by_choice = True

    def __init__(self) -> None:
        super().__init__(
            "Vectors are turned off.", 'Set `embedder = "minilm"` in config.toml to turn them on.'
        )


class TeamError(RecollectError):
    """Raised for a problem with the team server."""


class Offline(TeamError):
    """Raised when the team server does not answer. Nothing is read from or written to the local store instead."""

    def __init__(self, address: str, why: str = "") -> None:
        super().__init__(
            f"Memory unavailable: offline. {address} does not answer{f' ({why})' if why else ''}.",
            "Check your connection and run the command again. `recollect logout` returns to the local store.",
        )


class AnotherServer(Offline):
    """Raised when something else answers at the address, such as a proxy without its server."""

    def __init__(self, address: str, status: int) -> None:
        TeamError.__init__(
            self,
            f"Memory unavailable: offline. {address} answers with status {status}, and not as a team server does.",
            "Check the address with `recollect whoami`, or ask whoever runs the server.",
        )


class TokenRefused(TeamError):
    def __init__(self, message: str = "The team server does not accept this token.", hint: str = "") -> None:
        super().__init__(
            message, hint or "It may have expired or been revoked. Run `recollect login URL` again."
        )


class NotOnServer(RecollectError):
    """Raised for an operation that an older team server does not have."""


class TooManyRequests(TeamError):
    """Raised when a limit of the team server is reached for now."""

    seconds = 1  # after which another attempt may succeed


class ClientTooOld(TeamError):
    """Raised by a server for a client whose requests it no longer understands."""


class VectorsNeeded(TeamError):
    """Raised on the server when a client makes the vectors itself, and has not sent those of some texts."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        super().__init__("The client has to send vectors of more texts.", "Send the request again with them.")
        self.texts = texts


class QuotaReached(TooManyRequests):
    """Raised when a person, an agent or a team has written as much as it may today."""

    def __init__(self, who: str, limit: int, seconds: int) -> None:
        super().__init__(
            f"{who} reached the limit of {limit:,} writes a day.",
            "It begins again at midnight UTC. Ask whoever runs the server for a higher limit.",
        )
        self.seconds = seconds

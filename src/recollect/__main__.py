"""`recollect`, and `python -m recollect`."""

import gc
import os
import sys

GARBAGE_AFTER = 50_000  # objects; a command that imports nothing unusual stays below


def main(argv: list[str] | None = None) -> int:
    """The exit code: 0, 1 for a user's error, 2 for wrong usage, 130 when interrupted."""
    arguments = sys.argv[1:] if argv is None else argv
    if arguments[:1] == ["hook"] and not {"-h", "--help"} & {*arguments}:
        from recollect.interfaces.hooks.program import main as hook  # before all else: a host is waiting

        code = hook(arguments[1:])
        if argv is None:
            os._exit(code)  # nothing is left to tidy up, and tidying up takes a while
        return code
    try:
        if argv is None and (answered := _ask_daemon(arguments)) is not None:
            return answered
        if argv is None:
            # NumPy's matrix library starts a thread per core, which takes longer than what one command calculates.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        if "mcp" in arguments and (served := _relay(arguments)) is not None:
            return served
        return _command_line(arguments)
    except KeyboardInterrupt:
        return 130


def _ask_daemon(arguments: list[str]) -> int | None:
    """Let the daemon run a command; None if it does not, or cannot."""
    from recollect.interfaces.cli.forward import answer

    return answer(arguments)


def _relay(arguments: list[str]) -> int | None:
    """Serve MCP, as agents start it; None if the command line has other options."""
    from recollect.interfaces.mcp.relay import main as relay
    from recollect.interfaces.mcp.relay import parse

    given = parse(arguments)
    try:
        return relay(*given) if given else None
    except RuntimeError:  # no home folder
        return None


def _command_line(arguments: list[str]) -> int:
    # Importing makes many objects and no garbage: looking for it takes a fifth of the time of `recollect list`.
    gc.set_threshold(GARBAGE_AFTER, 10, 10)
    from recollect.interfaces.cli.main import run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())

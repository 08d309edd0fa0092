"""`recollect`, and `python -m recollect`."""

import sys


def main(argv: list[str] | None = None) -> int:
    """The exit code: 0, 1 for a user's error, 2 for wrong usage, 130 when interrupted."""
    arguments = sys.argv[1:] if argv is None else argv
    try:
        return _command_line(arguments)
    except KeyboardInterrupt:
        return 130


def _command_line(arguments: list[str]) -> int:
    from recollect.cli.main import run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())

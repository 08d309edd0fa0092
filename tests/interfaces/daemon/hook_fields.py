"""Requests as hooks make them."""

import itertools

_NUMBERS = itertools.count(1)


def fields(host, event, name=None, at=None, seconds="20", folder=""):
    """What stands before the body: host, event, id, time in nanoseconds, deadline, folder."""
    number = next(_NUMBERS)
    when = at or 1_800_000_000_000_000_000 + number
    return (host, event, name or f"e{number}", str(when), seconds, str(folder))


def answered(service, given, body, hook=None):
    """What a hook prints that reads its answer."""
    printed = service.handle(given, body, hook)
    service.sent(given[2], received=True)
    return printed

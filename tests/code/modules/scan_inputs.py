"""Small projects for the module map, as texts by path."""

from recollect.code.modules.scan_input import ScanInput


def scan_input(files, **known):
    """`files` are texts by path; `known` is what a code graph would know."""
    return ScanInput({path: len(text) for path, text in files.items()}, lambda path: files[path], **known)


def code(kilobytes=1):
    return "x = 1\n" * (170 * kilobytes)

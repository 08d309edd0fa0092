"""The module map: which parts a codebase has, and how it is built, tested and linted."""

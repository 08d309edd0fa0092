"""Anchors: which code a memory is about, and whether that code has changed.

- `tie`: find the files and symbols that a text names
- `marks`: a digest of the code of one symbol
- `check`: compare anchors with the code as it is now
- `stale`: keep which memories of a project are stale
"""

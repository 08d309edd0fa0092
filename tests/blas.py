"""Loads NumPy with one thread for its products.

Two test processes keep both cores busy. Threads of OpenBLAS then wait for each other, and take ten times the CPU.
"""

import os

NAME = "OPENBLAS_NUM_THREADS"


def load_numpy() -> None:
    """Import NumPy, which reads the variable now, and leave the environment as it was: embedders look at it too."""
    before = os.environ.get(NAME)
    os.environ[NAME] = "1"
    import numpy  # noqa: F401

    del os.environ[NAME]
    if before is not None:
        os.environ[NAME] = before


load_numpy()

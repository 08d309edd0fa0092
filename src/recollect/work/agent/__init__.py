"""The memory agent: recall in the background of an agent written in Python, one turn behind."""

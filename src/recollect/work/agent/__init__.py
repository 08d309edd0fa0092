"""The memory agent: recall in the background of an agent written in Python, one turn behind.

- `memory_agent`: `MemoryAgent`, with the queue and the worker thread
- `tracker`: `TopicTracker`, which finds the memories for each turn of one conversation
- `turn`: the current turn, from the messages
- `triggers`: whether a turn needs a search
"""

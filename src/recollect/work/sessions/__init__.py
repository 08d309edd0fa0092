"""Sessions of agents: record events, extract findings, promote them to memories.

- `sessions`: `Sessions`, the part that does all this
- `events`: the stored form of an event
- `promote`: which findings become memories
- `summary`, `digest`: a session in five lines, and in 2,000 tokens for a language model
- `transcript`: learning from the transcripts that hosts write
- `spool`: events that could not be recorded at once
"""

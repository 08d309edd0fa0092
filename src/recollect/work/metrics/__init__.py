"""Counts, timings, and the tokens that memory saved.

- `measures`: `Measures`, the part that counts and times; `watch` measures the events of a session as they pass;
  `TimedEmbedder` times another embedder
- `timing`: histograms of durations in logarithmic buckets
- `discovery`: the tokens that a session reads and searches before its first edit
- `saved`: what memory saved of them, compared with sessions without memory; nothing if there is no baseline
- `report`: the figures of `recollect stats`
- `overview`: what is known and what waits for the user, for the first page of the browser
- `glance`: the status line of a host, and the line about a session that is over

Figures are collected in memory and written by `Schedule`; they contain no texts.
"""

"""Briefings: what an agent reads at the start of a task, within a budget of tokens.

A briefing is made in three steps:

1. `content` collects everything that could be said: pinned and standing memories, the best search hits for the task, warnings
   whose trigger the task contains, findings of other running sessions, summaries of recent ones, and open conflicts.
2. `budget` decides how many tokens the briefing may take, and how many each tier of it.
3. `briefing` fills the tiers in order with the entries that fit, each whole or not at all; `render` writes them in the format of
   the host (XML, plain text, Markdown or JSON).

The same content gives the same bytes on any day, so that prompt caches hold. Text from a memory can neither leave the fence that
`render` puts around it nor pass for instructions.
"""

"""Briefings: what an agent reads at the start of a task, within a budget of tokens.

`work.briefings.Briefings.recall` makes a briefing in three steps:

1. `content.collect_content` collects everything that could be said: pinned memories, memories of standing kinds
   (`standing` in `kinds.py`), the best search hits for the task, warnings whose trigger the task contains, findings of
   other running sessions, summaries of recent ones, modules, and open conflicts. A role (`ROLES`) leaves some of it
   out.
2. `budget.allocate` decides how many tokens the briefing may take (8 % of the remaining context, up to the project's
   budget), and how many each tier.
3. `briefing.compose` fills the tiers with the entries that fit, each whole or not at all, and `render` writes them in
   the format of the host: XML, plain text, Markdown or JSON.

The tiers, in the order they are filled:

    always      up to five pinned memories, then those of standing kinds, the most important first
    map         modules of the task, up to a third of the task's share
    bridge      what other sessions of the project are finding right now
    task        hits for this task, and what the tiers before have left unused
    summaries   the last sessions

- `content`: what could be said, and which hits are diverse enough
- `budget`: the shares of the tiers in one table, `SHARES`
- `briefing`: fills the tiers, counting tokens on the rendered text
- `render`: the formats; search results and hook texts are rendered here too

It is called by `recollect recall`, the MCP tool `memory`, and at the start of a session by the daemon. It calls
`search` for hits and `recollect.text.tokens` for counts.

What it promises: a briefing never exceeds its budget; the same content gives the same bytes on any day, so that prompt
caches hold; a conflict is shown once, with both sides; text from a memory can neither leave the fence that `render`
puts around it nor pass for instructions.

To add a tier, add its share to `budget.SHARES`, its content to `BriefingContent`, and its entries to
`briefing._EntryMaker`.
"""

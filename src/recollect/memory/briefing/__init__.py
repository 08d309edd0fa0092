"""The texts that agents read: what they can contain, within which budget, in which format.

`work.delivery.Composer` decides what is said when. It makes a text in three steps:

1. `content` reads what could be said from the store: the user's rules (`rules_in`), memories whose trigger a text
   contains, findings of other running sessions, recent sessions, open conflicts. A role (`ROLES`) leaves some of it
   out. The composer adds matches, files and modules.
2. `budget.allocate` decides how many tokens a text on request may take (8 % of the remaining context, up to the
   project's budget), and how many each tier. Other moments have fixed budgets.
3. `briefing.compose` fills the tiers with the entries that fit, each whole or not at all, and `render` writes them in
   the format of the host: XML, plain text, Markdown or JSON.

The tiers, in the order they are filled:

    always      the user's rules, in at most eight lines
    map         the project in five lines, and the modules of the task
    files       files to look at first
    fixes       what helped against a failure
    bridge      what other sessions of the project are finding right now
    task        memories for this task, and what the tiers before have left unused
    summaries   the last sessions

- `content`: what could be said, from the store alone
- `diversity`: which hits do not repeat each other
- `budget`: the shares of the tiers in one table, `SHARES`
- `briefing`: fills the tiers, counting tokens on the rendered text
- `render`: the formats; the answers of MCP tools are rendered here too

It calls `recollect.text.tokens` for counts.

What it promises: a text never exceeds its budget; the same content gives the same bytes on any day, so that prompt
caches hold; a conflict is shown once, with both sides; text from a memory can neither leave the fence that `render`
puts around it nor pass for instructions.

To add a tier, add its tokens to `budget.Allocation`, its content to `BriefingContent`, and its entries to
`briefing._EntryMaker`.
"""

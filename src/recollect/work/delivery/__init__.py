"""What an agent is told, at every moment and for every interface. `engine.delivery` is a `Composer`.

    hook, CLI, MCP, MemoryAgent, ContextWindow
        → DeliveryRequest(moment, text, …), Told
        → Composer.compose → Delivery(text, shown, ask)

- `delivery`: `Moment`, `DeliveryRequest` and `Delivery`
- `moments`: what is said at each moment, in how many tokens: the table `PLANS`
- `material`: what memory has to say at a moment, before it is fitted into a budget
- `composer`: `Composer`, which collects the content of a moment and composes the text
- `project`: the project in five lines, from the stored module map
- `replay`: what a past session would be told today
- `told`: `Told`, what a session has been told
- `waiting`: `Waiting`, what a session is told once it opens a file
- `use`: `UseWatch`, which of it the agent has used since

It calls `memory.briefing` for rules, budget and rendering, `memory.retrieval` for matches, and the code graph for files.
What a session was told is stored (`Store.deliveries`), so that a new process does not repeat it, and use can be
measured for each item.

What it promises: nothing is said twice to a session, except after a compaction; nothing is said if nothing fits; a text never
exceeds its budget; and the start of a session reads the store only, without a model or the code.
"""

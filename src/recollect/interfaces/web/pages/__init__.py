"""The pages, one module each, in the order of the menu. A new page is a module with a `PAGE`, and a row here.

- `overview`: what is known and what waits, for a project or for all
- `memories`: the list with its search and filters, new memories, and actions on many at once
- `memory`: one memory, with everything that can be done to it
- `review`: questions that wait for the user, one keystroke each
- `sessions`: what was said, done and learnt, and what agents were told
- `code`: the module map, what a task is about, who calls what
- `graph`: memories, tags, clusters and links as a picture
- `work`: tasks, files edited together, failures and fixes, tools
- `changes`: what was done to memories, with *Undo*
- `records`: audit, redactions, what was deleted, metrics
- `settings`: every setting with its source, agents, export, backup, encryption

A page's `show` and its other functions take a `WebRequest` and return what `WebRequest.render` or `WebRequest.done`
returns. Reading writes nothing; what a form does is a change that `Engine` records, so that it can be undone.
"""

from recollect.interfaces.web.page import Page
from recollect.interfaces.web.pages import (
    changes,
    code,
    graph,
    memories,
    memory,
    overview,
    records,
    review,
    sessions,
    settings,
    work,
)

PAGES: tuple[Page, ...] = (
    overview.PAGE,
    memories.PAGE,
    memory.PAGE,
    review.PAGE,
    sessions.PAGE,
    code.PAGE,
    graph.PAGE,
    work.PAGE,
    changes.PAGE,
    records.PAGE,
    settings.PAGE,
)

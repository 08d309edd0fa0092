"""The pages, one module each, in the order of the menu. A new page is a module with a `PAGE`, and a row here.

- `overview`: what is known and what waits, for a project or for all
- `memories`: the list with its search and filters, new memories, and actions on many at once
- `memory`: one memory, with everything that can be done to it
- `review`: questions that wait for the user, one keystroke each
- `changes`: what was done to memories, with *Undo*

A page's `show` and its other functions take a `WebRequest` and return what `WebRequest.render` or `WebRequest.done`
returns. Reading writes nothing; what a form does is a change that `Engine` records, so that it can be undone.
"""

from recollect.interfaces.web.page import Page
from recollect.interfaces.web.pages import changes, memories, memory, overview, review

PAGES: tuple[Page, ...] = (
    overview.PAGE,
    memories.PAGE,
    memory.PAGE,
    review.PAGE,
    changes.PAGE,
)

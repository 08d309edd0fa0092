"""The pages, one module each, in the order of the menu. A new page is a module with a `PAGE`, and a row here.

- `overview`: what is known and what waits, for a project or for all
- `changes`: what was done to memories, with *Undo*

A page's `show` and its other functions take a `WebRequest` and return what `WebRequest.render` or `WebRequest.done`
returns. Reading writes nothing; what a form does is a change that `Engine` records, so that it can be undone.
"""

from recollect.interfaces.web.page import Page
from recollect.interfaces.web.pages import changes, overview

PAGES: tuple[Page, ...] = (
    overview.PAGE,
    changes.PAGE,
)

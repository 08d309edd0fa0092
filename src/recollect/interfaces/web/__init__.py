"""`recollect web`: pages on this machine where a person sees what Recollect knows and does, and corrects it.

The way of a request:

    browser → guard.RequestGuard → app.Site.endpoint → a page's function with a `page.WebRequest` → Engine → a template

- `server`: `WebServer` listens on this machine only; `open_browser` opens the link through a private file
- `logins`: one-time links, and the browsers that were let in with one
- `guard`: which requests are let through: `Host`, `Origin`, size, and whose connection it is (`peers`)
- `app`: addresses, log-in and errors
- `page`: `Page`, what a page is, and `WebRequest`, what it is given
- `pages`: the pages, one module each
- `projects`: the engines, one per project, on one store
- `render`: templates and how values are written; `language` marks texts for translation
- `charts`: where bars, lines and boxes are in pictures that the server draws
- `live`: server-sent events for pages that are open

Templates are in `templates/`, style and script in `static/`. There is no build step: what is in the folder is what is
served. `static/vendor/` holds htmx and d3-force; NOTICE has their licences.

What every page keeps to:

- It reads without JavaScript, and its forms work without it. The script adds shortcuts and live updates.
- Looking changes nothing: searches here are not recorded (`Retrieval.browse`), and a GET writes nothing.
- A form calls one method of the engine, which records a change; `WebRequest.done` shows it with *Undo*.
- Stored text is escaped by the templates. The content policy allows no inline script or style.
"""

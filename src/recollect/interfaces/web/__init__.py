"""`recollect web`: pages on this machine where a person sees what Recollect knows and does, and corrects it.

The way of a request:

    browser → guard.RequestGuard → app.Site.endpoint → a page's function with a `page.WebRequest` → Engine → a template

- `server`: `WebServer` listens on this machine only; `open_browser` opens the link through a private file
- `connections`: nobody holds them open by sending slowly; `peers`: those of other users of the machine are refused
- `guard`: which requests are let through: `Host`, `Origin` and size
- `access`: what the pages know of who asks: `Login`, and `Access`, which finds the login of a request
- `local`: `LocalAccess`, the way in on one's own machine; `logins`: its one-time links and cookies
- `app`: `build_app` makes an application of pages, an access and the engines of a login
- `forms`: the fields of addresses and forms, and the token in each form
- `page`: `Page`, what a page is, and `WebRequest`, what it is given
- `pages`: the pages, one module each
- `projects`: the engines, one per project, on one store
- `render`: templates and how values are written; `language` marks texts for translation
- `history`: the audit log in the words of a person
- `charts`: where bars, lines and boxes are in pictures that the server draws
- `live`: server-sent events for pages that are open

Templates are in `templates/`, style and script in `static/`. There is no build step: what is in the folder is what is
served. `static/vendor/` holds htmx and d3-force; NOTICE has their licences.

Log-in is apart from the pages, so that another server can serve them to other people:

    app = build_app(access, engines_for, pages=…, on_stop=…)
    guarded = RequestGuard(app, frozenset({"https://memory.example"}))

- `access` is an `Access`: it has the addresses for logging in and out, and returns the `Login` of a request or None.
  A `Login` has the token of the person's forms (`csrf`), the notices that wait, and `user` for whoever it is.
- `engines_for(login)` lends the `ProjectEngines` of that person for a request: the engines that every page reads and
  changes memory with. It runs in a thread. `server.local_app` has the same ones for everybody, because there is one user.
- `pages` leaves pages out that make no sense elsewhere; `pages.PAGES` has all.

What every page keeps to:

- It reads without JavaScript, and its forms work without it. The script adds shortcuts and live updates.
- Looking changes nothing: searches here are not recorded (`Retrieval.search`, `noted`), and a GET writes nothing.
- A form calls one method of the engine, which records a change; `WebRequest.done` shows it with *Undo*.
- Stored text is escaped by the templates. The content policy allows no inline script or style.
"""

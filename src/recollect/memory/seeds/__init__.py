"""Seeds: statements about a project that its files and history contain before anybody has worked in it.

`find.find_seeds` collects the best of them from `instructions` (for agents), `readme`, `manifests`, `styles` (settings of linters
and formatters), `pipelines` (CI) and `history` (git). `offer.offer_seeds` writes them as memories that wait for review: each
is offered once, whatever the answer was. Ignored files are never read. `seed` has the value and the file reader.
"""

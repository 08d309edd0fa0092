"""Seeds: statements about a project that its files and history contain before anyone has worked in it.

`recollect init` calls `find_seeds`, then `offer_seeds`:

1. `find.find_seeds` collects the seeds of all sources, leaves out those that name what the project does not have
   (`truth`), say the same or contradict a surer one, and returns the best first: 15, or 40 on request.
2. `offer.offer_seeds` writes each new one with `Engine.remember` as a memory that waits for review, and asks a question
   for `recollect review`. Each is offered once, whatever the answer was.

The sources, one module each:

- `instructions`: files for agents (CLAUDE.md, AGENTS.md, …): each bullet and each imperative sentence
- `readme`: how to set the project up and test it, its conventions and pitfalls
- `manifests`: languages with their versions, frameworks, package managers and commands
- `styles`: settings of linters and formatters
- `pipelines`: versions and services that CI uses
- `history`: files that change together and changes that were reverted for a reason, from git

`hosts` knows which host an instruction file is for. `seed` has the value and the file reader. The module map (`code.modules`) is passed in for its commands.

The package promises that ignored files and files outside the project are never read, that everything found is a
proposal until a person accepts it, and that secrets are removed as from any other text. To add a source, write a
generator of `Seed`s and add it to `find`.
"""

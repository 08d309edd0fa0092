"""The command line, `recollect`.

A command line takes this path: `main.run` parses it with click and imports the module of the command; the command reads
its options, calls the engine (`CliContext.engine`, opened on first use) and returns a value; `command.rendered` prints
the value as JSON or as text; `main` closes the engine, and prints an error with its hint.

    forward       `remember` and commands that only read are run by the daemon if there is one, before click is imported
    served        the same command, in the daemon
    main          the table of commands and their groups, errors and exit codes
    command       CliContext, and the decorator that prints what a command returns
    options       options, parameter types and input that several commands share
    output        tables, JSON, errors, progress bars, files that are replaced whole
    pager         long output on a terminal
    select        choose one of several lines in a terminal
    overview      what `recollect` alone shows

    memories      remember, list, show, edit, forget, restore, wrong, pin
    describe      describe
    search        recall, search, similar, feedback, gaps
    explain       the explanations of `search --explain`
    links         link, links, tag, conflicts, resolve
    init          init
    map, graph    the module map and the code graph
    session       session, extract
    task          task
    history       history
    review        review
    trust         trust
    maintenance   consolidate, changes, undo, backup, vacuum, encrypt, audit, doctor
    transfer      export, import, mirror
    settings      alias, season, budget, on, off, auto, preset, kinds
    config        config
    model         model
    cost, stats   what the sidecar costs, and what memory is worth
    login         login, logout, whoami
    team          team
    install       install, uninstall
    integrations  daemon, hook, mcp, demo, completion

Commands hold no rules: what the MCP server or a hook needs too belongs to the engine. With `--json`, standard output is
one document whose keys are stable; messages go to standard error. `recollect --help` imports no command.

Exit codes: 0, 1 for a `RecollectError`, 2 for wrong usage, 130 if interrupted. If a daemon runs, it answers commands that
may run twice (`forward.REPEATABLE`), and others use its embedding model (`daemon_client.embedder.from_daemon`).

To add a command, follow CONTRIBUTING.md. Tests compare `main.GROUPS`, the docstrings and docs/cli.md.
"""

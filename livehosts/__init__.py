"""`make hosts`: the real CLIs of the hosts, run against a scripted model that writes down what it was sent.

A check (`checks`) runs in a `sandbox`: a temporary home and store, the `sample_project`, a host connected with
`recollect install`, and a `server` that speaks the APIs of models (`apis`), plays a `script` and keeps every request as a
`model_request`. The host runs without a terminal, or in one under tmux (`terminal`, `interactive`). `delivered` says what
of a request is Recollect's. The rows become a table (`report`).

- `host_cli`, `clis`: the CLIs, their versions, and how to run each
- `npm`: installs them into a cache folder
- `check`, `checks`, `load`: what is checked, how often, and under which load
- `by_hand`: one session by hand
- `hook_recorder`: keeps what a host sends to its hooks, which is how the fixtures of the tests are made
- `reply`: what the scripted model answers

To add a check, write a function that takes a `CheckRun` and add it to `checks/registry.py`. To add a host, write a module in
`clis/`.
"""

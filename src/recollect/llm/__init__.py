"""Language models that decide where the rules are unsure, on a server or through the user's own command.

A caller holds a `Sidecar` and asks it a question, such as whether two statements contradict each other. The question
takes this path:

1. `LlmSidecar._ask` starts a thread, so that the caller waits no longer than the timeout.
2. `consent` is asked whether texts may be sent to this place, and `spending` whether calls are paused after failures.
3. `questions` makes the prompt, without secrets, and the schema of the answer.
4. `spending` reserves the maximum cost in the store's ledger; if that exceeds the daily limit, nothing is sent.
5. The client, `http` or `command`, sends it. `questions` reads the answer; if it does not fit, the
   model is asked once more.
6. Without a usable answer in time, the local sidecar that `LlmSidecar` was given answers instead.

Modules:

- `protocol`: `Sidecar` and `Judge`, and the values they answer with
- `questions`: the prompt of each question, and how its answer is read
- `client`: the interface of a client
- `http`: servers with OpenAI's chat API or Anthropic's; `command`: `claude -p`, `codex exec` or any other command
- `consent`: where texts go, and whether the user agreed to it
- `spending`: the daily limit, the pause after failures, and the figures of `recollect cost`
- `sidecar`: `LlmSidecar`, and `with_llm`, which makes one from the settings

`memory.sidecar.open_sidecar` chooses between this, local rules and none. Sessions ask for findings and summaries, the
writer and consolidation for relations between statements, the module map for names.

The package promises that no secret leaves the machine, that nothing is sent without consent, that the daily limit holds
across all processes, and that a sidecar neither raises nor blocks beyond its timeout. It knows nothing about memories
beyond `model`. To add a question, add it to `protocol`, `questions` and both sidecars (`LlmSidecar` here,
`LocalSidecar` in `memory.sidecar`). docs/sidecar.md describes the sidecar for users.
"""

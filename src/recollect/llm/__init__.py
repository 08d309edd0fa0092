"""Language models that judge and word what the rules leave open, on a server or through the user's own command.

A caller holds a `Sidecar` and asks it a question, such as whether two statements contradict each other. `LlmSidecar`
turns the question into a prompt, checks consent and the daily limit, sends the prompt through an `LlmClient` and reads
the answer. If there is no usable answer in time, the local sidecar it was given answers instead.

- `protocol`: what a sidecar answers, and the values it answers with
- `questions`: the prompt of each question, and how its answer is read
- `client`: the interface of a client, `http` and `command`: the two clients
- `consent`: where texts go, and whether the user agreed to it
- `spending`: the daily limit, the pause after failures, and the figures of `recollect cost`
- `sidecar`: puts these together

The package promises that no secret leaves the machine, that nothing is sent without consent, that the daily limit holds
across all processes, and that a sidecar neither raises nor blocks beyond its timeout. It knows nothing about memories
beyond `model`.
"""

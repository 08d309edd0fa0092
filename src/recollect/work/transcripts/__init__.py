"""Transcripts of sessions, read as one kind of event for every host.

A file takes this path:

1. `hosts.transcripts.detect` recognises its format by the content, and `read` picks the reader of that format.
2. The reader gets lines (`lines`) or the members of one large JSON document (`document`). A file of any size is read
   item by item, decompressed and repaired where possible.
3. It takes values with `fields`, which treats a value of an unexpected type as absent.
4. `TranscriptReading` numbers the events, matches results with calls, drops what a host repeats, and notes in a
   `Report` every line that could not be used.
5. `injected` marks the parts of a prompt that the host inserted, so that nobody learns them as the user's words.

Modules:

- `event`: `Event`, a message, a tool call or its result
- `reading`: one file being read, its report, and `TranscriptFormat`, what a format consists of
- `lines`, `document`: JSON lines and JSON documents, compressed, damaged or huge
- `fields`: values from foreign JSON
- `injected`: which part of a prompt the host inserted
- `messages`: the message format of the APIs, in files and in running conversations (`LiveMessages`)
- `aider`, `openhands`, `swe_agent`: formats of programs that are not hosts
- `tools`: what the tools of all hosts do, by their names, and where their inputs have a path or a command

Readers of hosts are in `recollect.work.hosts`, one file per host. Sessions, extraction, episodes and metrics read
events and know no format. This package imports no other part of Recollect.

What it promises: reading never raises for the content of a file, uses bounded memory, and reports what it skipped. The
order of an event within its session is stable, because findings cite it. Events are not redacted yet: `sessions.events`
does that before anything is stored. Hidden reasoning is never an event.

To read another format, write a reader and add its `TranscriptFormat` to the host's row or to
`hosts.transcripts.FORMATS`.
"""

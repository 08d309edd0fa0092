"""Transcripts of sessions, read as one kind of event whatever the host.

A reader gets lines (`lines`) or the members of one large JSON document (`document`) from a file of any size, looks at
them without trusting a field (`fields`), and makes an `Event` of each message, call and result through a
`TranscriptReading`, which numbers the events and reports every line that it could not use. Readers of hosts are in
`recollect.work.hosts`; `recollect.work.hosts.transcripts` recognises a file and picks its reader.

- `event`: the event
- `reading`: one file being read, its report, and what a format consists of
- `lines`, `document`: JSON lines and JSON documents, compressed, damaged or huge
- `fields`: values from foreign JSON
- `injected`: which part of a prompt the host inserted
- `messages`: the message format of the APIs, in files and in running conversations
- `aider`, `openhands`, `swe_agent`: formats of programs that are not hosts
- `tools`: what the tools of all hosts do, by their names
"""

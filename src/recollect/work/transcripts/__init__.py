"""The records that hosts keep of their sessions, read as one kind of event."""

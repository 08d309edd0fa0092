"""What happens while agents work: sessions, transcripts, episodes, the context window."""

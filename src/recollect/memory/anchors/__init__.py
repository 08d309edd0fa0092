"""Memories tied to the code they are about, and noticed when it changes."""

"""Memories: written, searched, briefed, maintained and transferred."""

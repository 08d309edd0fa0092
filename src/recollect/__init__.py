"""Long-term memory for coding agents."""

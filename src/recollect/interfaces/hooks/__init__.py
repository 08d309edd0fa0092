"""The program that hosts run at every prompt and tool: small, quick, and always out of the way."""

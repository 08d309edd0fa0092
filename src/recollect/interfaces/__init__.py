"""What people and agents use: commands, MCP, hooks, the daemon and hosts. Each parses, calls the engine and renders."""

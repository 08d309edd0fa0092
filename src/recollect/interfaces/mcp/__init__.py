"""The MCP server: memory, code and past work as tools, resources and prompts."""

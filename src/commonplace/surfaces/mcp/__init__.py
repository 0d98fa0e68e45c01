"""The MCP server: tools, resources and a prompt."""

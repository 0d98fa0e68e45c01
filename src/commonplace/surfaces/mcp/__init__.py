"""The memory as tools, resources and a prompt, over the Model Context Protocol."""

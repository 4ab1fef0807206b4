"""A graph for agents: tools that answer in plain data and errors that say how to go on; `mcp_server` offers them."""

"""Who judges what the rules leave open: rules of its own, a server, or the user's own agent."""

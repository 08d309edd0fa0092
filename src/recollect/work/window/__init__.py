"""The context window of an agent, which never fills up: what leaves it can be had again."""

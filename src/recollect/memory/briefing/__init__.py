"""What an agent is told at the start of a task, within a budget of tokens."""

"""What a project's code is made of, and what of it a task touches."""

"""What was done before: tools, files, tasks, and the patterns in them."""

"""What is counted and timed, and what memory saved."""

"""What looks after memories: decay, compaction, review, undo, transfer, health."""

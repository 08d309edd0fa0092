"""One process a user, which has the model loaded, answers hooks in time and learns when nobody waits."""

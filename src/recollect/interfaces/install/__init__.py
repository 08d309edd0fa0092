"""The agents that Recollect connects to: their files, their events, and how they want to be answered."""

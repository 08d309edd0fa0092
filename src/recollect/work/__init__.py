"""What happens while agents work, built on memories and code.

- `sessions`: record events, extract findings, promote them to memories
- `extract`: the findings in the events of a session
- `transcripts`, `hosts`: read what the hosts of agents write
- `episodes`: past work, with tools, files and tasks
- `window`: keep a conversation within a model's context window
- `agent`: recall in the background of a Python agent
- `metrics`: counts, timings and savings
- `briefings`: what an agent is told at the start of a task
- `project_code`: the code of a project with past tasks and its module map
- `schedule`: the maintenance that is due
"""

"""All checks, in the order in which they run."""

from livehosts.check import Check
from livehosts.checks import briefing, connection, correction, failure, hostile, nudge, rules, sessions, task

_ALL = (
    Check("briefing-cold", "Briefing in the first request, no daemon", briefing.cold),
    Check("briefing-warm", "Briefing in the first request, daemon running", briefing.warm),
    Check("briefing-cold-load", "The same without a daemon, at load 4", briefing.cold_under_load),
    Check("briefing-warm-load", "The same with a daemon, at load 4", briefing.warm_under_load),
    Check("briefing-tui", "Briefing in a terminal, no daemon", briefing.in_a_terminal),
    Check("task", "Files for a task, and how to test", task.map_and_files),
    Check("opened-file", "What is known of a file, when it is opened", task.opened_file),
    Check("recorded", "What an agent recorded, asked for in other words", task.recorded),
    Check("correction", "Correction in the next session", correction.headless),
    Check("correction-tui", "Correction in the next session, in a terminal", correction.in_a_terminal),
    Check("fix", "Failure: the fix that worked", failure.fix_offered),
    Check("session-ended", "Session ended", sessions.ended),
    Check("repeated", "Nothing said twice", sessions.nothing_repeated),
    Check("compaction", "Rules told again after a compaction", sessions.compacted),
    Check("nudge", "Asked once to record what was learnt", nudge.asked_once),
    Check("no-nudge", "Not asked after small things", nudge.not_asked),
    Check("never", "A rule of the user's stops a tool", rules.never),
    Check("hostile", "A hostile repository has no effect", hostile.session),
    Check("warnings", "No warning of the host", connection.no_warnings),
    Check("mcp", "MCP tools without a question", connection.mcp_tools),
    Check("slash", "Slash commands", connection.slash_commands),
    Check("glance", "The user sees what memory did", connection.glance),
    Check("uninstall", "Uninstall is exact", connection.uninstall),
)
CHECKS = {check.name: check for check in _ALL}

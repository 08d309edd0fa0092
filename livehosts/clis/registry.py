"""All CLIs by the name that `recollect install` takes."""

from livehosts.clis.claude_code import CLAUDE_CODE
from livehosts.clis.codex import CODEX
from livehosts.clis.gemini import GEMINI
from livehosts.clis.opencode import OPENCODE

CLIS = {cli.name: cli for cli in (CLAUDE_CODE, CODEX, GEMINI, OPENCODE)}

"""What a hook prints, in the form its host takes. Pure."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from recollect.work.hosts.host import Hook, HookReply

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def printed(hook: Hook, text: str, more: Mapping[str, Any] = _NOTHING) -> bytes:
    """Return what the hook prints: `text` for the model, and `more` for the host to do.

    Empty if there is nothing to print, or it would not reach the model.
    """
    if hook.reply is HookReply.NONE or not (text or more):
        return b""
    output = dict(more)
    if hook.reply is HookReply.DECISION:
        return json.dumps(output).encode() if output else b""
    if hook.reply is HookReply.TEXT:
        if not more:
            return text.encode("utf-8", "replace")
        output["text"] = text
    elif text and hook.reply is HookReply.HOOK_OUTPUT:
        context = {"hookEventName": hook.event, "additionalContext": text}
        output["hookSpecificOutput"] = context | output.get("hookSpecificOutput", {})
    elif text:
        output["additional_context"] = text
    return json.dumps(output).encode()

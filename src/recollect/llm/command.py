"""A client that runs the user's own command: `claude -p`, `codex exec`, `gemini -p`, or any that reads and writes JSON."""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Mapping

from recollect.llm.client import LlmAnswer, LlmError, Prompt
from recollect.model import INJECTED_MARK, CallOutcome

MAX_ANSWER = 1 << 20  # bytes


class CommandClient:
    """Runs the command without a shell, in an empty folder, and kills its process group on timeout.

    The command does not inherit our keys. If it calls Recollect, that runs without a sidecar, so it cannot recurse.
    """

    def __init__(self, command: str, environment: Mapping[str, str]) -> None:
        self._arguments = shlex.split(command)
        ours = [name for name in environment if name.startswith("RECOLLECT_") and name != "RECOLLECT_HOME"]
        self._environment = {name: value for name, value in environment.items() if name not in ours}
        self._environment["RECOLLECT_SIDECAR"] = "none"

    def render(self, prompt: Prompt) -> str:
        """Return one JSON object. Its mark keeps it from being learnt if the command's own sessions are read."""
        return json.dumps(
            {
                "source": INJECTED_MARK,
                "purpose": prompt.purpose,
                "instructions": prompt.instructions,
                "data": json.loads(prompt.data),
            },
            ensure_ascii=False,
            indent=1,
        )

    def ask(self, prompt: Prompt, seconds: float) -> LlmAnswer:
        with tempfile.TemporaryDirectory(prefix="recollect-", ignore_cleanup_errors=True) as folder:
            try:
                process = subprocess.Popen(
                    self._arguments,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    cwd=folder,
                    env=self._environment,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                raise LlmError(f"{self._arguments[0]} cannot be run: {error}", CallOutcome.REFUSED) from error
            with process:
                try:
                    out, _ = process.communicate(self.render(prompt).encode(), max(seconds, 0.001))
                except subprocess.TimeoutExpired:
                    raise LlmError(f"it took longer than {seconds:.1f} s") from None
                finally:
                    _kill(process)
        if process.returncode:
            raise LlmError(f"it ended with exit code {process.returncode}")
        return LlmAnswer(out[:MAX_ANSWER].decode("utf-8", "replace"))


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill the process and its child processes."""
    with contextlib.suppress(OSError):  # it has already ended
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()

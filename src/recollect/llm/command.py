"""The user's own command as a voice: `claude -p`, `codex exec`, `gemini -p`, or any that reads and writes JSON."""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Mapping

from recollect.llm.voice import NoAnswer, Prompt, Said
from recollect.model import INJECTED_MARK
from recollect.store.ledger import Outcome

LONGEST_ANSWER = 1 << 20  # bytes


class CommandVoice:
    """Run without a shell, in an empty folder, with its process group killed when time is over.

    Our keys are not handed down, and what it asks of Recollect itself finds no sidecar: it must not ask in a circle.
    """

    def __init__(self, command: str, environment: Mapping[str, str]) -> None:
        self._arguments = shlex.split(command)
        ours = [name for name in environment if name.startswith("RECOLLECT_") and name != "RECOLLECT_HOME"]
        self._environment = {name: value for name, value in environment.items() if name not in ours}
        self._environment["RECOLLECT_SIDECAR"] = "none"

    def wording(self, prompt: Prompt) -> str:
        """One JSON object. Its mark keeps it from being learnt, should the command's own sessions be read."""
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

    def ask(self, prompt: Prompt, seconds: float) -> Said:
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
                raise NoAnswer(f"{self._arguments[0]} cannot be run: {error}", Outcome.REFUSED) from error
            with process:
                try:
                    out, _ = process.communicate(self.wording(prompt).encode(), max(seconds, 0.001))
                except subprocess.TimeoutExpired:
                    raise NoAnswer(f"it took longer than {seconds:.1f} s") from None
                finally:
                    _kill(process)
        if process.returncode:
            raise NoAnswer(f"it ended with exit code {process.returncode}")
        return Said(out[:LONGEST_ANSWER].decode("utf-8", "replace"))


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """With all it has started."""
    with contextlib.suppress(OSError):  # it is gone
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()

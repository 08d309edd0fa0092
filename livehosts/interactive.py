"""A session of a host in a terminal: prompts are typed, and the screen says when the agent has answered."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from livehosts.model_request import ModelRequest
from livehosts.sandbox import Sandbox
from livehosts.script import Action, Say
from livehosts.terminal import Terminal

START_SECONDS = 90.0  # that a host may take until it shows its input, under load
ANSWER_SECONDS = 90.0
MENU_SECONDS = 20.0  # until a command is offered that was typed
STEADY_SECONDS = 2.0  # without a dialog, after which none is expected


class NotShown(Exception):
    """Raised with the screen when it does not show what was waited for."""


class InteractiveSession:
    """Types prompts and waits for the answers."""

    def __init__(self, box: Sandbox, terminal: Terminal) -> None:
        self._box, self._terminal = box, terminal
        self._before = len(box.server.requests)
        self._prompts = 0

    @property
    def screen(self) -> str:
        return self._terminal.screen

    @property
    def requests(self) -> list[ModelRequest]:
        return self._box.server.requests[self._before :]

    @property
    def turns(self) -> list[ModelRequest]:
        """The turns of the agent in this session."""
        return [request for request in self.requests if request.is_turn]

    def wait_until_ready(self) -> None:
        """Answer the dialogs of the host until it takes a prompt."""
        cli, until, steady = self._box.cli, time.monotonic() + START_SECONDS, 0.0
        while steady < STEADY_SECONDS:
            if time.monotonic() > until:
                raise NotShown(f"{cli.title} did not become ready:\n{self.screen}")
            screen = self.screen
            keys = next((keys for text, keys in cli.dialogs.items() if text in screen), None)
            if keys is not None:
                self._terminal.press(*keys)
                steady = 0.0
                time.sleep(1.0)
            time.sleep(0.2)
            steady = steady + 0.2 if keys is None and cli.ready in screen else 0.0

    def type(self, text: str) -> None:
        """Type a text and submit it."""
        self._terminal.type(text)
        time.sleep(0.8)  # hosts take keys that come at once for pasted text
        self._terminal.press(*self._box.cli.submit_keys)

    def prompt(self, text: str, *actions: Action, answer: str = "") -> None:
        """Type a prompt, in answer to which the model takes `actions` and says `answer`, and wait until that is there."""
        self._prompts += 1
        end = f"Answer {self._prompts} ends."
        self._box.play({text: (*actions, Say(f"{answer} {end}".strip()))})
        self.type(text)
        self._wait_for_answer(text, end)
        time.sleep(1.0)  # what the host does once the agent has finished

    def prompt_command(self, command: str, description: str, argument: str) -> None:
        """Type a slash command when the host offers it, with an argument, and wait for the answer."""
        self._prompts += 1
        end = f"Answer {self._prompts} ends."
        self._box.play({argument: (Say(end),)})
        self._terminal.type(command)
        if not self._terminal.wait_for(description, MENU_SECONDS):
            raise NotShown(f"{command} is not offered:\n{self.screen}")
        if self._box.cli.completing_key:
            self._terminal.press(self._box.cli.completing_key)
            time.sleep(1.0)
        self.type(argument if self._box.cli.completing_key else f" {argument}")
        self._wait_for_answer(f"{command} {argument}", end)

    def compact(self) -> None:
        """Let the host compact the chat, and wait until the model was asked for the summary."""
        before = len(self.requests)
        self.type(self._box.cli.compact)
        until = time.monotonic() + ANSWER_SECONDS
        while len(self.requests) == before:
            if time.monotonic() > until:
                raise NotShown(f"{self._box.cli.compact} asked for no summary:\n{self.screen}")
            time.sleep(0.2)
        time.sleep(STEADY_SECONDS)  # until the host has replaced the chat by it

    def _wait_for_answer(self, text: str, end: str) -> None:
        """Wait until the screen shows `end`. A dialog that swallowed the text is answered, and the text typed again."""
        until = time.monotonic() + ANSWER_SECONDS
        while end not in (screen := self.screen):
            if time.monotonic() > until:
                raise NotShown(f"no answer to {text!r}:\n{screen}")
            if any(dialog in screen for dialog in self._box.cli.dialogs):
                self.wait_until_ready()
                self._terminal.press("C-u")
                self.type(text)
            time.sleep(0.2)

    def wait_for(self, text: str, seconds: float = ANSWER_SECONDS) -> bool:
        return self._terminal.wait_for(text, seconds)

    def press(self, *keys: str) -> None:
        self._terminal.press(*keys)

    def quit(self) -> None:
        """Leave as a user does, and wait until the host has exited."""
        for keys in self._box.cli.quit_keys:
            self._terminal.press(*keys)
            time.sleep(1.0)
        if not self._terminal.wait_for_exit():
            raise NotShown(f"{self._box.cli.title} did not exit:\n{self.screen}")


@contextmanager
def interactive_session(box: Sandbox) -> Iterator[InteractiveSession]:
    """Start the host in a terminal and wait until it takes a prompt. One that draws nothing is started once more."""
    for is_last in (False, True):
        with box.terminal() as terminal:
            session = InteractiveSession(box, terminal)
            try:
                session.wait_until_ready()
            except NotShown:
                if is_last or session.screen.strip():
                    raise
                continue
            yield session
            return

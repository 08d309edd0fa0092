"""The first prompt of a session gets the files to look at first, also from a daemon that has just started."""

import subprocess
import threading
from contextlib import suppress

import pytest

from recollect.interfaces.daemon.hook_service import HOOK_ACTOR, WORDS_SECONDS
from recollect.interfaces.daemon_client.protocol import NotRecorded

ASK = "print_receipt in tills.py forgets the tax, fix it"
GOTCHA = "The payment webhook retries must be idempotent."


@pytest.fixture
def project(folder):
    """A small repository that nobody has read yet."""
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / "tills.py").write_text("def print_receipt(order):\n    return order.total\n")
    (folder / "carts.py").write_text("def add_item(cart, item):\n    cart.append(item)\n")
    return folder


@pytest.fixture
def busy_index(service):
    """Other work that keeps the threads busy which read code, until the test is over."""
    over = threading.Event()
    for _ in range(2):
        service.code_index.run("", lambda: over.wait(60))
    yield
    over.set()


def test_a_daemon_reads_the_code_of_the_project_it_was_started_for(service, project):
    service.warm_up(str(project))
    assert service.model_is_ready.wait(60)
    service.code_index.wait(str(project), 60)

    with service.engines.use(project, HOOK_ACTOR) as engine:
        assert [file.path for file in engine.code.files_to_show(ASK)] == ["tills.py"]


def test_the_start_of_a_session_reads_the_code_of_its_project(service, hook, project):
    hook("SessionStart", source="startup")

    assert "[FILE] tills.py" in hook("UserPromptSubmit", prompt=ASK)


def test_a_first_prompt_without_a_start_waits_for_the_code_too(hook, project):
    assert "[FILE] tills.py" in hook("chat.message", host="opencode", sessionID="s1", prompt=ASK)


def test_code_that_takes_too_long_costs_a_prompt_no_memories(service, hook, project, memory, busy_index):
    memory.remember(GOTCHA, kind="gotcha")
    hook("SessionStart", source="startup")
    waited, wait = [], service.code_index.wait
    service.code_index.wait = lambda folder, seconds: (waited.append(seconds), wait(folder, 0.1))

    told = hook(
        "UserPromptSubmit", prompt="Make the payment webhook retries idempotent, please", seconds="20"
    )

    assert GOTCHA in told
    assert 0.1 < waited[0] < 20 - WORDS_SECONDS


def test_a_prompt_that_may_not_wait_does_not_wait_for_the_code(service, hook, project, busy_index):
    hook("SessionStart", source="startup")
    waited = []
    service.code_index.wait = lambda folder, seconds: waited.append(seconds)

    with suppress(NotRecorded):  # on a busy machine
        hook("UserPromptSubmit", prompt=ASK, seconds="0.15")

    assert waited == []


def test_with_memory_off_no_code_is_read(service, project, memory):
    memory.preferences.set_switch("memory", False)

    service.code_index.read(str(project))
    service.code_index.wait(str(project), 60)

    assert not memory.codebase.exists

"""How often a conversation is learnt from while it goes on."""

import pytest

from recollect.interfaces.daemon.hook_session import CHECKPOINT_EVERY, CHECKPOINT_SHARE, HookSession
from recollect.work.hosts.hook_input import host_event

END = host_event("claude-code", "Stop", "e1", "1", "/project", {})


@pytest.fixture
def conversation():
    return HookSession("s1", "claude-code", "/project")


@pytest.fixture
def turn_ends(conversation):
    """What the end of a turn with something new in it, or with nothing, makes due at a time."""

    def end(now, new_events=1):
        conversation.new_events += new_events
        conversation.turn_ended(END)
        return conversation.due_checkpoint(now) is END

    return end


def test_nothing_new_is_no_reason_to_learn(turn_ends):
    assert not turn_ends(now=1000, new_events=0)


def test_it_is_learnt_from_at_once_and_then_at_most_every_half_minute(turn_ends):
    assert [turn_ends(now) for now in (1000, 1001, 1000 + CHECKPOINT_EVERY)] == [True, False, True]


def test_what_came_too_soon_after_the_last_time_is_learnt_from_later(conversation, turn_ends):
    turn_ends(now=1000)
    turn_ends(now=1001)

    due = [conversation.due_checkpoint(now) for now in (1002, 1000 + CHECKPOINT_EVERY, 2000)]

    assert due == [None, END, None]


def test_a_session_that_takes_long_to_read_is_read_the_more_rarely(conversation, turn_ends):
    turn_ends(now=1000)
    conversation.checkpoint_took(6, now=1006)

    assert not turn_ends(now=1005 + 6 / CHECKPOINT_SHARE)
    assert turn_ends(now=1006 + 6 / CHECKPOINT_SHARE)

"""How often a conversation is learnt from while it goes on."""

import pytest

from recollect.interfaces.daemon.hook_session import CHECKPOINT_EVERY, CHECKPOINT_SHARE, HookSession


@pytest.fixture
def conversation():
    return HookSession("s1", "claude-code", "/project")


def test_nothing_new_is_no_reason_to_learn(conversation):
    assert not conversation.wants_checkpoint(now=1000)


def test_it_is_learnt_from_at_once_and_then_at_most_every_half_minute(conversation):
    wanted = []
    for now in (1000, 1001, 1000 + CHECKPOINT_EVERY):
        conversation.new_events += 1
        wanted.append(conversation.wants_checkpoint(now))

    assert wanted == [True, False, True]


def test_a_session_that_takes_long_to_read_is_read_the_more_rarely(conversation):
    conversation.new_events = 1
    conversation.wants_checkpoint(now=1000)
    conversation.checkpoint_took(6, now=1006)
    conversation.new_events = 1

    assert not conversation.wants_checkpoint(now=1005 + 6 / CHECKPOINT_SHARE)
    assert conversation.wants_checkpoint(now=1006 + 6 / CHECKPOINT_SHARE)

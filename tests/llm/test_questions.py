"""What leaves the machine, as it is worded."""

import pytest

from recollect.llm import questions
from recollect.llm.protocol import ModuleSketch

SECRET = "ghp_" + "q7Rk2mX9" * 4 + "aBcd"


@pytest.mark.parametrize("before", [280, 290, 19_980, 19_990])  # where a line and a text are cut
@pytest.mark.parametrize(
    "ask",
    [
        lambda text: questions.verify(text, ()),
        lambda text: questions.extract(text, [text]),
        lambda text: questions.relate(text, text),
        lambda text: questions.name_modules([ModuleSketch("a", text, (text,))]),
        lambda text: questions.summarise(text, 3),
    ],
)
def test_no_half_of_a_secret_is_sent(ask, before):
    prompt = ask("x " * (before // 2) + SECRET).prompt()

    assert "ghp_" not in prompt.data

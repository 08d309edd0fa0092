"""A model names modules: what it may say, and what is made of it."""

import json

import pytest

from recollect.llm import questions
from recollect.llm.protocol import ModuleSketch, ModuleTitle
from recollect.memory.sidecar import LocalSidecar, SilentSidecar

SHOWN = [
    ModuleSketch("auth", "login, tokens", tuple(f"src/auth/{n}.py" for n in range(50))),
    ModuleSketch("stock", "", ("src/stock/order.py",)),
]


def say(*modules):
    return json.dumps(
        {"modules": [dict(zip(("n", "name", "description"), each, strict=True)) for each in modules]}
    )


def test_names_and_descriptions_come_back_by_place():
    told = questions.name_modules(SHOWN).answer(say((2, "inventory", "Orders and shelves.")))

    assert told == [ModuleTitle(1, "inventory", "Orders and shelves.")]


@pytest.mark.parametrize(
    "modules",
    [
        [(0, "a", "b")],
        [(3, "a", "b")],
        [(True, "a", "b")],
        [(1, "", "b")],
        [(1, "x" * 41, "b")],
        [(1, "<script>", "b")],
        [(1, "a", "")],
        [(1, "a", "x" * 161)],
        [(1, "a", "b"), (1, "c", "d")],
        [(1, "a", "b"), (2, "A", "d")],
    ],
)
def test_what_was_not_asked_for_is_no_answer(modules):
    with pytest.raises(ValueError, match=r"."):
        questions.name_modules(SHOWN).answer(say(*modules))


def test_no_secret_is_sent_or_kept():
    token = "ghp_" + "q7Rk2mX9" * 4 + "aBcd"
    question = questions.name_modules([ModuleSketch(token, token, (token,))])

    told = question.answer(say((1, "auth", f"Uses {token}.")))

    assert token not in question.prompt().data
    assert token not in told[0].description


def test_few_files_of_a_module_are_sent():
    assert "src/auth/12.py" not in questions.name_modules(SHOWN).prompt().data


@pytest.mark.parametrize("sidecar", [LocalSidecar(None), SilentSidecar()])
def test_without_a_model_nobody_is_asked(sidecar):
    assert sidecar.name_modules(SHOWN) is None

"""Every method of every store protocol has a contract test."""

import ast
import inspect
from functools import cache
from pathlib import Path

import pytest

import recollect.context.store as protocols

CONTRACTS = ("contract.py", "work_contract.py", "undo_contract.py")
STORE = (protocols.MemoryStore, protocols.WorkStore, protocols.StoreMaintenance, protocols.Store)
PARTS = {
    "changes": protocols.ChangeLog,
    "reviews": protocols.ReviewQueue,
    "modules": protocols.ModuleMapStore,
    "events": protocols.EventStore,
    "messages": protocols.MessageStore,
    "episodes": protocols.EpisodeStore,
    "ledger": protocols.CostLedger,
    "measures": protocols.MeasureStore,
    "deliveries": protocols.DeliveryStore,
    "pruned": protocols.PrunedTextStore,
}


def methods(protocol):
    return {name for name, value in vars(protocol).items() if not name.startswith("_") and callable(value)}


def properties(protocol):
    return {name for name, value in vars(protocol).items() if isinstance(value, property)}


@cache
def used():
    """All attributes that the contract tests read, each with the attribute it is read from ("" for a variable)."""
    found = set()
    for name in CONTRACTS:
        tree = ast.parse((Path(__file__).parent / name).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                owner = node.value.attr if isinstance(node.value, ast.Attribute) else ""
                found.add((owner, node.attr))
    return found


def test_every_protocol_is_known_here():
    declared = {
        value
        for _, value in inspect.getmembers(protocols, inspect.isclass)
        if value.__module__ == protocols.__name__
    }

    assert declared == {*STORE, *PARTS.values()}
    assert set().union(*map(properties, STORE)) == {*PARTS, "notices", "user_id"}


@pytest.mark.parametrize("protocol", STORE, ids=lambda protocol: protocol.__name__)
def test_every_method_of_a_store_has_a_contract_test(protocol):
    assert {name for name in methods(protocol) | properties(protocol) if ("", name) not in used()} == set()


@pytest.mark.parametrize("part", PARTS)
def test_every_method_of_a_part_has_a_contract_test(part):
    assert {name for name in methods(PARTS[part]) if (part, name) not in used()} == set()

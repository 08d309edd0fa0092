"""`frozen` makes the classes that `dataclass(frozen=True, slots=True)` makes."""

import copy
import inspect
import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace

import pytest

from recollect.frozen import frozen


@frozen
class Price:
    """An amount of money."""

    cents: int
    currency: str = "EUR"
    notes: Mapping[str, str] = field(default_factory=dict)
    raw: bytes = field(default=b"", repr=False, compare=False)

    @property
    def euros(self) -> float:
        return self.cents / 100


@frozen
class Point:
    x: int


@frozen
class Nothing:
    pass


@frozen
class Named:
    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.name.lower() == other.name.lower()

    def __hash__(self) -> int:
        return hash(self.name.lower())

    def __repr__(self) -> str:
        return f"<{self.name}>"


def test_a_value_is_made_from_positions_names_and_defaults():
    price = Price(5, notes={"tax": "none"})

    assert (price.cents, price.currency, price.notes, price.raw) == (5, "EUR", {"tax": "none"}, b"")
    assert price.euros == 0.05


def test_a_default_that_is_made_is_made_for_each_value():
    assert Price(1).notes is not Price(1).notes


@pytest.mark.parametrize("arguments", [{}, {"cents": 1, "cent": 2}])
def test_wrong_arguments_are_refused(arguments):
    with pytest.raises(TypeError, match=r"Price.__init__\(\)"):
        Price(**arguments)


def test_values_are_compared_by_the_fields_that_count():
    assert Price(1, raw=b"a") == Price(1, raw=b"b")
    assert Price(1) != Price(2)
    assert Point(1) != Nothing()
    assert Nothing() == Nothing()
    assert {Point(1), Point(1), Point(2)} == {Point(1), Point(2)}


def test_a_value_with_a_field_that_cannot_be_hashed_cannot_be_hashed():
    with pytest.raises(TypeError, match="unhashable"):
        hash(Price(1))


def test_a_value_cannot_be_changed():
    price = Price(1)

    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'cents'"):
        price.cents = 2
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'cents'"):
        del price.cents
    with pytest.raises(FrozenInstanceError):
        price.unknown = 2
    assert not hasattr(price, "__dict__")


def test_it_is_shown_as_it_was_written():
    assert repr(Price(1)) == "Price(cents=1, currency='EUR', notes={})"
    assert repr(Nothing()) == "Nothing()"


def test_methods_of_the_class_stay():
    assert Named("Ada") == Named("ADA")
    assert len({Named("Ada"), Named("ADA")}) == 1
    assert repr(Named("Ada")) == "<Ada>"


def test_the_functions_of_dataclasses_work():
    assert is_dataclass(Price)
    assert [part.name for part in fields(Price)] == ["cents", "currency", "notes", "raw"]
    assert asdict(Price(1, "USD")) == {"cents": 1, "currency": "USD", "notes": {}, "raw": b""}
    assert replace(Price(1), cents=3) == Price(3)


def test_values_can_be_copied_pickled_and_matched():
    price = Price(7, notes={"a": "b"})

    assert copy.deepcopy(price) == price
    assert pickle.loads(pickle.dumps(price)) == price
    match price:
        case Price(cents, currency="EUR"):
            assert cents == 7
        case _:
            raise AssertionError


def test_the_signature_is_that_of_the_dataclass():
    def as_dataclass(cls):
        return dataclass(frozen=True, slots=True)(type(cls.__name__, (), {"__annotations__": {"x": int}}))

    assert inspect.signature(Point) == inspect.signature(as_dataclass(Point))


def test_what_it_does_not_do_is_refused():
    with pytest.raises(TypeError, match="needs dataclass"):

        @frozen
        class Checked:
            number: int

            def __post_init__(self):
                raise ValueError

    with pytest.raises(TypeError, match="needs dataclass"):

        @frozen
        class Counted:
            number: int = field(default=1, init=False)

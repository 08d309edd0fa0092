from array import array

from recollect.code.facts import CLASS, FUNCTION, Definition
from recollect.code.names import DefinedNames, defined_names, name_hash
from recollect.code.terms import terms_of


def defined(*names, kind=FUNCTION):
    return [Definition(name, kind, 1, 2) for name in names]


def test_a_file_has_the_hash_of_each_name_once_and_the_terms_of_all():
    names = defined_names(defined("Cart", kind=CLASS) + defined("total", "Server.run", "total"))

    assert array("I", names.hashes).tolist() == [name_hash("Cart"), name_hash("total"), name_hash("run")]
    assert names.terms == terms_of("Cart total run total")
    assert not names.are_tests


def test_of_a_file_with_mostly_tests_only_that_is_known():
    assert defined_names(defined("test_total", "testRun", "helper")) == DefinedNames(are_tests=True)


def test_as_many_helpers_as_tests_are_no_tests():
    assert not defined_names(defined("test_total", "helper")).are_tests
    assert not defined_names([]).are_tests

"""A map is refined: scans, use, models, agents and people, each in its rank."""

import pytest

from recollect.code.modules.merge import (
    Correction,
    NamedModule,
    apply_correction,
    apply_titles,
    merge_scan,
    record_use,
)
from recollect.code.modules.module_map import Confidence, Module, ModuleMap, as_document, from_document
from recollect.errors import Refused, UnknownName

AGENT = "agent:coder"
AUTH = Module(
    "src/auth", "auth", description="login, tokens", core_files=("src/auth/login.py", "src/auth/tokens.py")
)
STOCK = Module("src/stock", "stock", core_files=("src/stock/order.py", "src/stock/shelf.py"))


@pytest.fixture
def found():
    return ModuleMap((AUTH, STOCK))


def test_a_scan_renews_what_nobody_has_touched(found):
    scanned = ModuleMap(
        (Module("src/auth", "auth", description="Who may do what.", core_files=("src/auth/new.py",)),)
    )

    new = merge_scan(found, scanned)

    assert new.modules == scanned.modules


@pytest.mark.parametrize("by", ["user", AGENT])
@pytest.mark.parametrize(
    "said",
    [
        Correction(name="authentication"),
        Correction(description="JWT, 24 hours"),
        Correction(dependencies=("redis",)),
    ],
)
def test_a_scan_takes_no_correction_back(found, said, by):
    told = apply_correction(found, "auth", said, by)

    new = merge_scan(told, found)

    assert new.modules[0] == told.modules[0]


def test_a_scan_keeps_confidence_and_sessions(found):
    worked = record_use(found, ["src/auth/login.py"], "s1")

    new = merge_scan(worked, found)

    assert (new.modules[0].confidence, new.modules[0].sessions) == (Confidence.PARTIAL, ("s1",))


def test_a_scan_adds_new_files_to_a_module_that_was_corrected(found):
    told = apply_correction(found, "auth", Correction(name="login"), "user")
    scanned = ModuleMap((Module("src/auth", "auth", core_files=(*AUTH.core_files, "src/auth/mfa.py")), STOCK))

    new = merge_scan(told, scanned)

    assert new.find("login").core_files == (*AUTH.core_files, "src/auth/mfa.py")


def test_a_module_that_moved_is_known_by_its_files(found):
    told = apply_correction(found, "auth", Correction(description="JWT"), "user")
    scanned = ModuleMap((Module("lib/auth", "auth", core_files=AUTH.core_files), STOCK))

    new = merge_scan(told, scanned)

    assert new.find("auth").description == "JWT"


def test_a_file_stays_where_someone_put_it(found):
    told = apply_correction(found, "stock", Correction(add_files=("src/auth/tokens.py",)), "user")

    new = merge_scan(told, found)

    assert new.find("stock").core_files == (*STOCK.core_files, "src/auth/tokens.py")
    assert new.find("auth").core_files == ("src/auth/login.py",)


def test_a_file_that_was_taken_out_stays_out(found):
    told = apply_correction(found, "auth", Correction(remove_files=("src/auth/tokens.py",)), "user")

    new = merge_scan(told, found)

    assert new.find("auth").core_files == ("src/auth/login.py",)


def test_what_was_merged_stays_merged(found):
    told = apply_correction(found, "stock", Correction(merge_with="auth"), "user")

    new = merge_scan(told, found)

    assert [each.name for each in new.modules] == ["stock"]
    assert set(new.modules[0].core_files) == {*AUTH.core_files, *STOCK.core_files}


def test_what_was_split_off_stays_split(found):
    told = apply_correction(
        found, "auth", Correction(split_off="tokens", add_files=("src/auth/tokens.py",)), "user"
    )

    new = merge_scan(told, found)

    assert {each.name: each.core_files for each in new.modules} == {
        "auth": ("src/auth/login.py",),
        "stock": STOCK.core_files,
        "tokens": ("src/auth/tokens.py",),
    }


@pytest.mark.parametrize(
    "said",
    [
        Correction(name="x"),
        Correction(description="x"),
        Correction(add_files=("src/stock/shelf.py",)),
        Correction(remove_files=("src/stock/shelf.py",)),
    ],
)
def test_an_agent_never_overrules_a_person(found, said):
    person = Correction(name="login", description="JWT", add_files=("src/stock/shelf.py",))
    told = apply_correction(found, "auth", person, "user")

    with pytest.raises(Refused, match="agent cannot overrule"):
        apply_correction(told, "login", said, AGENT)


def test_a_person_overrules_an_agent_and_themselves(found):
    told = apply_correction(found, "auth", Correction(description="by an agent"), AGENT)
    told = apply_correction(told, "auth", Correction(description="by me"), "user")
    told = apply_correction(told, "auth", Correction(description="by me again"), "user")

    assert told.find("auth").description == "by me again"


@pytest.mark.parametrize(
    "name, said, error",
    [
        ("payments", Correction(name="x"), UnknownName),
        ("auth", Correction(name="STOCK"), Refused),
        ("auth", Correction(name=" "), Refused),
        ("auth", Correction(merge_with="auth"), Refused),
        ("auth", Correction(merge_with="payments"), UnknownName),
        ("auth", Correction(split_off="empty"), Refused),
    ],
)
def test_corrections_that_make_no_sense_are_refused(found, name, said, error):
    with pytest.raises(error):
        apply_correction(found, name, said, "user")


def test_work_in_several_sessions_makes_a_module_mapped(found):
    seen = []
    for session in ("s1", "s1", "s2", "s3"):
        found = record_use(found, ["src/auth/login.py"], session)
        seen.append(found.find("auth").confidence)

    assert seen == [Confidence.PARTIAL, Confidence.PARTIAL, Confidence.PARTIAL, Confidence.MAPPED]
    assert found.find("stock").confidence is Confidence.SHALLOW


def test_a_file_that_no_scan_has_seen_joins_its_neighbours(found):
    found = record_use(found, ["src/auth/mfa.py", "elsewhere.txt"], "s1")

    assert found.find("auth").core_files == (*AUTH.core_files, "src/auth/mfa.py")
    assert found.find("auth").confidence is Confidence.PARTIAL


def test_a_model_names_only_what_is_shallow_and_uncorrected(found):
    found = apply_correction(found, "auth", Correction(name="login"), "user")
    found = record_use(found, ["src/stock/order.py"], "s1")

    new = apply_titles(
        found,
        [
            NamedModule("src/auth", "identity", "Logins and tokens."),
            NamedModule("src/stock", "shop", "Orders."),
        ],
    )

    assert (new.find("login").description, new.find("login").confidence) == (
        "Logins and tokens.",
        Confidence.PARTIAL,
    )
    assert new.find("stock") == found.find("stock")


def test_what_a_model_said_outlives_a_scan_and_yields_to_anyone(found):
    named = apply_titles(found, [NamedModule("src/auth", "identity", "Logins.")])
    scanned = merge_scan(named, found)

    told = apply_correction(scanned, "identity", Correction(name="login"), AGENT)

    assert (scanned.modules[0].name, told.modules[0].name) == ("identity", "login")


def test_a_document_is_read_as_it_was_written(found):
    told = apply_correction(
        found, "auth", Correction(name="login", add_files=("src/stock/shelf.py",)), "user"
    )

    assert from_document(as_document(told)) == told


def test_a_document_of_another_version_is_none():
    assert from_document('{"version": 0}') is None


def test_a_correction_goes_with_a_folder_that_was_renamed(found):
    told = apply_correction(found, "auth", Correction(name="login", description="JWT, 24 hours"), "user")
    told = apply_correction(told, "login", Correction(add_files=("src/keys.py",)), "user")
    moved = Module("lib/identity", "identity", core_files=("lib/identity/login.py", "lib/identity/tokens.py"))
    keys = Module("src", "src", core_files=("src/keys.py", "src/main.py"))

    new = merge_scan(told, ModuleMap((moved, STOCK, keys)))

    assert [each.name for each in new.modules] == ["login", "stock", "src"]
    assert new.modules[0].description == "JWT, 24 hours"
    assert new.home("src/keys.py") == new.modules[0]
    assert new.modules[2].core_files == ("src/main.py",)


def test_one_file_of_the_same_name_is_not_the_same_module():
    old = apply_correction(
        ModuleMap((Module("src/web", "web", core_files=("src/web/index.ts",)),)),
        "web",
        Correction(name="frontend"),
        "user",
    )

    new = merge_scan(old, ModuleMap((Module("src/jobs", "jobs", core_files=("src/jobs/index.ts",)),)))

    assert [each.name for each in new.modules] == ["jobs"]

"""Rust, Go, the JVM, .NET, C and C++: the conventions of their tools."""

import re

from recollect.code.modules.commands import ci_text, first_in_ci, task_files
from recollect.code.modules.ecosystems.package_info import (
    SET_UP,
    PackageInfo,
    as_list,
    first_name,
    parse_toml,
    table_at,
)
from recollect.code.modules.module_map import TestFramework
from recollect.code.modules.scan_input import ScanInput
from recollect.code.paths import folder_of, join

_C_TESTS = (
    ("gtest", "googletest"),
    ("Catch2", "catch2"),
    ("doctest", "doctest"),
    ("Boost.Test", "boost_unit_test"),
)


_FOR_CTEST = re.compile(
    r"enable_testing|\bctest\b|add_test|discover_tests|_test\("
)  # or a function of the project that adds one
_RUNNERS = {"cmake": "ctest", "meson": "meson test", "autotools": "make check"}
_SINGLE_HEADERS = {
    "catch.hpp": "Catch2",
    "catch_amalgamated.hpp": "Catch2",
    "doctest.h": "doctest",
    "unity.h": "Unity",
}


def _beside_tests(project: ScanInput) -> str:
    """Return the framework whose only header the project has a copy of; "" if there is none."""
    names = {path.rsplit("/", 1)[-1] for path in project.sizes}
    return next((framework for header, framework in _SINGLE_HEADERS.items() if header in names), "")


# Tests that are not built unless you ask for them.
_OPTIONAL_TESTS = re.compile(
    r"option\(\s*(\w*(?:BUILD|ENABLE)\w*(?<![A-Z])TEST(?:S|ING)?)\s+\"[^\"]{0,200}\"\s+OFF\s*[)\"]", re.I
)


def _option_for_tests(text: str) -> str:
    """Return the option that builds the tests; "" if none does. `ENABLE_SSL_TESTS` is for some of them."""
    named = re.search(r"\bproject\s*\(\s*([\w.+-]+)", text, re.IGNORECASE)
    name = re.sub(r"[^a-z0-9]", "", named[1].lower()) if named else ""
    for option in _OPTIONAL_TESTS.findall(text):
        of = re.sub(r"build|enable|with|unit|test(?:s|ing)?|_", "", option.lower())
        if not name or of in name or name in of:
            return str(option)
    return ""


def read_rust(project: ScanInput, folder: str) -> PackageInfo:
    document = parse_toml(project.text(join(folder, "Cargo.toml")))
    everything = " --workspace" if "workspace" in document else ""
    names = project.inside(folder)
    package = table_at(document, "package")
    name = str(package.get("name", ""))
    named = [str(each.get("path", "")) for each in as_list(document.get("bin")) if isinstance(each, dict)]
    doors = [
        path for each in (*named, "src/main.rs", "src/lib.rs") if (path := join(folder, each)) in project
    ]
    lints = first_name(names, r"\.?clippy\.toml") or (
        "Cargo.toml" if "clippy" in table_at(document, "lints") else ""
    )
    formats = first_name(names, r"\.?rustfmt\.toml")
    in_ci = ci_text(project)
    is_linted = "clippy" in in_ci and not (folder and _lints_root_only(project, folder, in_ci))
    checked_by = first_in_ci(project, r"rustfmt|\bcargo (?:\+\S{1,40} )?fmt\b")
    defaults = {
        "build": f"cargo build{everything}",
        "test": f"cargo test{everything}",
        **({"format": "cargo fmt"} if formats or checked_by else {}),
        **({"run": "cargo run"} if doors and not doors[0].endswith("lib.rs") else {}),
        **({"lint": "cargo clippy"} if lints else {}),
    }
    needs = frozenset(table_at(document, "dependencies")) | frozenset(
        table_at(document, "workspace", "dependencies")
    )
    return PackageInfo(
        "cargo",
        defaults,
        {},
        TestFramework("cargo test", "", defaults["test"]),
        (("clippy",) if lints or is_linted else ()) + (("rustfmt",) if formats or checked_by else ()),
        name,
        str(package.get("description", "")).strip(),
        needs,
        tuple(doors),
        sources={"lint": f"{SET_UP}{lints}", "format": checked_by or f"{SET_UP}{formats}"},
    )


def _lints_root_only(project: ScanInput, folder: str, in_ci: str) -> bool:
    """Return whether CI's clippy leaves the crate out: at a root that is a crate itself, it needs to be told of others."""
    document = parse_toml(project.text("Cargo.toml"))
    if "package" not in document or "default-members" in table_at(document, "workspace"):
        return False
    name = re.escape(folder.rsplit("/", 1)[-1])
    named = re.compile(rf"{name}\b")
    for line in in_ci.splitlines():
        options = [line.partition(before)[2] for before in ("clippy", "args:")]
        if any(map(_ALL_CRATES.search, options)) or named.search(options[0]):
            return False
    return not re.search(rf"(?:working-directory:\s*+|\bcd )\S*{name}\b", in_ci)


_ALL_CRATES = re.compile(r"\s--(?:workspace|all)\b")


def read_go(project: ScanInput, folder: str) -> PackageInfo:
    names = project.inside(folder)
    golangci = first_name(names, r"\.golangci\.\w+")
    formats = golangci and re.search(r"(?m)^formatters:", project.text(join(folder, golangci)))
    manifest = project.text(join(folder, "go.mod"))
    module = re.search(r"(?m)^module\s+(\S+)", manifest)
    test = "go test ./..."
    testify = "testify" if re.search(r"stretchr/testify \S+(?!.*// indirect)", manifest) else "go test"
    return PackageInfo(
        "go",
        {
            "build": "go build ./...",
            "test": test,
            **({"lint": "golangci-lint run"} if golangci else {}),
            "format": "golangci-lint fmt" if formats else "gofmt -w .",
            **({"run": "go run ."} if "main.go" in names else {}),
        },
        {},
        TestFramework(testify, "", test),
        ("golangci-lint",) if golangci else (),
        re.sub(r"/v\d+$", "", module[1]) if module else "",
        "",
        frozenset(re.findall(r"(?m)^(?:require\s+|\s+)([\w.-]+\.\w+/\S+) v", manifest)),
        sources={"lint": f"{SET_UP}{golangci}", **({"format": f"{SET_UP}{golangci}"} if formats else {})},
    )


def read_maven(project: ScanInput, folder: str) -> PackageInfo:
    text = project.text(join(folder, "pom.xml"))
    mvn = "./mvnw" if "mvnw" in project else "mvn"
    head = re.sub(r"(?s)<parent>(?:(?!<parent>).)*?</parent>|<(dependencies|build|profiles)>.*", "", text)
    name = re.search(r"<artifactId>([^<$]+)</artifactId>", head)
    description = re.search(r"(?s)<description>([^<]+)</description>", head)
    poms = text + "".join(project.text(path) for path in project.sizes if path.endswith("/pom.xml"))
    built = re.sub(r"(?s)<reporting>(?:(?!<reporting>).)*?</reporting>|<!--(?:(?!<!--).)*?-->", "", poms)
    linters, commands = _java_linters(built, f"{mvn} spotless:", f"{mvn} checkstyle:check")
    test = TestFramework(_java_tests(poms), "", f"{mvn} test")
    return PackageInfo(
        "maven",
        {"build": f"{mvn} package", "test": test.run_command, **commands},
        {},
        test,
        linters,
        name[1] if name else "",
        " ".join(description[1].split()) if description else "",
        frozenset(re.findall(r"<groupId>([\w.]+)</groupId>", text)),
        sources=dict.fromkeys(commands, f"{SET_UP}pom.xml"),
    )


def read_gradle(project: ScanInput, folder: str) -> PackageInfo:
    scripts = [path for path in project.sizes if re.search(r"(^|/)[\w.-]*\.gradle(\.kts)?$", path)]
    start = f"{folder}/" if folder else ""
    text = "".join(project.text(path) for path in scripts if path.startswith(start))
    gradle = _gradle(project, folder)
    linters, commands = _java_linters(text, f"{gradle} spotless", f"{gradle} checkstyleMain")
    for word, command in (("ktlint", "ktlintCheck"), ("detekt", "detekt")):
        if word in text:
            linters, commands = (*linters, word), {"lint": f"{gradle} {command}", **commands}
    test = TestFramework(_java_tests(text), "", f"{gradle} test")
    own = project.text(join(folder, "build.gradle")) + project.text(join(folder, "build.gradle.kts"))
    common = join(folder, "src/commonMain/")
    if "multiplatform" in own or any(path.startswith(common) for path in project.sizes):
        test = TestFramework(
            test.tool, "", f"{gradle} check"
        )  # there is a task of tests for each platform only
    run_here = [path for path in scripts if not folder or folder_of(path) == folder]
    if any(_tests_otherwise(project.text(path)) for path in run_here):
        test = TestFramework(test.tool, "", f"{gradle} check")  # `test` would leave out tests
    is_spring = re.search(
        r"""(?:id|plugin)\b[^\n]{0,5}['"]org\.springframework\.boot['"](?!.*apply false)""", own
    )
    run = {"run": f"{gradle} bootRun"} if is_spring else {}
    return PackageInfo(
        "gradle",
        {"build": f"{gradle} build", "test": test.run_command, **run, **commands},
        {},
        test,
        linters,
        sources=dict.fromkeys(commands, f"{SET_UP}build.gradle"),
    )


_TEST_IS_OFF = re.compile(
    r"""(?:\btest|(?:getByName|named)\(\s*['"]test['"]\s*\))\s*(?:\.|\{\s*)(?:it\.)?enabled\s*=\s*false\b"""
)
_OTHER_TEST_TASK = re.compile(r"""\btype:\s*Test\b|,\s*Test(?:::class)?\s*\)|<Test>\s*\(\s*["']""")


def _tests_otherwise(script: str) -> bool:
    """Return whether a build script of Gradle turns the task `test` off, and has another one for the tests."""
    return bool(_TEST_IS_OFF.search(script) and _OTHER_TEST_TASK.search(script))


def _gradle(project: ScanInput, folder: str) -> str:
    """Return how Gradle is called in the folder: by the nearest wrapper, in it or above it."""
    up = ""
    while join(folder, "gradlew") not in project:
        if not folder:
            return "gradle"
        folder, up = folder_of(folder), f"{up}../"
    return f"{up or './'}gradlew"


def _java_tests(text: str) -> str:
    """Return the framework; JUnit if it is used at all, because a part of the tests may use another one as well."""
    if re.search(r"(?<!runner-)junit(?!-?platform)", text, re.IGNORECASE):
        return "junit"
    return next((name for name in ("testng", "kotest", "spock") if name in text), "junit")


def _java_linters(text: str, spotless: str, checkstyle: str) -> tuple[tuple[str, ...], dict[str, str]]:
    linters, commands = [], {}
    check, apply = ("check", "apply") if spotless.endswith(":") else ("Check", "Apply")
    if re.search(r"""maven-checkstyle-plugin|(?m:^\s*+checkstyle\s*+(?:\{|$))|['"`]checkstyle['"`]""", text):
        linters.append("checkstyle")
        commands["lint"] = checkstyle
    if "spotless" in text:
        linters.append("spotless")
        commands.setdefault("lint", spotless + check)
        commands["format"] = spotless + apply
    return tuple(linters), commands


def read_dotnet(project: ScanInput, folder: str) -> PackageInfo:
    text = "".join(project.text(path) for path in project.sizes if path.endswith((".csproj", ".props")))
    counts = {name: text.lower().count(f'"{name.lower()}') for name in ("xunit", "nunit", "MSTest")}
    tool = max(counts, key=lambda name: counts[name]) if any(counts.values()) else ""
    test = TestFramework(tool.lower(), "", "dotnet test") if tool else None
    defaults = {
        "build": "dotnet build",
        "test": "dotnet test",
    }
    if len([name for name in project.inside(folder) if name.endswith((".sln", ".slnx"))]) > 1:
        test, defaults = None, {}  # the commands would ask which of them is meant
    elif not _may_have_tests(project, folder):
        test = None
        del defaults["test"]
    return PackageInfo(
        "dotnet",
        defaults,
        {},
        test,
    )


def _may_have_tests(project: ScanInput, folder: str) -> bool:
    """Return whether the folder has a solution, or a project that needs a test framework."""
    names = project.inside(folder)
    if any(name.endswith((".sln", ".slnx")) for name in names):
        return True
    own = "".join(project.text(join(folder, name)) for name in names if name.endswith("proj"))
    return bool(re.search(r"Test\.Sdk|xunit|nunit|mstest|tunit", own, re.IGNORECASE))


def read_c(project: ScanInput, folder: str) -> PackageInfo:
    names = project.inside(folder)
    if "CMakeLists.txt" in names:
        tool = "cmake"
        defaults = {
            "build": "cmake -S . -B build && cmake --build build",
            "test": "ctest --test-dir build --output-on-failure",
        }
        texts = "".join(project.text(path) for path in project.sizes if path.endswith("CMakeLists.txt"))
        if off := _option_for_tests(project.text(join(folder, "CMakeLists.txt"))):
            defaults["build"] = f"cmake -S . -B build -D {off}=ON && cmake --build build"
        manifest = texts.lower()
    elif "meson.build" in names:
        tool, manifest = "meson", project.text(join(folder, "meson.build"))
        defaults = {"build": "meson setup build && meson compile -C build", "test": "meson test -C build"}
    elif "configure.ac" in names or "configure" in names:
        tool, manifest = "autotools", project.text(join(folder, "configure.ac"))
        first = "./configure" if "configure" in names else "autoreconf -i && ./configure"
        defaults = {"build": f"{first} && make", "test": "make check"}
    else:
        tool, manifest = "make", project.text(join(folder, "Makefile"))
        target = re.search(r"(?m)^([A-Za-z0-9][\w./-]*+)[^:=\n]*+:(?!=)", manifest)
        tests_first = target and target[1] in ("test", "check") and "test" in task_files(project, folder)
        defaults = {} if tests_first else {"build": "make"}
    framework = next(
        (
            name
            for name, word in _C_TESTS
            if re.search(rf"(?<![a-z])(?:{re.escape(word)}|{re.escape(name.lower())})", manifest)
        ),
        "",
    )
    if tool == "cmake" and not _FOR_CTEST.search(manifest):
        defaults.pop("test")  # it would find none
    linters = [each for each in ("clang-format", "clang-tidy") if f".{each}" in names]
    files = "git ls-files '*.c' '*.cc' '*.cpp' '*.h' '*.hpp' | xargs"
    in_ci = ci_text(project)
    sources = {}
    if "clang-format" in linters and "clang-format" in in_ci:
        defaults["lint"], sources["lint"] = (
            f"{files} clang-format --dry-run --Werror",
            f"{SET_UP}.clang-format",
        )
    if "clang-format" in linters:
        defaults["format"], sources["format"] = f"{files} clang-format -i", f"{SET_UP}.clang-format"
    test = None
    if "test" in defaults:
        test = TestFramework(
            framework or _beside_tests(project) or _RUNNERS.get(tool, tool), "", defaults["test"]
        )
    return PackageInfo(tool, defaults, {}, test, tuple(linters), sources=sources)

"""What each ecosystem's manifests and configs say of how a part is built, tested, linted, formatted and run."""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from recollect.codebase.modules.commands import TASKS, Task, ci_files, tasks_by_slot
from recollect.codebase.modules.ground import Ground, join
from recollect.codebase.modules.map import Framework


@dataclass(frozen=True, slots=True)
class Signs:
    """What an ecosystem's files say of one folder."""

    tool: str
    defaults: Mapping[str, str] = field(default_factory=dict)  # the tool's own commands, by slot
    tasks: Mapping[str, Task] = field(default_factory=dict)  # those the project named itself
    test: Framework | None = None
    linters: tuple[str, ...] = ()
    name: str = ""  # of the package
    description: str = ""
    dependencies: frozenset[str] = frozenset()
    entries: tuple[str, ...] = ()  # files it names as its doors


class Ecosystem(NamedTuple):
    manifests: tuple[str, ...]  # file names, or endings that begin with "*"
    endings: tuple[str, ...]  # of its source files
    read: Callable[[Ground, str], Signs]


class Linter(NamedTuple):
    name: str
    slot: str
    command: str
    files: tuple[str, ...] = ()  # one of these is there, or…
    words: tuple[str, ...] = ()  # …one of these stands in the manifest


def has_manifest(names: Iterable[str], manifests: Iterable[str]) -> bool:
    names = set(names)
    return any(
        any(name.endswith(each[1:]) for name in names) if each[0] == "*" else each in names
        for each in manifests
    )


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _at(document: Mapping[str, Any], *path: str) -> dict[str, Any]:
    """The table at `path`; {} where there is none."""
    found: Any = document
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _list(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []


def _linters(
    known: Iterable[Linter], names: set[str], told: str, prefix: str = ""
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Those that are set up, and the command of the first for each slot."""
    found: list[str] = []
    commands: dict[str, str] = {}
    for linter in known:
        if not names.isdisjoint(linter.files) or any(word in told for word in linter.words):
            found.append(linter.name)
            commands.setdefault(linter.slot, prefix + linter.command)
    return tuple(dict.fromkeys(found)), commands


def _first(names: Iterable[str], pattern: str) -> str:
    return min((name for name in names if re.fullmatch(pattern, name)), default="")


# Python

_PY_TOOLS = (  # lock file or word in pyproject.toml → tool, what runs a command in its environment, build
    ("uv.lock", "[tool.uv", "uv", "uv run ", "uv build"),
    ("poetry.lock", "[tool.poetry", "poetry", "poetry run ", "poetry build"),
    ("pdm.lock", "[tool.pdm", "pdm", "pdm run ", "pdm build"),
    ("Pipfile", "", "pipenv", "pipenv run ", "python -m build"),
    ("", "hatchling", "hatch", "", "hatch build"),
    ("", "flit_core", "flit", "", "flit build"),
    ("", "maturin", "maturin", "", "maturin build"),
)
_PY_LINTERS = (
    Linter("pre-commit", "lint", "pre-commit run --all-files", (".pre-commit-config.yaml",)),
    Linter("ruff", "lint", "ruff check .", ("ruff.toml", ".ruff.toml"), ("[tool.ruff",)),
    Linter("ruff", "format", "ruff format .", ("ruff.toml", ".ruff.toml"), ("[tool.ruff",)),
    Linter("flake8", "lint", "flake8", (".flake8",), ("[flake8]",)),
    Linter("pylint", "lint", "pylint src", (".pylintrc", "pylintrc"), ("[tool.pylint",)),
    Linter("black", "format", "black .", (), ("[tool.black",)),
    Linter("isort", "format", "isort .", (".isort.cfg",), ("[tool.isort", "[isort]")),
    Linter("mypy", "types", "mypy .", ("mypy.ini", ".mypy.ini"), ("[tool.mypy", "[mypy]")),
    Linter("pyright", "types", "pyright", ("pyrightconfig.json",), ("[tool.pyright", "[tool.basedpyright")),
)
_PY_PACKAGES = {"pyproject.toml", "setup.py", "setup.cfg"}  # without one there is nothing to build


def _python(ground: Ground, folder: str) -> Signs:
    names = ground.inside(folder)

    def text(name: str) -> str:
        return ground.text(join(folder, name))

    manifest = text("pyproject.toml")
    document = _toml(manifest)
    told = "\n".join((manifest, text("setup.cfg"), text("tox.ini")))
    tool, run, build = "pip", "", "python -m build"
    for lock, word, *found in _PY_TOOLS:
        if lock in names or (word and word in manifest):
            tool, run, build = found
            break
    else:
        if "setup.py" in names or "setuptools" in manifest:
            tool = "setuptools"
    linters, commands = _linters(_PY_LINTERS, names, told, run)
    if "mypy" in linters and re.search(r"(?m)^(files|packages|modules)\s*=", told.partition("mypy]")[2]):
        commands["types"] = f"{run}mypy"
    test = _python_tests(ground, folder, names, told, run)
    defaults = {"build": build, **commands} if names & _PY_PACKAGES else commands
    if test:
        defaults["test"] = test.run_command
    if "manage.py" in names:
        defaults["run"] = f"{run}python manage.py runserver"
    project = _at(document, "project") or _at(document, "tool", "poetry")
    scripts = {**_at(document, "project", "scripts"), **_at(document, "tool", "poetry", "scripts")}
    return Signs(
        tool,
        defaults,
        _python_tasks(document, run),
        test,
        linters,
        str(project.get("name", "")),
        str(project.get("description", "")),
        _python_needs(document, text("requirements.txt") + text("setup.cfg")),
        tuple(filter(None, (_python_file(ground, folder, str(target)) for target in scripts.values()))),
    )


def _python_tests(ground: Ground, folder: str, names: set[str], told: str, run: str) -> Framework | None:
    configs = (
        ("pytest.ini", ""),
        ("pyproject.toml", "[tool.pytest"),
        ("setup.cfg", "[tool:pytest]"),
        ("tox.ini", "[pytest]"),
    )
    for name, word in configs:
        if name in names and (not word or word in ground.text(join(folder, name))):
            return Framework("pytest", join(folder, name), f"{run}pytest")
    requirements = [
        path
        for path in ground.sizes
        if re.search(r"(^|/)[\w-]*requirements[\w-]*(/[\w-]+)?\.txt$", path) and path.startswith(folder)
    ]
    if "pytest" in told or any(
        re.search(r"(?m)^pytest\b", ground.text(path)) for path in sorted(requirements)[:5]
    ):
        return Framework("pytest", "", f"{run}pytest")
    start = f"{folder}/" if folder else ""
    tests = [
        path
        for path in ground.sizes
        if path.startswith(start) and re.search(r"(^|/)(test_\w+|tests)\.py$", path)
    ]
    if any(path.endswith("conftest.py") and path.startswith(start) for path in ground.sizes):
        return Framework("pytest", "", f"{run}pytest")
    if tests and ("manage.py" in names):
        return Framework("django", "manage.py", f"{run}python manage.py test")
    return Framework("unittest", "", f"{run}python -m unittest") if tests else None


def _python_tasks(document: Mapping[str, Any], run: str) -> dict[str, Task]:
    for path, call in (
        (("tool", "poe", "tasks"), f"{run}poe "),
        (("tool", "taskipy", "tasks"), f"{run}task "),
        (("tool", "pdm", "scripts"), "pdm run "),
        (("tool", "hatch", "envs", "default", "scripts"), "hatch run "),
    ):
        if found := _at(document, *path):
            return tasks_by_slot({name: str(body) for name, body in found.items()}, call)
    return {}


_REQUIREMENT = re.compile(r"^\s*([A-Za-z][\w.-]*)", re.MULTILINE)


def _python_needs(document: Mapping[str, Any], requirements: str) -> frozenset[str]:
    project = _at(document, "project")
    listed = [*_list(project.get("dependencies")), requirements]
    listed += [each for group in _at(project, "optional-dependencies").values() for each in _list(group)]
    listed += list(_at(document, "tool", "poetry", "dependencies"))
    found = (
        match.lower() for each in listed if isinstance(each, str) for match in _REQUIREMENT.findall(each)
    )
    return frozenset(found) - {"python"}


def _python_file(ground: Ground, folder: str, target: str) -> str:
    """`flask.cli:main` is in `src/flask/cli.py`."""
    path = target.partition(":")[0].replace(".", "/")
    for start in ("src/", "", "lib/"):
        for end in (".py", "/__init__.py"):
            if (found := join(folder, f"{start}{path}{end}")) in ground:
                return found
    return ""


# Node

_NODE_TOOLS = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lockb", "bun"),
    ("bun.lock", "bun"),
    ("package-lock.json", "npm"),
)
_NODE_TESTS = (  # package → config file, command
    ("vitest", r"(vitest|vite)\.config\.\w+", "vitest run"),
    ("jest", r"jest\.config\.\w+", "jest"),
    ("mocha", r"\.mocharc\.\w+", "mocha"),
    ("ava", r"ava\.config\.\w+", "ava"),
    ("jasmine", r"jasmine\.json", "jasmine"),
    ("tap", r"\.taprc", "tap"),
    ("qunit", r"", "qunit"),
    ("@playwright/test", r"playwright\.config\.\w+", "playwright test"),
    ("cypress", r"cypress\.config\.\w+", "cypress run"),
)
_NODE_LINTERS = (
    Linter("eslint", "lint", "eslint .", words=('"eslint"',)),
    Linter("biome", "lint", "biome check", ("biome.json", "biome.jsonc")),
    Linter("oxlint", "lint", "oxlint", words=('"oxlint"',)),
    Linter("stylelint", "lint", "stylelint", words=('"stylelint"',)),
    Linter("standard", "lint", "standard", words=('"standard"',)),
    Linter("prettier", "format", "prettier --write .", words=('"prettier"',)),
    Linter("oxfmt", "format", "oxfmt", words=('"oxfmt"',)),
    Linter("biome", "format", "biome format --write", ("biome.json", "biome.jsonc")),
    Linter("typescript", "types", "tsc --noEmit", ("tsconfig.json",)),
)


def _node(ground: Ground, folder: str) -> Signs:
    names = ground.inside(folder)
    text = ground.text(join(folder, "package.json"))
    document = _json(text)
    tool = _node_tool(ground, folder, document)
    run = (
        "npx "
        if tool == "npm"
        else f"{tool} exec "
        if tool == "pnpm"
        else "bunx "
        if tool == "bun"
        else f"{tool} "
    )
    scripts = {
        name: str(body)
        for name, body in _at(document, "scripts").items()
        if "no test specified" not in str(body)
    }
    tasks = tasks_by_slot(scripts, f"{tool} run ")
    if "test" in tasks and tasks["test"].line.endswith(" test"):
        tasks["test"] = Task(f"{tool} test" if tool != "bun" else "bun run test", tasks["test"].body)
    if "run" in tasks and tasks["run"].line == "npm run start":
        tasks["run"] = Task("npm start", tasks["run"].body)
    needs = {name for group in ("dependencies", "peerDependencies") for name in _at(document, group)}
    packages = needs | set(_at(document, "devDependencies"))
    linters, commands = _linters(_NODE_LINTERS, names, text, run)
    test = _node_tests(names, folder, packages, scripts, run, tool)
    if test and "test" in tasks:
        test = Framework(test.tool, test.config_file, tasks["test"].line)
    defaults = {**commands, **({"test": test.run_command} if test else {})}
    return Signs(
        tool,
        defaults,
        tasks,
        test,
        tuple(each for each in linters if each != "typescript"),
        str(document.get("name", "")),
        str(document.get("description", "")),
        frozenset(needs),
        tuple(_node_doors(ground, folder, document)),
    )


def _node_tool(ground: Ground, folder: str, document: Mapping[str, Any]) -> str:
    """The package manager: a package of a workspace has its root's."""
    while True:
        if named := str(document.get("packageManager", "")).partition("@")[0]:
            return named
        names = ground.inside(folder)
        for lock, tool in _NODE_TOOLS:
            if lock in names:
                return tool
        if not folder:
            return "npm"
        folder = folder.rpartition("/")[0]
        document = _json(ground.text(join(folder, "package.json")))


def _node_tests(
    names: set[str], folder: str, packages: set[str], scripts: Mapping[str, str], run: str, tool: str
) -> Framework | None:
    told = " ".join(scripts.values())
    for package, config, command in _NODE_TESTS:
        if package in packages or re.search(
            rf"(?<![\w-]){re.escape(package)}(?![\w-])", scripts.get("test", "")
        ):
            found = _first(names, config)
            return Framework(package, join(folder, found) if found else "", run + command)
    if "node --test" in told:
        return Framework("node:test", "", "node --test")
    return Framework("bun", "", "bun test") if tool == "bun" and "test" not in scripts else None


def _node_doors(ground: Ground, folder: str, document: Mapping[str, Any]) -> Iterable[str]:
    commands = document.get("bin")
    named = [*commands.values()] if isinstance(commands, dict) else [commands]
    for each in (*named, document.get("main"), document.get("module")):
        if isinstance(each, str):
            path = join(folder, each.removeprefix("./"))
            for ending in ("", ".js", "/index.js"):
                if path + ending in ground:
                    yield path + ending
                    break


# Rust, Go, Java, .NET and others: the tool's own commands are the convention


def _rust(ground: Ground, folder: str) -> Signs:
    document = _toml(ground.text(join(folder, "Cargo.toml")))
    everything = " --workspace" if "workspace" in document else ""
    names = ground.inside(folder)
    package = _at(document, "package")
    name = str(package.get("name", ""))
    named = [str(each.get("path", "")) for each in _list(document.get("bin")) if isinstance(each, dict)]
    doors = [path for each in (*named, "src/main.rs", "src/lib.rs") if (path := join(folder, each)) in ground]
    lints = not names.isdisjoint({"clippy.toml", ".clippy.toml"}) or "clippy" in _at(document, "lints")
    defaults = {
        "build": f"cargo build{everything}",
        "test": f"cargo test{everything}",
        "format": "cargo fmt",
        **({"run": "cargo run"} if doors and not doors[0].endswith("lib.rs") else {}),
        **({"lint": "cargo clippy"} if lints else {}),
    }
    needs = frozenset(_at(document, "dependencies")) | frozenset(_at(document, "workspace", "dependencies"))
    return Signs(
        "cargo",
        defaults,
        {},
        Framework("cargo test", "", defaults["test"]),
        (("clippy",) if lints else ()) + ("rustfmt",),
        name,
        str(package.get("description", "")).strip(),
        needs,
        tuple(doors),
    )


def _go(ground: Ground, folder: str) -> Signs:
    names = ground.inside(folder)
    golangci = _first(names, r"\.golangci\.\w+")
    manifest = ground.text(join(folder, "go.mod"))
    module = re.search(r"(?m)^module\s+(\S+)", manifest)
    test = "go test ./..."
    testify = "testify" if "stretchr/testify" in manifest else "go test"
    return Signs(
        "go",
        {
            "build": "go build ./...",
            "test": test,
            "lint": "golangci-lint run" if golangci else "go vet ./...",
            "format": "gofmt -w .",
            **({"run": "go run ."} if "main.go" in names else {}),
        },
        {},
        Framework(testify, "", test),
        ("golangci-lint",) if golangci else ("go vet",),
        module[1] if module else "",
        "",
        frozenset(re.findall(r"(?m)^(?:require\s+|\s+)([\w.-]+\.\w+/\S+) v", manifest)),
    )


def _maven(ground: Ground, folder: str) -> Signs:
    text = ground.text(join(folder, "pom.xml"))
    mvn = "./mvnw" if "mvnw" in ground else "mvn"
    head = re.sub(r"(?s)<parent>.*?</parent>|<(dependencies|build|profiles)>.*", "", text)
    name = re.search(r"<artifactId>([^<$]+)</artifactId>", head)
    told = re.search(r"(?s)<description>([^<]+)</description>", head)
    poms = text + "".join(ground.text(path) for path in ground.sizes if path.endswith("/pom.xml"))
    linters, commands = _java_linters(poms, f"{mvn} spotless:", f"{mvn} checkstyle:check")
    test = Framework(_java_tests(poms), "", f"{mvn} test")
    return Signs(
        "maven",
        {"build": f"{mvn} package", "test": test.run_command, **commands},
        {},
        test,
        linters,
        name[1] if name else "",
        " ".join(told[1].split()) if told else "",
        frozenset(re.findall(r"<groupId>([\w.]+)</groupId>", text)),
    )


def _gradle(ground: Ground, folder: str) -> Signs:
    scripts = [path for path in ground.sizes if re.search(r"(^|/)[\w.-]*\.gradle(\.kts)?$", path)]
    text = "".join(ground.text(path) for path in scripts if path.startswith(folder))
    gradle = "./gradlew" if "gradlew" in ground else "gradle"
    linters, commands = _java_linters(text, f"{gradle} spotless", f"{gradle} checkstyleMain")
    for word, command in (("ktlint", "ktlintCheck"), ("detekt", "detekt")):
        if word in text:
            linters, commands = (*linters, word), {"lint": f"{gradle} {command}", **commands}
    test = Framework(_java_tests(text), "", f"{gradle} test")
    run = {"run": f"{gradle} bootRun"} if "springframework.boot" in text else {}
    return Signs(
        "gradle",
        {"build": f"{gradle} build", "test": test.run_command, **run, **commands},
        {},
        test,
        linters,
    )


def _java_tests(text: str) -> str:
    return next((name for name in ("testng", "kotest", "spock") if name in text), "junit")


def _java_linters(text: str, spotless: str, checkstyle: str) -> tuple[tuple[str, ...], dict[str, str]]:
    linters, commands = [], {}
    check, apply = ("check", "apply") if spotless.endswith(":") else ("Check", "Apply")
    if "checkstyle" in text:
        linters.append("checkstyle")
        commands["lint"] = checkstyle
    if "spotless" in text:
        linters.append("spotless")
        commands.setdefault("lint", spotless + check)
        commands["format"] = spotless + apply
    return tuple(linters), commands


def _dotnet(ground: Ground, folder: str) -> Signs:
    text = "".join(ground.text(path) for path in ground.sizes if path.endswith((".csproj", ".props")))
    tool = next((name for name in ("xunit", "nunit", "MSTest") if name.lower() in text.lower()), "")
    test = Framework(tool.lower(), "", "dotnet test") if tool else None
    return Signs(
        "dotnet",
        {
            "build": "dotnet build",
            "test": "dotnet test",
            "format": "dotnet format",
            "lint": "dotnet format --verify-no-changes",
        },
        {},
        test,
        ("dotnet format",),
    )


# Ruby


def _ruby(ground: Ground, folder: str) -> Signs:
    names = ground.inside(folder)
    gemspec = _first(names, r".+\.gemspec")
    rakefile = ground.text(join(folder, "Rakefile"))
    gems = ground.text(join(folder, "Gemfile")) + ground.text(join(folder, gemspec))
    run = "bundle exec " if "Gemfile" in names else ""
    framework = "rspec" if "rspec" in gems + rakefile or ".rspec" in names else "minitest"
    tasks = dict.fromkeys(re.findall(r"""task[ (]+(?::|['"])?(\w+)""", rakefile), "rake")
    if "TestTask" in rakefile:
        tasks.setdefault("test", "rake")
    if "RSpec::Core::RakeTask" in rakefile:
        tasks.setdefault("spec", "rake")
    named = tasks_by_slot({name: body for name, body in tasks.items() if name in _RAKE}, f"{run}rake ")
    if "config/application.rb" in ground:
        defaults = {"test": "bin/rails test", "run": "bin/rails server"}
    else:
        defaults = {"test": f"{run}rspec" if framework == "rspec" else f"{run}rake test"}
    if framework == "rspec":
        defaults["test"] = f"{run}rspec"
    config = ".rspec" if ".rspec" in names else ""
    rubocop = ".rubocop.yml" in names or "rubocop" in gems
    if rubocop:
        defaults |= {"lint": f"{run}rubocop", "format": f"{run}rubocop -a"}
    if gemspec:
        defaults["build"] = f"gem build {gemspec}"
    told = re.search(r"""\.summary\s*=\s*['"](.+?)['"]""", ground.text(join(folder, gemspec)))
    test = Framework(
        framework,
        join(folder, config) if config else "",
        named["test"].line if "test" in named else defaults["test"],
    )
    return Signs(
        "bundler" if "Gemfile" in names else "rubygems",
        defaults,
        named,
        test,
        ("rubocop",) if rubocop else (),
        gemspec.removesuffix(".gemspec"),
        told[1] if told else "",
        frozenset(re.findall(r"""(?:gem|add(?:_runtime)?_dependency)[ (]+['"]([\w-]+)['"]""", gems)),
    )


_RAKE = {name for names in TASKS.values() for name in names}

# PHP

_PHP_LINTERS = (
    Linter(
        "phpstan",
        "lint",
        "vendor/bin/phpstan analyse",
        ("phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon"),
    ),
    Linter("psalm", "lint", "vendor/bin/psalm", ("psalm.xml", "psalm.xml.dist")),
    Linter("phpcs", "lint", "vendor/bin/phpcs", ("phpcs.xml", "phpcs.xml.dist", ".phpcs.xml")),
    Linter(
        "php-cs-fixer",
        "format",
        "vendor/bin/php-cs-fixer fix",
        (".php-cs-fixer.php", ".php-cs-fixer.dist.php", ".php_cs", ".php_cs.dist"),
    ),
    Linter("pint", "format", "vendor/bin/pint", ("pint.json",), ('"laravel/pint"',)),
)


def _php(ground: Ground, folder: str) -> Signs:
    names = ground.inside(folder)
    text = ground.text(join(folder, "composer.json"))
    document = _json(text)
    linters, commands = _linters(_PHP_LINTERS, names, text)
    scripts = {name: json.dumps(body) for name, body in _at(document, "scripts").items()}
    tasks = tasks_by_slot(scripts, "composer ")
    pest = '"pestphp/pest"' in text
    config = _first(names, r"phpunit\.(xml|xml\.dist|dist\.xml)")
    test = None
    if pest or config or '"phpunit/phpunit"' in text:
        command = tasks["test"].line if "test" in tasks else f"vendor/bin/{'pest' if pest else 'phpunit'}"
        test = Framework("pest" if pest else "phpunit", join(folder, config) if config else "", command)
    defaults = {"build": "composer install", **commands, **({"test": test.run_command} if test else {})}
    if "artisan" in names:
        defaults |= {"run": "php artisan serve", "test": "php artisan test"}
    return Signs(
        "composer",
        defaults,
        tasks,
        test,
        linters,
        str(document.get("name", "")),
        str(document.get("description", "")),
        frozenset(name for name in _at(document, "require") if "/" in name),
    )


# C and C++

_C_TESTS = (
    ("gtest", "googletest"),
    ("Catch2", "catch2"),
    ("doctest", "doctest"),
    ("Boost.Test", "boost_unit_test"),
)


def _c(ground: Ground, folder: str) -> Signs:
    names = ground.inside(folder)
    if "CMakeLists.txt" in names:
        tool = "cmake"
        defaults = {
            "build": "cmake -S . -B build && cmake --build build",
            "test": "ctest --test-dir build --output-on-failure",
        }
        told = "".join(ground.text(path) for path in ground.sizes if path.endswith("CMakeLists.txt")).lower()
    elif "meson.build" in names:
        tool, told = "meson", ground.text(join(folder, "meson.build"))
        defaults = {"build": "meson setup build && meson compile -C build", "test": "meson test -C build"}
    elif "configure.ac" in names or "configure" in names:
        tool, told = "autotools", ground.text(join(folder, "configure.ac"))
        first = "./configure" if "configure" in names else "autoreconf -i && ./configure"
        defaults = {"build": f"{first} && make", "test": "make check"}
    else:
        tool, told = "make", ground.text(join(folder, "Makefile"))
        defaults = {"build": "make"}
    framework = next((name for name, word in _C_TESTS if word in told or name.lower() in told), "")
    if tool == "cmake" and not framework and "enable_testing" not in told and "ctest" not in told:
        defaults.pop("test")
    linters = [each for each in ("clang-format", "clang-tidy") if f".{each}" in names]
    files = "git ls-files '*.c' '*.cc' '*.cpp' '*.h' '*.hpp' | xargs"
    checks = {
        "clang-format": f"{files} clang-format --dry-run --Werror",
        "clang-tidy": f"{files} clang-tidy -p build",
    }
    if linters:
        in_ci = "".join(map(ground.text, ci_files(ground)))
        defaults["lint"] = checks[next((each for each in linters if each in in_ci), linters[-1])]
    if "clang-format" in linters:
        defaults["format"] = f"{files} clang-format -i"
    test = None
    if "test" in defaults:
        test = Framework(framework or tool, "", defaults["test"])
    return Signs(tool, defaults, {}, test, tuple(linters))


# Tools that need no more than their own words


def _simple(tool: str, **commands: str) -> Callable[[Ground, str], Signs]:
    def read(ground: Ground, folder: str) -> Signs:
        return Signs(tool, commands, {}, Framework(tool, "", commands["test"]))

    return read


ECOSYSTEMS = {
    "python": Ecosystem(
        ("pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "requirements.txt", "manage.py", "tox.ini"),
        (".py",),
        _python,
    ),
    "node": Ecosystem(
        ("package.json",),
        (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".vue", ".svelte", ".css"),
        _node,
    ),
    "rust": Ecosystem(("Cargo.toml",), (".rs",), _rust),
    "go": Ecosystem(("go.mod",), (".go",), _go),
    "java": Ecosystem(("pom.xml",), (".java", ".kt", ".scala"), _maven),
    "gradle": Ecosystem(
        ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"),
        (".java", ".kt", ".groovy"),
        _gradle,
    ),
    "ruby": Ecosystem(("Gemfile", "*.gemspec", "Rakefile"), (".rb",), _ruby),
    "php": Ecosystem(("composer.json",), (".php",), _php),
    "c": Ecosystem(
        ("CMakeLists.txt", "meson.build", "configure.ac", "configure", "Makefile"),
        (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".hh"),
        _c,
    ),
    "dotnet": Ecosystem(("*.sln", "*.slnx", "*.csproj", "*.fsproj"), (".cs", ".fs", ".vb"), _dotnet),
    "elixir": Ecosystem(
        ("mix.exs",),
        (".ex", ".exs"),
        _simple("mix", build="mix compile", test="mix test", format="mix format"),
    ),
    "swift": Ecosystem(
        ("Package.swift",), (".swift",), _simple("swift", build="swift build", test="swift test")
    ),
    "dart": Ecosystem(
        ("pubspec.yaml",),
        (".dart",),
        _simple("dart", test="dart test", lint="dart analyze", format="dart format ."),
    ),
    "zig": Ecosystem(("build.zig",), (".zig",), _simple("zig", build="zig build", test="zig build test")),
    "deno": Ecosystem(
        ("deno.json", "deno.jsonc"),
        (".ts",),
        _simple("deno", test="deno test", lint="deno lint", format="deno fmt"),
    ),
}
# Ecosystems whose commands in CI are known under another name.
CI_NAMES = {"gradle": "java"}

"""Ruby and PHP: how a package is built, tested, linted, formatted and run."""

import json
import re
from collections.abc import Iterator

from recollect.code.modules.commands import ProjectTask, task_names, tasks_by_slot
from recollect.code.modules.ecosystems.package_info import (
    SET_UP,
    PackageInfo,
    Runner,
    find_linters,
    first_name,
    parse_json,
    table_at,
    what_runs,
)
from recollect.code.modules.module_map import TestFramework
from recollect.code.modules.scan_input import ScanInput
from recollect.code.paths import folder_of, join

_CONTINUED = re.compile(
    r"""['"]\s{0,20}\\\n\s{0,200}['"]"""
)  # a string of Ruby that goes on in the next line


# What `rake` runs without a task.
_DEFAULT = re.compile(
    r"""task[ (]+(?::default\s*=>|['"]default['"]\s*=>|default:)\s*%?\w?[\[({]([^\])}]{0,500})"""
)


def _above(folder: str, name: str) -> Iterator[str]:
    """Yield the paths that a file has in the folder and in those around it, where Bundler looks for it."""
    yield join(folder, name)
    while folder:
        folder = folder_of(folder)
        yield join(folder, name)


def read_ruby(project: ScanInput, folder: str) -> PackageInfo:
    names = project.inside(folder)
    gemspec = first_name(names, r".+\.gemspec")
    rakefile = project.text(join(folder, "Rakefile"))
    gems = project.text(join(folder, "Gemfile")) + project.text(join(folder, gemspec))
    run = "bundle exec " if any(name in project for name in _above(folder, "Gemfile")) else ""
    start = f"{folder}/" if folder else ""
    has_specs = any(path.startswith(start) and path.endswith("_spec.rb") for path in project.sizes)
    is_rspec = ".rspec" in names or (has_specs and not ("minitest" in gems and "rspec" not in gems))
    is_test_unit = "test-unit" in gems and "minitest" not in gems
    framework = "rspec" if is_rspec else "test-unit" if is_test_unit else "minitest"
    tasks = dict.fromkeys(re.findall(r"""task[ (]+(?::|['"])?(\w+)""", rakefile), "rake")
    tests: set[str] = set()
    for library, usual in (("TestTask", "test"), ("RSpec::Core::RakeTask", "spec")):
        for name in re.findall(rf"""\b{library}\b(?:\.new\b[ (]*(?::|['"])?([a-z][\w:]*+)?)?""", rakefile):
            tests.add(usual if name in ("", "do") else name)
    tasks |= dict.fromkeys(tests - tasks.keys(), "rake")
    known = {name for names in task_names().values() for name in names}
    named = tasks_by_slot(
        {name: body for name, body in tasks.items() if name in known}, f"{run}rake ", join(folder, "Rakefile")
    )
    default = _DEFAULT.search(rakefile)
    if (
        default and len(tests & set(re.findall(r"[a-z][\w:]*\w", default[1]))) > 1
    ):  # each runs some of the tests
        named["test"] = ProjectTask(f"{run}rake", "rake", join(folder, "Rakefile"))
    if "config/application.rb" in project:
        defaults = {"test": "bin/rails test", "run": "bin/rails server"}
    else:
        defaults = {"test": f"{run}rake test"} if "test" in tasks else {}
    if framework == "rspec":
        defaults["test"] = f"{run}rspec"
    config = ".rspec" if ".rspec" in names else ""
    is_needed = re.search(r"""(?m)^(?![ \t]{0,40}#)[^\n]{0,400}?['"]rubocop['"]""", gems)
    can_run = not run or re.search(r"rubocop|\bstandard|eval_gemfile", gems)  # `bundle exec` needs the gem
    rubocop = ".rubocop.yml" if ".rubocop.yml" in names and can_run else "Gemfile" if is_needed else ""
    if rubocop:
        defaults |= {"lint": f"{run}rubocop", "format": f"{run}rubocop -a"}
    if gemspec:
        defaults["build"] = f"gem build {gemspec}"
    specified = _CONTINUED.sub("", project.text(join(folder, gemspec)))
    summary = re.search(r"""\.summary\s*=\s*(?:['"]|%[qQ]?[{(\[])(.+?)['"})\]]""", specified)
    command = named["test"].line if "test" in named else defaults.get("test", "")
    test = TestFramework(framework, join(folder, config) if config else "", command)
    return PackageInfo(
        "bundler" if "Gemfile" in names else "rubygems",
        defaults,
        named,
        test,
        ("rubocop",) if rubocop else (),
        gemspec.removesuffix(".gemspec"),
        summary[1] if summary else "",
        frozenset(re.findall(r"""(?:gem|add(?:_runtime)?_dependency)[ (]+['"]([\w-]+)['"]""", gems)),
        sources=dict.fromkeys(("lint", "format"), f"{SET_UP}{rubocop}") if rubocop else {},
    )


def read_php(project: ScanInput, folder: str) -> PackageInfo:
    names = project.inside(folder)
    text = project.text(join(folder, "composer.json"))
    document = parse_json(text)
    scripts = {name: json.dumps(body) for name, body in table_at(document, "scripts").items()}
    named = [each for each in what_runs(project, folder) if not each.text.startswith("composer ")]
    runners = [*named, Runner("composer.json", "\n".join(scripts.values()))]
    linters, commands, sources = find_linters("php", names, {"composer.json": text}, "", runners)
    if "bamarni/composer-bin-plugin" not in text:
        commands = {
            slot: line
            if f"/{line.split()[0].rpartition('/')[2]}" in text
            else line.removeprefix("vendor/bin/")
            for slot, line in commands.items()
        }
    tasks = tasks_by_slot(scripts, "composer ", join(folder, "composer.json"))
    pest = '"pestphp/pest"' in text
    config = first_name(names, r"phpunit\.(xml|xml\.dist|dist\.xml)")
    bridge = '"symfony/phpunit-bridge"' in text
    test = None
    if pest or bridge or '"phpunit/phpunit"' in text or (config and "test" in tasks):
        program = "pest" if pest else "simple-phpunit" if bridge else "phpunit"
        command = tasks["test"].line if "test" in tasks else f"vendor/bin/{program}"
        test = TestFramework("pest" if pest else "phpunit", join(folder, config) if config else "", command)
    defaults = {"build": "composer install", **commands, **({"test": test.run_command} if test else {})}
    if "artisan" in names:
        defaults |= {"run": "php artisan serve", "test": "php artisan test"}
    return PackageInfo(
        "composer",
        defaults,
        tasks,
        test,
        linters,
        str(document.get("name", "")),
        str(document.get("description", "")),
        frozenset(name for name in table_at(document, "require") if "/" in name),
        sources=sources,
    )

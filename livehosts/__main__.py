"""Runs the checks with the real hosts, prints a row for each and the table, and keeps both in livehosts/out.

make hosts                                              all hosts and checks
make hosts HOSTS="claude-code codex" CHECKS="correction never"
make hosts ARGS="--full --jobs 2"                       as often as a release asks for, two hosts at a time

python -m livehosts session HOST PROMPT                 one session by hand; see --help
python -m livehosts record                              what hooks get, as fixtures of the tests
"""

import argparse
import sys
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from livehosts import by_hand, record, report
from livehosts.check import Check, CheckRun
from livehosts.checks.registry import CHECKS
from livehosts.clis.registry import CLIS
from livehosts.host_cli import HostCli
from livehosts.npm import installed

LONGEST = 2000  # characters of an error, whose end says most
OUT = Path(__file__).parent / "out"


def main(arguments: Sequence[str]) -> int:
    if arguments[:1] == ["session"]:
        return by_hand.main(arguments[1:])
    if arguments[:1] == ["record"]:
        return record.main(arguments[1:])
    given = _parser().parse_args(arguments)
    clis = [CLIS[name] for name in given.hosts or CLIS]
    checks = [CHECKS[name] for name in given.checks or CHECKS]
    for cli in clis:
        installed(cli)

    def run_host(cli: HostCli) -> list[report.CheckResult]:
        return [_run(check, cli, given) for check in checks]

    with ThreadPoolExecutor(given.jobs) as pool:
        results = [result for found in pool.map(run_host, clis) for result in found]
    table = report.markdown(results, clis, checks)
    report.write(results, table, given.out)
    print(f"\n{table}\n{given.out / 'hosts.md'}")
    return 0 if all(result.is_passed for result in results) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m livehosts", description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", nargs="*", choices=sorted(CLIS), default=[], metavar="HOST")
    parser.add_argument("--checks", nargs="*", choices=list(CHECKS), default=[], metavar="CHECK")
    parser.add_argument("--full", action="store_true", help="try as often as a release asks for")
    parser.add_argument("--tries", type=int, help="try so often, whatever the check says")
    parser.add_argument("--jobs", type=int, default=1, help="hosts at the same time [1]")
    parser.add_argument("--keep", action="store_true", help="keep the sandboxes of checks that pass too")
    parser.add_argument(
        "--record", action="store_true", help="keep what hooks get and print, in each sandbox"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="where the table is written")
    return parser


def _run(check: Check, cli: HostCli, given: argparse.Namespace) -> report.CheckResult:
    run = CheckRun(cli, given.full, given.keep, given.record, given.tries)
    begin = time.monotonic()
    try:
        check.run(run)
    except Exception as error:  # one check that cannot run must not stop the others
        run.expect(False, f"{type(error).__name__}: {str(error).strip()[-LONGEST:]}")
        traceback.print_exc(file=sys.stderr)
    result = report.CheckResult(
        cli.name,
        cli.version,
        check.name,
        run.passed,
        run.tries,
        round(time.monotonic() - begin, 1),
        run.faults,
        run.notes,
        [str(folder) for folder in run.folders if folder.exists()],
    )
    print(result.row, flush=True)
    return result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Learn from the transcripts that hosts write."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, groupby
from pathlib import Path

from recollect.errors import RecollectError, Refused
from recollect.work.hosts.transcripts import detect, read
from recollect.work.sessions.sessions import EndedSession, Sessions
from recollect.work.transcripts.event import Event
from recollect.work.transcripts.reading import Report

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class LearningReport:
    """The result of learning from transcripts."""

    files: int = 0
    found: dict[str, int] = field(
        default_factory=dict
    )  # findings by session; a session may be spread over files
    promoted: list[str] = field(default_factory=list)
    elsewhere: int = 0  # sessions of other projects, which are skipped
    refused: list[str] = field(default_factory=list)  # files that could not be read, each with the reason
    report: Report = field(default_factory=Report)

    @property
    def sessions(self) -> list[str]:
        return list(self.found)

    @property
    def findings(self) -> int:
        return sum(self.found.values())


def learn_from_file(
    sessions: Sessions, path: Path, learning: LearningReport, *, own_only: bool = False
) -> None:
    """Read `path` once, session by session. `own_only` skips sessions of other projects and of unknown folders.

    A session that cannot be learnt from is added to `refused`; the others are learnt from.
    """
    try:
        host = detect(path)
        for name, events in groupby(read(path, host, learning.report), key=lambda event: event.session):
            try:
                _learn(sessions, name or path.stem, events, host, path, learning, own_only)
            except Refused as error:
                learning.refused.append(f"{path.name}: {error.message}")
            except RecollectError:
                raise
            except Exception:  # whatever a transcript holds
                logger.exception("%s could not be processed", path)
                learning.refused.append(
                    f"{path.name}: session {name or path.stem} could not be processed. Run `recollect session recover` to try again."
                )
    except Refused as error:
        learning.refused.append(f"{path.name}: {error.message}")
        return
    learning.files += 1


def _learn(
    sessions: Sessions,
    name: str,
    events: Iterator[Event],
    host: str,
    path: Path,
    learning: LearningReport,
    own_only: bool,
) -> None:
    first = next(events)
    if own_only and not (first.cwd and sessions.is_of_project(first.cwd)):
        learning.elsewhere += 1
        return
    record = "" if first.agent else str(path.absolute())  # a sub-agent's file is only a part of the session
    session = sessions.start(
        name, host=host, agent=host, branch=first.branch or None, transcript=record, at=first.at
    )
    evidence = sessions.evidence_in(host, path.absolute())
    ended: EndedSession = sessions.learn_from(session, chain([first], events), evidence)
    learning.found[ended.session.id] = ended.findings
    learning.promoted += ended.promoted

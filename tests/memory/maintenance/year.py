"""A year of work in one project, from seeded dice: what is said, used, turned down and contradicted, day by day."""

import json
import random
from collections import Counter, defaultdict
from dataclasses import replace

import recollect.model as m
from recollect.memory.maintenance.feedback import after_retrieval

DAYS = 365
OPENINGS = 36  # of the store
AGENTS = ("agent:coder", "agent:qa", "agent:planner")
LASTING = ("fact", "gotcha", "decision", "pattern", "convention", "procedure")
PASSING = ("discovery", "file_change", "task_progress", "warning", "error_pattern", "context")


class Year:
    """Goes through the engine's doors, and notes by id what it did. `every` is how many days one day of work stands for."""

    def __init__(self, open_engine, clock, every=1):
        self._open_engine = open_engine
        self._clock = clock
        self._every = every
        self._dice = random.Random(2026)
        self._words = set()
        self._services = []
        self.questions = {}  # by the id of the memory that answers
        self.stated = []  # by the user
        self.learnt = []  # by agents
        self.useful = []  # what agents learnt and go on using
        self.happened = Counter()

    def pass_by(self):
        days = range(0, DAYS, self._every)
        for opening in range(OPENINGS):
            with self._open_engine() as self._engine:
                for _ in days[opening * len(days) // OPENINGS : (opening + 1) * len(days) // OPENINGS]:
                    self._spend_a_day()
                    self._engine.schedule.run_idle()  # as the daemon does when nobody is waiting
                    self._clock.advance(days=self._every - 1, hours=16)

    def _spend_a_day(self):
        engine, dice = self._engine, self._dice
        session = m.Session(m.new_id(), "ada", engine.project.id, self._clock())
        engine.store.put_session(session)
        for _ in range(dice.randrange(5, 10)):
            self._learn(session.id)
        self.stated.append(self._say(kind=dice.choice(("fact", "preference", "decision", "discovery"))))
        self._change_a_port()
        for _ in range(3):
            self._use()
        if dice.random() < 0.5:
            engine.feedback(dice.choice(self.learnt[-50:]), helpful=dice.random() < 0.5)
        engine.store.put_session(replace(session, ended_at=self._clock.advance(hours=8)))

    def _learn(self, session):
        """An agent keeps something; now and then what was kept before."""
        dice = self._dice
        known = self._engine.get(dice.choice(self.learnt)) if self.learnt and dice.random() < 0.05 else None
        if known is not None and known.scope is not m.Scope.SESSION:
            self._remember(known.content, created_by="agent:coder")
            return
        kind = dice.choice(LASTING + PASSING)
        source = dice.choice(("observed", "observed", "extracted", "inferred"))
        passing = dice.random() < 0.1
        name = self._say(
            kind=kind,
            source=source,
            session=session,
            scope="session" if passing else "project",
            created_by=dice.choice(AGENTS),
            importance=round(dice.uniform(0.2, 0.9), 2),
            standing=dice.choice(("candidate", "confirmed")),
        )
        self.learnt.append(name)
        if len(self.useful) < 8 and kind in LASTING and source == "observed" and not passing:
            self.useful.append(name)

    def _change_a_port(self):
        """The user says where a service listens, and says it anew; agents believe what they saw."""
        dice = self._dice
        if len(self._services) < 8:
            self._services.append(self._word())
        text = f"The {dice.choice(self._services)} service listens on port {dice.randrange(2000, 9000)}."
        if dice.random() < 0.5:
            self.stated.append(self._remember(text))
        else:
            self._remember(text, created_by="agent:coder")

    def _use(self):
        """A question is asked; what answers it is used, and some of the rest turned down."""
        name = self._dice.choice(self.useful or self.stated)
        question = self.questions.get(name, "which port")
        shown = [hit.memory.id for hit in self._engine.search(question, 5).results]
        rejected = [each for each in shown if each != name and self._dice.random() < 0.5]
        after_retrieval(
            self._engine.store,
            self._clock,
            self._engine.context.view(),
            retrieval=m.new_id(),
            shown=shown,
            used=[name] if name in shown else [],
            rejected=rejected,
        )
        self.happened["used"] += name in shown
        self.happened["turned down"] += len(rejected)

    def _say(self, **details):
        """What nobody has said before, and a question that it answers."""
        giver, thing, taker = self._word(), self._word(), self._word()
        name = self._remember(f"{giver.title()} hands every {thing} over to {taker}.", **details)
        self.questions[name] = f"to whom does {giver} hand over the {thing}"
        return name

    def _remember(self, text, **details):
        receipt = self._engine.remember(text, **details)
        self.happened["writes"] += 1
        self.happened[str(receipt.outcome)] += 1
        return receipt.id

    def _word(self):
        """A new one each time."""
        while True:
            word = "".join(self._dice.choice("bdfgklmnprstvz") + self._dice.choice("aeiou") for _ in range(4))
            if word not in self._words:
                self._words.add(word)
                return word


def lines_of(store, archive):
    """All audit lines, the archived ones too, as (memory, action, detail), oldest first."""
    old = [json.loads(line) for line in archive.read_text().splitlines()] if archive.exists() else []
    new = reversed(store.audit(1_000_000))
    return [
        *((about, action, json.loads(detail)) for _seq, _at, _actor, action, about, detail, _hash in old),
        *((line.memory_id, line.action, line.detail) for line in new),
    ]


def unexplained(memories, lines):
    """Ids of archived memories that have not exactly one line for why, since they were last said."""
    told = defaultdict(list)
    for about, _action, detail in lines:
        if "reinforced" in detail:
            told[about].clear()
        if detail.get("state") == "archived":
            told[about].append(detail["reason"])
    return [each.id for each in memories if told[each.id] != [each.state_reason]]

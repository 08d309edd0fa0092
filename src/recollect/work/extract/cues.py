"""The table of cues: how people say what is worth keeping, and what it then is.

A sentence is matched without its polite opening, in one line with single spaces and straight apostrophes. The first
cue that matches decides. To teach a new way of saying something, add a row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cue:
    kind: str
    pattern: re.Pattern[str]  # where it has a group `rest`, that is the statement
    standing: bool = False  # meant for the future, not only for the work at hand
    after_work: bool = False  # means something only once the agent has done something
    about: bool = False  # understood only beside the request it is about
    terse: bool = False  # the same, where it is short
    follow: bool = False  # what is said next may belong to it
    early: bool = False  # only in a short message, or as the first thing said
    reasoned: bool = False  # only with a reason
    asks: bool = False  # an order put as a question


def _cue(kind: str, pattern: str, **how: bool) -> Cue:
    return Cue(kind, re.compile(pattern, re.IGNORECASE), **how)


_STANDING = {"standing": True}
_REPLY = {"after_work": True, "about": True}
_FULL_REPLY = _REPLY | {"follow": True}

_REST = "(?P<rest>.+)"
_DONT = "(?:please )?(?:don't|do not|dont)"
# After "don't" and "never": courtesy, states of mind, and questions put as orders.
_DEED = (
    r"(?!(?:worry|mind|bother|know|think|understand|see|get (?:it|me|why|what)|remember|care|recall|believe|have|need"
    r"|want|panic|forget|seen|heard|been|had|would|thought|knew|got|met|you|we|i|they|it|be (?:sorry|shy|afraid))\b)\w"
)
# After "no": the answer to a question, thanks, or a report.
_OBJECTION = (
    r"(?!problem|worries|need\b|thank|not (?:yet|really|now)\b|it work|(?:it|that)(?:'s| is) (?:all|it|fine|ok|okay|enough|good)\b"
    r"|i(?:'m|'ve| am| have| haven't| was| did| didn't| don't (?:have|think|know|need)| still| can'?t| cannot| want to| just)\b)"
)
# "X, not Y", but not "if not" or "is not".
_NOT = (
    "".join(
        rf"(?<!\b{word})"
        for word in "if is are was were be does do did or and has have had can could would should must will why whether when".split()
    )
    + r"(?<!'m)(?<!'s)(?<!'re)[ ,;—–-]+not (?!sure|only|yet|necessarily|been|be\b|the case|included|called|found)[\w`\"'-]"
)
_NEVER_CHANGES = r"(?:auto-?)?(?:generated|deprecated|legacy|vendored|gitignored|read-only|a symlink|ignored by git|not tracked)\b"

REFUSES = _cue("correction", rf"^(?:no|nope|nah)\b ?[,.:;!—–-]+ ?{_OBJECTION}(?P<rest>\w.*)", **_FULL_REPLY)
OTHER_TOOL = _cue("correction", "", after_work=True, terse=True)  # recognised by what was run before

CUES = (
    # Before all others: "no, don't mock it" is both.
    _cue("correction", rf"^(?:no[, ]+)?(?:what )?i mean(?:t)?\b(?: is)?[,:]? {_REST}", **_FULL_REPLY),
    REFUSES,
    # Said to be kept.
    _cue("human_feedback", rf"^/remember {_REST}", **_STANDING),
    _cue("human_feedback", rf"^(?:remember|keep in mind|bear in mind)(?: that| to|:|(?= (?:i|we|our|the)\b(?! time))) {_REST}", **_STANDING),
    _cue(
        "preference",
        r"^(?:from now on|going forward|in (?:the )?future|for (?:the )?future|next time|as a rule|in general)\b[,:]? "
        rf"(?!i'd like|i (?:want|would like|plan)|i'll|we(?:'ll| (?:will|may|might|could|can))\b){_REST}",
        **_STANDING,
    ),
    # Warnings and facts.
    _cue("warning", rf"^(?:heads[ -]?up|(?:be )?careful|watch out|beware|warning|caution|attention) ?[,:!–—-]+ ?{_REST}", **_STANDING),
    _cue("warning", r"^(?:be careful|watch out|beware|be aware) (?:to|not|that|of|with|about) \w", **_STANDING),
    _cue("fact", rf"^(?:fyi|for your information|note|please note|nb)\b(?: that)?[,:!]? (?!(?:that )?i\b|i'|to self){_REST}", **_STANDING),
    _cue("fact", rf"^(?:the )?(?:files? in )?`?[\w.-]*[/.][\w./*-]+`?(?: (?:file|folder|directory))? (?:is|are) {_NEVER_CHANGES}", **_STANDING),
    _cue("gotcha", r"^(?:the (?:issue|problem|bug|root cause|culprit) was|(?:it )?turn(?:s|ed) out (?:that|the|it|we|to be))\b", **_REPLY),
    # Decisions.
    _cue("decision", rf"^(?:decided|decision|the decision is|final decision)\b[,:]? {_REST}", **_STANDING),
    _cue("decision", r"\b(?:we|i)(?:'ve| have)? decided\b", **_STANDING),
    _cue("decision", r"\b(?:let'?s|we(?:'ll| will)) (?:go with|stick (?:with|to))\b|\bwe(?:'re| are) going with\b", terse=True),
    _cue("decision", r"\b(?:let'?s|we(?:'ll| will|'re going to| are going to)) (?:use|keep|avoid|drop)\b", reasoned=True, standing=True),
    _cue(
        "decision",
        r"\b(?:we(?:'re| are) (?:moving|switching|migrating)|(?:i|we) want to (?:switch|move|migrate)) (?:away )?(?:from|to|over)\b",
        **_STANDING,
    ),
    _cue("decision", r"\b(?:should|must) (?:be )?\w+.*, ?not (?!only|just|sure|yet)\w", **_STANDING),
    # Conventions.
    _cue("convention", r"\b(?:our|my|the (?:team|project|repo)(?:'s)?) (?:convention|rule|policy|standard|practice)s?\b(?: here)?(?: (?:is|are)\b|:)", **_STANDING),
    _cue(
        "convention",
        r"^(?:in this (?:repo|repository|project|codebase),? we|we (?:always|never|only(?= ever\b))) "
        r"(?!(?:have|had|saw|seen|know|knew|got|get|want|thought|needed|wanted|been)\b)",
        **_STANDING,
    ),
    _cue(
        "convention",
        r"^we (?:(?:don't|do not) )?(?:use|write|put|keep|name|run|store|test|log|avoid|prefer)\b"
        r".*(?:\bhere\b|\bin (?:this|our|the) (?:repo|repository|project|codebase|team)\b|, ?not\b)",
        **_STANDING,
    ),
    # Preferences, and what is unwelcome.
    _cue("correction", r"^i (?:don't|do not) want (?!to (?:bother|interrupt|worry|know))\w", early=True, **_FULL_REPLY),
    _cue("preference", r"\bi(?:'d| would) (?:much )?(?:rather|prefer)\b|\bi (?:always |strongly |really )?(?:prefer|hate|dislike|can't stand)\b", **_STANDING),
    _cue("preference", r"\bi (?:don't|do not) like (?:it when )?(?!it\b|that\b|this\b|the idea)\w|\bmy preference\b", **_STANDING),
    _cue("preference", r"^i like (?!the idea|that|how|to\b|it\b|your|this|what)\w+.* (?:in|for|when|over)\b", **_STANDING),
    _cue("preference", rf"\b(?:how i like \w+|(?:my|some|more) preferences?)\b[^:]*: ?{_REST}", **_STANDING),
    # Refusals.
    _cue("correction", rf"^(?:wrong \w+|incorrect|wrong) ?[,.:;!—–-]+ ?{_REST}", **_FULL_REPLY),
    _cue(
        "correction",
        r"^(?:that|this|it)(?:'s| is) (?:not (?:right|correct|true|what i \w+(?: for)?)|wrong|incorrect) ?[,.:;—–-]+ ?(?P<rest>\w.*)",
        **_FULL_REPLY,
    ),
    # About what the agent did.
    _cue("correction", rf"^i (?:said|asked(?: you)?|told you) (?:to )?{_REST}", **_REPLY),
    _cue("correction", r"^you(?:'re| are) (?:deleting|removing|changing|breaking|overwriting|missing|ignoring|using|adding|mixing)\b", **_FULL_REPLY),
    _cue("correction", r"^you (?:don't|do not) need \w", **_FULL_REPLY),
    _cue("correction", r"^you (?:forgot|missed|skipped|broke|removed|deleted|should(?:n't| not)? have) \w", **_FULL_REPLY),
    _cue("correction", r"^we(?:'re| are) not (?:using|doing)\b|^i shouldn't have to\b", **_REPLY),
    _cue("correction", r"\b(?:should not|shouldn't|must not|mustn't) be \w+ed\b|^(?:it|they|those|these) must (?:remain|stay)\b", **_REPLY),
    _cue("correction", r"\bit'?s not (?:just|only)\b", **_REPLY),
    _cue("correction", r"\b(?:is|it's) not .*\bany ?more\b|\bisn't .*\bany ?more\b", after_work=True),
    _cue("correction", r"^there(?:'s| is| are) no [`\w]*[_.()`][\w`.()]*", **_FULL_REPLY),
    _cue("fact", r"^(?!(?:i|we|you|it|he|she|they|there|this|that)\b)[\w`.()/-]+(?: [\w`.()/-]+){0,4} no longer \w", **_STANDING),
    # Standing orders.
    _cue(
        "correction",
        r"\byou (?:(?:should|must|need to) (?:always|never)|(?:should not|shouldn't|must not|mustn't) (?!have\b))",
        standing=True,
        follow=True,
    ),
    _cue("preference", rf"^(?:please )?(?:always|never) {_DEED}|^make sure (?:to|you|that you) (?:always|never)\b", standing=True, follow=True),
    _cue("preference", r"\b(?:should|must) (?:always|never)\b|\bi (?:always|never) (?:use|write|put|run|want|add|commit)\b", **_STANDING),
    _cue("preference", r"\b(?:from now on|going forward)\b|^use \S.* for (?:all|every|everything|any)\b", **_STANDING),
    _cue("preference", r"^[\w /-]+ only\b[ ,;—–-]+(?:no|not|never) \w", **_STANDING),
    _cue(
        "preference",
        r"^(?:please )?(?:make sure|run|use|add|write|check|ask|tell|update|commit|format|test|include)\b.* (?:every time|each time|whenever you"
        r"|before (?:every|each|any|committing|pushing|you (?:commit|push|finish|start))|after (?:every|each)(?! other))\b",
        **_STANDING,
    ),
    # Orders against something.
    _cue("correction", rf"^{_DONT} use \S.*[ ,](?:just|use|but) \S"),
    _cue("correction", rf"^(?:{_DONT}|avoid|no more|(?:stop|quit|please stop)(?= \w+ing\b)) {_DEED}+(?: \S+)+", after_work=True, follow=True),
    _cue(
        "correction",
        r"^no (?!problem|worr|idea|need|thank|way|one|matter|rush|hurry|big|longer|doubt|luck|clue|sorry|it|that|this|i\b|we\b|you\b|the\b|not\b)"
        r"\w+(?: \w+)? (?:in|on|at|for|with|from) \w",
        after_work=True,
    ),
    _cue("correction", r"^leave \S.* (?:alone|as (?:it )?is|unchanged|untouched)\b", after_work=True),
    _cue("correction", r"^we (?:can't|cannot|can not|mustn't|must not)\b", after_work=True, reasoned=True),
    # One thing and not the other.
    _cue("correction", r"^instead of \S+.* \w"),
    _cue(
        "correction",
        r"^(?:(?:in|for|on|when|with|at|inside)\b[^,]{1,60}(?:,| (?=use\b)) ?)?(?:please |just |only )*"
        r"(?:use|catch|mock|call|put|write|name|return|run|have|make|test|check|store|log|import|add)\b.*"
        rf"(?:\binstead of\b|\brather than\b|{_NOT})",
    ),
    _cue("correction", r"^(?:can|could|would) (?:you|we) (?:please )?(?P<rest>\w[^?]*\binstead\b[^?]*)$", about=True, asks=True),
    _cue(
        "correction",
        r"^(?:instead,? (?!i\b|i'|they|he\b|she\b|it\b)\w"
        r"|(?:let'?s|do|use|make|put|just|try|return|call|keep|have|get|add|move|show|write|run|set)\b.*\binstead(?! of)\b)",
        **_FULL_REPLY,
    ),
    _cue("correction", r"^not (?!sure|yet|really|now|bad|quite|at all|a (?:problem|big)|that i|because)\S.{0,60}(?:,|\bbut\b) \S.{0,60}$", **_REPLY),
    _cue(
        "correction",
        r"^(?!(?:still|it|its|that|this|i|we|is|are|do|does|did|why|but|and|or|if|of|certainly|definitely|absolutely)\b)"
        r"[\w.()`]+,? not [\w.()`]+$",
        **_REPLY,
    ),
    _cue("correction", r"^(?:it|that|this|the \w+) should\b.*(?:\bnot\b|\brather than\b)", **_REPLY),
    _cue("correction", r"^actually,? (?P<rest>.*\b(?:not|never|only|always|must|should|use|instead|needs? to|don't|goes?|belongs?)\b.*)", **_FULL_REPLY),
)  # fmt: skip

# What may stand before the matter.
POLITE = re.compile(
    r"^(?:(?:ok(?:ay)?|yes|yep|yeah|well|and|but|so|also|oh|ah|hey|hmm+|great|nice|good|cool|thanks|thank you|right|sure"
    r"|fine|sorry|please|hi|hello|again|wait|look|(?:very )?important(?= ?[:!–—-])|no matter what)\b[\s,.!:–—-]*)+",
    re.IGNORECASE,
)
PRAISE = re.compile(
    r"\b(?:great|perfect|awesome|nice|good|fine|ok|okay|works?|cool|lovely|excellent|thanks|love it|done|correct|right)\W*$",
    re.IGNORECASE,
)
REASON = re.compile(
    r"\b(?:because|since|so that|due to|otherwise|in order to|as (?:we|it|the|our|they)|so \w+)\b",
    re.IGNORECASE,
)
# A refusal without its matter, which then comes next.
REFUSAL = re.compile(
    r"^(?:no|nope|nah|wrong|incorrect|actually|that'?s (?:not|wrong)\b.*|not what i\b.*|you misunderstood\b.*|please stop)\W*$",
    re.IGNORECASE,
)
REPROACH = re.compile(r"^why (?:are|did|do|would|have) you\b.*\?$", re.IGNORECASE)
# Goes on with what was said before.
GOES_ON = re.compile(
    r"^(?:please |just |only |instead,? |always |never )*(?:use|put|call|open|add|run|make|mock|write|keep|move|name"
    r"|rename|set|pass|return|import|leave|catch|go|do|don't|do not|it|it's|that|they|this|we)\b",
    re.IGNORECASE,
)
# Steers this turn only.
MOMENTARY = re.compile(
    r"\b(?:yet|for now|right now|at the moment|this time|until|(?:anything|nothing|any) else)\b"
    rf"|^{_DONT} (?:write|run|do|take|make|change|start|implement|touch|execute|code|move|continue|proceed|stop)\b"
    r"(?: (?:out )?(?:any )?(?:code|anything|work|actions?|changes?|past|on)\b|[ .!]*$)",
    re.IGNORECASE,
)
# Names one of several things that only the transcript knows.
CHOICE = re.compile(
    r"\b(?:options?|recommendations?|suggestions?|approach|choice|plan|idea|number|first|second|third|one|[a-d]|\d)\b",
    re.IGNORECASE,
)
POINTING = re.compile(r"\b(?:that|this|these|those|them|it|there|then|again|too|same)\b", re.IGNORECASE)
FILLER = frozenset(
    """a an and are as at be been but by can could did do does doing done dont for from get go had has have how i if in
    into is it its just let lets like make me my no not now of on one or our please so some stop such than that the
    them then there these they thing things this those to too try up us use used using want was we what when which
    will with would yet you your""".split()
)

"""Every weight, floor and threshold of search, in one table. Nothing else compares a score with a number of its own.

The numbers live on four scales:

- **coverage**: the share of a query's words that a text has, rare words counting for more (BM25 divided by the BM25 of a
  text of average length that has every word once). 0 = shares no word, 1 = has them all.
- **cosine**: nearness in meaning, -1 to 1. Below `RELATED_COSINE` two texts have nothing to do with each other.
- **score**: what `recollect search` shows for the `default` recipe. It is a sum: weighted coverage and cosine, what the graph
  adds, and small priors. For four fifths of the questions in bench/data the best hit has between 0.48 and 1.47.
- **share**: a factor from 0 to 1 that something else is multiplied by.

To make recency count more, raise `CONFIDENCE_WEIGHT`: a memory's confidence halves with every half-life of its kind
(`kinds.py`) since it was last said or used. Trust and use are parts of the confidence and count more with it; a kind
without a half-life does not fade at all. To make a kind of memory count more, raise its `weight` in `kinds.py`, or
`KIND_WEIGHT` for all kinds. Cosines that decide whether two statements say the same are another topic: see
`memory/judgement/compare.py`. Run `python -m bench.recall` before and after: the figures are in docs/benchmarks.md.
"""

from collections.abc import Mapping

from recollect.frozen import frozen

# --- Words: how often, in which field, how exactly (coverage) ---

BM25_K1, BM25_B = 0.9, 0.3  # docs/benchmarks.md


@frozen
class Bm25Measure:
    """One BM25 over some fields. `weights` multiply how often a term occurs in each; other fields do not count."""

    name: str
    weights: Mapping[str, float]
    share: float = 1.0
    k1: float = BM25_K1
    b: float = BM25_B
    pairs: bool = False  # counts two terms in a row, and not single ones


PHRASE_SHARE = 0.5

# The boosts of docs/recall.md (content 2, tags 1.5, paths 1.2, kind 1), with a word of the content as 1.
MEMORY_MEASURES = (
    Bm25Measure("words", {"content": 1.0, "tags": 0.75, "paths": 0.6, "kind": 0.5}),
    Bm25Measure("phrases", {"content": 1.0}, share=PHRASE_SHARE, pairs=True),
)
# What a person wrote counts twice, and so does the date, so that it counts as much where nobody but people writes.
MESSAGE_MEASURES = (
    Bm25Measure("words", {"person": 1.0, "assistant": 1.0, "date": 1.0}),
    Bm25Measure("person", {"person": 1.0, "date": 1.0}),
    Bm25Measure("phrases", {"person": 1.0, "assistant": 1.0, "date": 1.0}, share=PHRASE_SHARE, pairs=True),
)
SESSION_MEASURES = (Bm25Measure("session", {"person": 1.0, "assistant": 1.0, "date": 1.0}, b=0.4),)

# The situations in which a memory is needed are scored on their own: they are what somebody else may say, and not its words.
WHEN_FIELD = "when_needed"
WHEN_MEASURES = (Bm25Measure("when", {WHEN_FIELD: 1.0}),)

# A tag says what a memory is about.
ACTIVITY_MEASURES = (Bm25Measure("activity", {"content": 1.0, "tags": 1.5}),)
ACTIVITY_FIRST = 0.5  # is added to how clearly a task names an activity, if it does at its start

# Shares: how far a word counts that stands in for the one in the query.
PREFIX_SHARE = 0.8  # the query's word is the beginning of it
TYPO_SHARES = {1: 0.7, 2: 0.5}  # it is so many typing errors away
ALIAS_SHARE = 0.5  # it is an alias

# --- Score of a memory by the `default` recipe: the sum of these parts (docs/recall.md) ---


@frozen
class MemoryWeights:
    """What a query and a memory have in common."""

    words: float = 0.6  # × coverage
    everyday: float = 0.15  # × coverage of what the query's everyday words mean
    meaning: float = 1.0  # × cosine
    when_words: float = 0.6  # × coverage of the query by the situations in which it is needed
    when_meaning: float = 0.8  # × by how much these are nearer in meaning than the memory itself
    activity: float = (
        0.03  # × BM25 of words about the kind of work that the query asks for (`search/activities.py`)
    )


MEMORY_WEIGHTS = MemoryWeights()
TASK_WEIGHTS = MemoryWeights(
    activity=0.05
)  # where the query is what an agent was asked to do, not a question

# Priors decide between hits that are about equally relevant, and no more: as a plain boost, recency lowered every figure
# (docs/benchmarks.md).
GRAPH_WEIGHT = 1.0  # × what the best path over the graph adds beyond words and meaning
FILE_WEIGHT = 0.2  # if the memory is about a file that is open or named in the task
SEASON_WEIGHT = 0.15  # if the memory belongs to a season that is on
KIND_WEIGHT = 0.2  # × the logarithm of the kind's weight
CONFIDENCE_WEIGHT = 0.02  # × (confidence now - 0.5); this is where recency counts
STALE_SHARE = 0.6  # what is left of the score of a memory whose code has changed

# --- Candidates: what is looked at, and what is shown ---

RELATED_COSINE = 0.25  # below it, two texts have nothing to do with each other
RELATED_COVERAGE = 0.5  # from here on a memory has to do with the query by its words alone
CANDIDATES = 500  # memories scored in full, at most, where a filter leaves some of them out again
FETCHED = 40  # memories scored in full otherwise, or twice as many as are shown
SHOWN = 15  # hits that are ranked even if fewer are asked for, so that the weakest can be dropped
WEAK_TAIL = 0.3  # share of the ranked hits that is dropped where there are more than asked for

# --- The graph: from good hits to memories that are linked with them ---

SEED_SIMILARITY = 0.4  # cosine or coverage, whichever is greater, that a hit needs to be a starting point
MOST_SEEDS = 10
GRAPH_DEPTH = 2  # hops
HOP_SHARE = 0.7  # of the score that is left after each hop
LINK_SHARES = {"tag": 0.8, "cluster": 0.6, "supersedes": 0.9}  # `relates_to` has its own weight
OTHER_LINK_SHARE = 0.3  # contradicts, derived_from, depends_on, caused_by
FAN_OUT = 16  # the strongest links of a memory; a tag or cluster with more other members leads nowhere
FAN_OUT_LATER = 10  # after the first hop: a tag with more other members would be below FAINTEST_PATH
BEAM = 10  # memories of one level that the search goes on from

# Paths worth less than this share of their seed's score are not followed. Two hops over links of 0.3 are worth 0.044 and
# are the faintest that mean something.
FAINTEST_PATH = 0.04

# Where there are many ways on, each counts for its share of them, as in a random walk. A square root was tried: answers of
# bench/data/linked.jsonl came 1 to 3 places later, behind twice as many that led nowhere. These many ways cost nothing: a tag
# ties two memories as closely as it can, links are made one by one, and a cluster is close by itself.
FREE_WAYS = {"tag": 1}
FREE_WAYS_OTHERS = 8

# --- Messages: scores are z-scores, in standard deviations above the mean of all messages in view ---


@frozen
class NeighbourWeight:
    """How far the message `step` places further on in the session counts."""

    step: int
    weight: float
    if_question: float = 0.0  # added to the weight if that message ends with a question mark


@frozen
class MessageWeights:
    """The weights of a message's score. Most are from a study of the benchmarks in docs/benchmarks.md, which has our own choices."""

    words: float = 1.0  # × coverage
    meaning: float = 1.0  # × cosine
    assistant: float = -0.5  # for what an assistant wrote
    reply: float = -0.5  # once more, for that message alone: its neighbours and its session do not count less
    instruction: float = 1.5  # for what a person wants from now on, if the query is a request
    neighbours: tuple[NeighbourWeight, ...] = (
        NeighbourWeight(-1, 1.0, if_question=2.0),
        NeighbourWeight(+1, 0.6),
        NeighbourWeight(-2, 0.7),
        NeighbourWeight(+2, 0.42),
    )
    around: float = 0.25  # × the sum over the neighbours
    short: float = 25.0  # terms; where a message or one beside it is longer, they need each other less
    question: float = -0.5  # for a short message that ends with a question mark: the answer comes after it
    session: float = 0.3  # × the mean of the session's three best messages
    session_words: float = 0.25  # × the words of the whole session
    long: float = 60.0  # terms; where a message or one beside it is longer, it has words enough of its own
    by_session_words: float = 0.3  # where sessions are ranked
    by_session_best: float = 0.7


MESSAGE_WEIGHTS = MessageWeights()

# --- Thresholds on the score of a hit, for those who act on it ---

ANSWERS_SCORE = 0.3  # from here on a hit answers the question; if none does, nothing is found, and the question is noted as a gap
# The same where nothing in view is related and the probability of an answer (`search/topic.py`) is not known or cannot tell.
UNRELATED_SCORE = 0.4


@frozen
class AnswerModel:
    """The coefficients of a logistic regression: whether the best hit of a search answers the question (`search/topic.py`)."""

    bias: float
    specific: float  # × how much the question sounds like one about a project
    score: float  # × the score of the best hit
    words: (
        float  # × the logarithm of 1 + the BM25 score of the best match by words, in words as rare as can be
    )


# Fitted by `python -m bench.recall.offtopic --fit` on five stores and their questions, 434 general ones, and tasks of other projects. The
# position of a question is that along a direction found without it and its store. The floor is below all right answers there (0.19 and more).
ANSWER = AnswerModel(bias=-10.75, specific=1.57, score=3.26, words=9.02)
PROJECT_SPECIFICITY = 1.0  # on average, of memories of a project: seven projects have 2.2 to 3.3, a chat about people's lives has -0.5
NAMED_SPECIFICITY = 2.0  # at least, of a question that says itself that it is about a project: about the mean of those asked of projects
ANSWER_FLOOR = 0.12  # nothing is found if it is less likely than this, and the question is about the world:
GENERAL_SPECIFICITY = -0.8  # below it. Without this limit and the next two, 31 right answers to 136 short questions about four other stores were lost; now 2
# Or whatever it sounds like, if the best hit scores less than this. Of 564 right answers, none that is as unlikely as that scores less than 0.6.
WEAK_SCORE = 0.5
KEYWORDS = 2  # words that are no question but something to look up: "low battery", "sunday"
SAME_MATTER_COSINE = 0.5  # of the best hit, from which it is about what was asked for
KNOWN_ERROR_SCORE = 0.35  # from here on a hit is about the very error that a command has just printed

# --- What whoever records a memory is shown beside it, to say how they relate (cosine) ---

# From `python -m bench verdicts --shown`: what a statement repeats in other words is among the CLOSE_SHOWN nearest from here on
# for 99 % of 2,160, what it contradicts in plain words for 87 %, and in other words for 19 %; up to 1.1 memories are shown per
# record. From 0.35 it would be 100, 95 and 44 %, and up to 1.5; from 0.55 94, 69 and 6 %.
CLOSE_COSINE = 0.45
CLOSE_SHOWN = 3
CLOSE_ASKED = 12  # nearest memories that are looked at: events, and what holds elsewhere, are left out

# --- What an agent is told: the probability of being useful (`search/usefulness.py`) ---


@frozen
class UsefulnessModel:
    """The coefficients of a logistic regression, and what the weaker hits of a search usually score."""

    bias: float
    words: float  # × the logarithm of 1 + the BM25 score
    above: float  # × standard deviations above the weaker hits
    share_of_best: float  # × the score, divided by that of the best hit
    supported: float  # × the score of another hit that says nearly the same, times the share of common words
    area: float  # × how well other hits with the same tags, files and folders fit
    when_meaning: float  # × the cosine of the situations in which it is needed
    when_words: float  # × the logarithm of 1 + the BM25 score of these situations
    advises: float  # if its kind says what to do or to avoid
    kind_weight: float  # × the logarithm of the kind's weight, which counts for too much in the score
    transient: float  # if its kind describes a moment
    seeded: float  # if it was read from the project's files
    extracted: float  # if a program found it in a session
    usual_score: float
    usual_spread: float


@frozen
class RequestModel:
    """The coefficients of a logistic regression: whether anything that is known helps with a request at all."""

    bias: float
    likeliest: float  # × the log-odds of the hit that is most likely to be useful
    cosine: float  # × the cosine of the hit that is nearest in meaning, or of what it is needed for
    words: float  # × the logarithm of 1 + the best BM25 score
    when_words: float  # × the same of the situations in which hits are needed
    needs_no_memory: float  # if the request needs nothing that a project remembers (`search/requests.py`)


@frozen
class UsefulnessModels:
    """Two questions: whether anything that is known helps with a request at all, and how likely each hit is to."""

    known: RequestModel
    useful: UsefulnessModel


# Fitted by `python -m bench.delivery.fit` on the nineteen projects of bench/data/delivery that are for development: 1,485 prompts, asked three times
# (what all memories say of when they are needed, what those say that an agent recorded, nothing), the 40 best hits of each without the acceptable
# ones, regularised (C = 0.3). Fitted on eighteen of them in turn and measured on the other, .74 of what is useful is among the five best, and .67
# where nothing says when it is needed. Proposals are not among the hits: `seeded` is older. docs/benchmarks.md lists the features that were tried
# and not used. `python -m bench delivery --refit` compares the probabilities with what was used in your own project.
USEFUL = UsefulnessModels(
    known=RequestModel(
        bias=-5.67, likeliest=0.46, cosine=8.24, words=1.29, when_words=-0.12, needs_no_memory=-3.22
    ),
    useful=UsefulnessModel(
        bias=-9.28,
        words=0.39,
        above=0.69,
        share_of_best=3.32,
        supported=3.06,
        area=0.90,
        when_meaning=1.53,
        when_words=0.36,
        advises=0.85,
        kind_weight=-0.36,
        transient=-1.10,
        seeded=-1.47,
        extracted=-0.30,
        usual_score=0.33,
        usual_spread=0.11,
    ),
)
# Without vectors. The first bias is moved from -2.74, so that the same floors are as silent and as precise.
USEFUL_BY_WORDS = UsefulnessModels(
    known=RequestModel(
        bias=-2.87, likeliest=0.54, cosine=0.0, words=1.55, when_words=0.13, needs_no_memory=-3.32
    ),
    useful=UsefulnessModel(
        bias=-9.83,
        words=1.26,
        above=0.41,
        share_of_best=2.49,
        supported=5.36,
        area=0.86,
        when_meaning=0.0,
        when_words=0.79,
        advises=0.62,
        kind_weight=-0.12,
        transient=-0.26,
        seeded=-2.01,
        extracted=-0.36,
        usual_score=0.126,
        usual_spread=0.058,
    ),
)
# A tag, file or folder that more than this share of the hits have is no area: it says nothing about the request.
WIDEST_AREA = 0.5
AREA_BEST = 2  # other hits of an area that count
WEAKER_HITS = slice(3, 25)  # hits, best first, that the others have to stand out from
# A search that finds fewer hits searches a small store, which has no background to stand out from and cannot tell rare words
# from common ones. A memory is shown there too if it has a good score, near the best, or the query has half of its words.
FEW_HITS = 10
SMALL_STORE_SCORE = 0.5
SMALL_STORE_SHARE = 0.75  # of the best score
COVERED_SHARE = 0.5  # of its distinctive words, and
FEWEST_COVERED = 2  # of them at least
BACKGROUND_WEIGHT = 5.0  # hits that the usual score counts for, where a search finds few
LEAST_SPREAD = 0.05  # is added to the spread
# Chosen on the nineteen projects, each by a model that was fitted without it, over all three sorts of store: more than half of what is shown is
# useful, and nine of ten requests about which nothing is known are met with silence.
KNOWN_FLOOR = 0.8  # something is shown if it is as likely as this that anything known helps:
USEFUL_FLOOR = 0.12  # the hits that are as likely as this to be useful
# A memory is likelier to be useful to an agent that opens one of its files. On the ten projects whose tasks say what is opened, these floors show .54 of
# what is useful instead of .42, half of it rightly, and are silent for .83 instead of .89 (docs/benchmarks.md, Delivery).
OPENED_KNOWN_FLOOR = 0.6
OPENED_FLOOR = 0.05

DIVERSITY_SHARE = 0.3  # of a hit's value that depends on how unlike the hits already chosen it is

"""All weights, floors and limits of `relevant`, each with its scale. docs/relevant.md says how they were fitted."""

# Scale: a part of a file's score is between 0 and 1 before its weight. A score is the sum of weighted parts.
WEIGHTS = {
    "topic": 0.26,  # how much the file is about it: text, definitions and path together
    "words": 0.26,  # how much of the question is in its text
    "folders": 0.16,  # how much of the question is in its path
    "history": 0.26,  # similar commits and tasks changed it
    "commit": 0.6,  # a commit that the question refers to changed it
    "pointed": 0.35,  # a link leads to it
    "path": 0.22,  # its path is in the question
    "frame": 0.1,  # it is in a traceback
    "module": 0.03,  # it is named as a module
    "member": 0.1,  # something in it is named as `Class.method` or `module.name`
    "name": 0.08,  # something in it is named
    "linked": 0.1,  # the best files need it
    # These count only for the best files so far, whose text is read:
    "passage": 0.24,  # how much of the question one function of it answers
    "called": 0.1,  # the best of these functions need it
    "beside": 0.2,  # the best of these files are in its folder
}

# Scale: factors of a part, from 0 to 1.
ASIDE_SHARE = 0.1  # for tests, documents and configuration
WANTED_SHARE = 0.6  # for the same if the first line of the question asks for them
FOREIGN_SHARE = (
    0.05  # for copies of other projects and generated files, whose path the question does not have
)
NAMED_SHARE = 0.5  # added to a symbol that the question names, before dividing by 1 + NAMED_SHARE

# Scale: a share of the question, from 0 to 1.
FULL_PATH = 0.08  # what the best path must have of it, relative to the best text, to get the full weight
TITLE_SHARE = 0.2  # what its first line adds, however long the rest is
ALIKE = 0.25  # what a past task must have in common with it to count: there may be few tasks to choose from

# Scale: counts.
NAMED_OFTEN = 2.0  # mentions; more say no more
BEST_FILES = 5  # whose needs and folders count
FEW_LINKS = 3.0  # a file with fewer links passes on less
LIKELY_FILES = 60  # that may be raised for the folder they are in
CALLING_FUNCTIONS = 15  # the best ones, whose needs count
FILES_READ = 20  # the best files, whose text is read
FILES_TRIED = 80  # the best files, of which the foreign ones are not counted among those
TELLING_TERMS = 100  # terms of a question that count, so that its length matters little
FILES_SHOWN = 5  # of which symbols and snippets are returned
SNIPPETS_PER_FILE = 3
SYMBOLS_PER_FILE = 3  # that are named where files are shown to an agent
TESTS_PER_FILE = 2
TESTS_READ = 50  # the likeliest, whose calls are looked at: half of a large project's tests may use a file
SHORTEST_SNIPPET = 4  # lines: one that is cut to fewer says nothing
LONGEST_PASSAGE = 40  # lines
SIMILAR_COMMITS = 60  # the most similar ones; the rest are similar by chance

# Scale: half-saturation of BM25, in weighted occurrences of a term for a text of average length.
TOPIC_SATURATION = 16.0
WORDS_SATURATION = 1.2
FOLDERS_SATURATION = 10.0
PASSAGE_SATURATION = 4.0
HISTORY_SATURATION = 1.2

# Scale: what one occurrence of a term counts in a field; one in the text counts 1.
DEFINED_NAME = 4.0
PATH_NAME = 25.0

# Scale: from 0 (the length of a text does not matter) to 1 (only its share of the text counts).
LENGTH_PENALTY = 0.5
MESSAGE_LENGTH_PENALTY = 0.75

# Scale: exponents.
SIMILARITY_POWER = 3  # one very similar commit is worth several that are a little similar
SPREAD_POWER = 0.25  # of the number of files that a commit's vote is divided among
LENGTH_POWER = 0.1  # of a file's length, by which it is read later

# Scale: years, and a share of the newest commit's weight.
HALF_LIFE_YEARS = 2.0  # until half of what a commit loses with age is lost
OLDEST_SHARE = 0.3

# Scale: log-odds that a right file is among the first FILES_SHOWN (docs/relevant.md says on what they were fitted).
ODDS = {
    "any": -4.59,  # for every text
    "words": 4.01,  # × log(1 + terms of the text that the best file has)
    "commits": 2.59,  # × log(1 + terms that one commit or task that changed it has)
    "no_history": 0.8,  # where neither is known
    "named": 5.01,  # × the surest mention, from 0 to 1
}

# Commits and tasks from which on it counts in full that none of them fits; the odds were fitted with 100 and more, and with none.
TELLING_PAST = 30

# Scale: a probability.
WORTH_SHOWING = 0.38  # below it no file is shown to an agent

# Scale: a share of the best file's score.
CLOSE_TO_BEST = 0.5  # below it a file is not shown: the better ones are probably enough

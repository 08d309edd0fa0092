import apsw
import pytest

from recollect.text.stem import stem

# Porter's own examples, rule by rule.
EXAMPLES = """caresses:caress ponies:poni ties:ti cats:cat feed:feed agreed:agre plastered:plaster bled:bled motoring:motor
sing:sing conflated:conflat troubled:troubl sized:size hopping:hop tanned:tan falling:fall hissing:hiss fizzed:fizz
failing:fail filing:file happy:happi sky:sky relational:relat conditional:condit rational:ration valenci:valenc
digitizer:digit conformabli:conform radicalli:radic differentli:differ vileli:vile analogousli:analog
vietnamization:vietnam predication:predic operator:oper feudalism:feudal decisiveness:decis hopefulness:hope
callousness:callous formaliti:formal sensitiviti:sensit sensibiliti:sensibl triplicate:triplic formative:form
formalize:formal electriciti:electr electrical:electr hopeful:hope goodness:good revival:reviv allowance:allow
inference:infer airliner:airlin gyroscopic:gyroscop adjustable:adjust defensible:defens irritant:irrit
replacement:replac adjustment:adjust dependent:depend adoption:adopt communism:commun activate:activ angulariti:angular
homologous:homolog effective:effect bowdlerize:bowdler probate:probat rate:rate cease:ceas controll:control roll:roll"""


@pytest.mark.parametrize("pair", EXAMPLES.split())
def test_a_word_is_stemmed_as_porter_does(pair: str) -> None:
    word, expected = pair.split(":")

    assert stem(word) == expected


def test_forms_of_a_word_become_one_term() -> None:
    assert {stem(word) for word in ("migrate", "migrates", "migrated", "migrating", "migrations")} == {
        "migrat"
    }


@pytest.mark.parametrize("word", ["", "a", "is", "2023", "naïve", "v2", "日本"])
def test_what_is_short_or_no_english_word_stays_as_it_is(word: str) -> None:
    assert stem(word) == word


def test_the_stems_are_those_of_sqlite() -> None:
    words = sorted(
        {
            f"{root}{ending}"
            for root in "auth cach connect control depend generaliz hop migrat index play possib queri resolv synch test".split()
            for ending in "|s|ed|ing|er|ers|ation|ations|able|ibly|ly|ment|ness|ful|ively|ational|ology|y|ies".split(
                "|"
            )
        }
    )
    database = apsw.Connection(":memory:")
    database.execute(
        "CREATE VIRTUAL TABLE text USING fts5(word, tokenize='porter');"
        "CREATE VIRTUAL TABLE term USING fts5vocab(text, instance)"
    )
    database.executemany("INSERT INTO text(rowid, word) VALUES (?, ?)", enumerate(words))

    theirs = dict(database.execute("SELECT doc, term FROM term"))

    assert {word: stem(word) for word in words} == {word: theirs[i] for i, word in enumerate(words)}

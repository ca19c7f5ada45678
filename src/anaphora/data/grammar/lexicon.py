"""The words of the grammar: English forms, French forms, gender, and what goes sensibly with what.

Every entry has one French reading, so that the translation is a function of the English sentence: no "you" (tu or
vous), no "they" (ils or elles), no verb whose English past looks like its present. Words are matched through tags:
a verb takes, and an adjective fits, the nouns that share a tag with it.
"""

from typing import Literal

from anaphora.data.grammar.entries import Adjective, Determiner, Expression, Gender, Name, Noun, Pronoun, Tense

ASPIRATED = frozenset({"hibou", "hiboux"})
"""French words whose h forbids elision; every other initial h is mute."""


def _noun(english: str, french: str, gender: Gender, tags: str, plural: str = "", pluriel: str = "") -> Noun:
    return Noun(english, plural or english + "s", french, pluriel or french + "s", gender, frozenset(tags.split()))


def _adjective(
    english: str,
    masculine: str,
    feminine: str,
    rank: int,
    tags: str,
    *,
    liaison: str = "",
    plural: str = "",
    before: bool = False,
    predicate: bool = True,
    graded: bool = True,
) -> Adjective:
    plural = plural or (masculine if masculine[-1] in "sx" else masculine + "s")
    return Adjective(
        english,
        masculine,
        feminine,
        plural,
        feminine + "s",
        liaison or masculine,
        before=before,
        rank=rank,
        tags=frozenset(tags.split()),
        predicate=predicate,
        graded=graded,
    )


def _determiner(
    english: str,
    forms: str,
    kind: Literal["definite", "indefinite", "possessive", "number", "quantity"],
) -> Determiner:
    """Masculine, feminine, and the two before a vowel; one form serves for all, two serve for both uses."""
    given = forms.split("/")
    masculine, feminine, masculine_vowel, feminine_vowel = given * (4 // len(given))
    return Determiner(english, masculine, feminine, masculine_vowel, feminine_vowel, kind)


def _expression(english: str, french: str) -> Expression:
    return Expression(tuple(english.split()), tuple(french.split()))


NOUNS = (
    _noun("man", "homme", "m", "person adult", "men"),
    _noun("woman", "femme", "f", "person adult", "women"),
    _noun("doctor", "médecin", "m", "person adult trade"),
    _noun("baker", "boulanger", "m", "person adult trade"),
    _noun("actress", "actrice", "f", "person adult trade", "actresses"),
    _noun("queen", "reine", "f", "person adult"),
    _noun("boy", "garçon", "m", "person child"),
    _noun("girl", "fille", "f", "person child"),
    _noun("child", "enfant", "m", "person child", "children"),
    _noun("mother", "mère", "f", "person kin single owned"),
    _noun("father", "père", "m", "person kin single owned"),
    _noun("brother", "frère", "m", "person kin owned"),
    _noun("sister", "sœur", "f", "person kin owned"),
    _noun("uncle", "oncle", "m", "person kin owned"),
    _noun("cat", "chat", "m", "animal owned"),
    _noun("dog", "chien", "m", "animal large owned"),
    _noun("horse", "cheval", "m", "animal large owned", pluriel="chevaux"),
    _noun("bird", "oiseau", "m", "animal", pluriel="oiseaux"),
    _noun("owl", "hibou", "m", "animal", pluriel="hiboux"),
    _noun("mouse", "souris", "f", "animal", "mice", "souris"),
    _noun("apple", "pomme", "f", "food"),
    _noun("orange", "orange", "f", "food"),
    _noun("cake", "gâteau", "m", "food", pluriel="gâteaux"),
    _noun("egg", "œuf", "m", "food"),
    _noun("book", "livre", "m", "text printed goods opened owned"),
    _noun("newspaper", "journal", "m", "text printed goods opened", pluriel="journaux"),
    _noun("letter", "lettre", "f", "text written opened owned"),
    _noun("story", "histoire", "f", "text written told", "stories"),
    _noun("hat", "chapeau", "m", "clothes goods owned", pluriel="chapeaux"),
    _noun("coat", "manteau", "m", "clothes goods owned", pluriel="manteaux"),
    _noun("dress", "robe", "f", "clothes goods owned", "dresses"),
    _noun("scarf", "écharpe", "f", "clothes goods owned", "scarves"),
    _noun("car", "voiture", "f", "thing vehicle goods owned"),
    _noun("bicycle", "vélo", "m", "thing vehicle goods owned"),
    _noun("bag", "sac", "m", "thing goods opened owned"),
    _noun("umbrella", "parapluie", "m", "thing goods opened owned"),
    _noun("key", "clé", "f", "thing owned"),
    _noun("chair", "chaise", "f", "thing goods"),
    _noun("house", "maison", "f", "place owned"),
    _noun("garden", "jardin", "m", "place owned"),
    _noun("school", "école", "f", "place public owned"),
    _noun("hotel", "hôtel", "m", "place public"),
    _noun("church", "église", "f", "place public", "churches"),
    _noun("museum", "musée", "m", "place public"),
    _noun("station", "gare", "f", "place public"),
)

NAMES = (
    Name("Paul", "m"),
    Name("Louis", "m"),
    Name("Arthur", "m"),
    Name("Marie", "f"),
    Name("Claire", "f"),
    Name("Alice", "f"),
)

# The gender of a speaker cannot be told from English: the rules keep "I" and "we" away from agreement in gender.
I = Pronoun("I", "je", 0, "m")  # noqa: E741 - the word itself
HE = Pronoun("he", "il", 1, "m")
SHE = Pronoun("she", "elle", 1, "f")
WE = Pronoun("we", "nous", 2, "m")

ADJECTIVES = (
    _adjective("little", "petit", "petite", 1, "child animal food clothes thing place", before=True, predicate=False),
    _adjective("big", "grand", "grande", 1, "large clothes thing place", before=True),
    _adjective(
        "beautiful", "beau", "belle", 0, "animal clothes thing place", before=True, liaison="bel", plural="beaux"
    ),
    _adjective("old", "vieux", "vieille", 2, "adult kin animal clothes thing text place", before=True, liaison="vieil"),
    _adjective("young", "jeune", "jeune", 2, "adult kin animal", before=True),
    _adjective(
        "new",
        "nouveau",
        "nouvelle",
        2,
        "trade clothes thing text place",
        before=True,
        liaison="nouvel",
        plural="nouveaux",
    ),
    _adjective("good", "bon", "bonne", 0, "trade food printed told", before=True),
    _adjective("red", "rouge", "rouge", 3, "clothes thing", graded=False),
    _adjective("green", "vert", "verte", 3, "clothes thing", graded=False),
    _adjective("blue", "bleu", "bleue", 3, "clothes thing", graded=False),
    _adjective("white", "blanc", "blanche", 3, "animal clothes thing", graded=False),
    _adjective("black", "noir", "noire", 3, "animal clothes thing", graded=False),
    _adjective("Italian", "italien", "italienne", 4, "adult clothes vehicle printed", graded=False),
    _adjective("French", "français", "française", 4, "adult clothes vehicle printed", graded=False),
    _adjective("happy", "heureux", "heureuse", 0, "person"),
    _adjective("sad", "triste", "triste", 0, "person told"),
    _adjective("sick", "malade", "malade", 0, "person animal"),
    _adjective("intelligent", "intelligent", "intelligente", 0, "person animal"),
    _adjective("famous", "célèbre", "célèbre", 0, "adult public printed"),
    _adjective("interesting", "intéressant", "intéressante", 0, "text"),
    _adjective("expensive", "cher", "chère", 0, "clothes vehicle food"),
    _adjective("fresh", "frais", "fraîche", 0, "food"),
)

THE = _determiner("the", "le/la", "definite")
THE_PLURAL = _determiner("the", "les", "definite")
A = _determiner("a", "un/une", "indefinite")
NOT_A = _determiner("a", "de", "indefinite")
"""What French makes of "a" in the object of a negated verb: il n'a pas acheté de voiture."""

_POSSESSIVES = (("my", "mon/ma/mon/mon", "mes"), ("his", "son/sa/son/son", "ses"), ("her", "son/sa/son/son", "ses"))
POSSESSIVES = (
    *(_determiner(english, forms, "possessive") for english, forms, _ in _POSSESSIVES),
    _determiner("our", "notre", "possessive"),
)
POSSESSIVES_PLURAL = (
    *(_determiner(english, forms, "possessive") for english, _, forms in _POSSESSIVES),
    _determiner("our", "nos", "possessive"),
)
THIS = _determiner("this", "ce/cette/cet/cette", "definite")
THESE = _determiner("these", "ces", "definite")
NUMBERS = tuple(
    _determiner(english, french, "number")
    for english, french in (
        ("two", "deux"),
        ("three", "trois"),
        ("four", "quatre"),
        ("five", "cinq"),
        ("six", "six"),
        ("ten", "dix"),
    )
)
QUANTITIES = (_determiner("some", "quelques", "quantity"), _determiner("many", "beaucoup de", "quantity"))

FREQUENCIES = (_expression("often", "souvent"), _expression("always", "toujours"))
TIMES: dict[Tense, tuple[Expression, ...]] = {
    "present": (_expression("every day", "chaque jour"),),
    "past": (_expression("yesterday", "hier"), _expression("this morning", "ce matin")),
    "going": (_expression("tomorrow", "demain"), _expression("this evening", "ce soir")),
    "modal": (_expression("tomorrow", "demain"),),
}
PLACES = (
    _expression("in", "dans"),
    _expression("behind", "derrière"),
    _expression("in front of", "devant"),
    _expression("near", "près de"),
)
TO = _expression("to", "à")
WITH = _expression("with", "avec")

"""The verbs of the grammar by the frame they stand in, each with its English and French forms."""

from anaphora.data.grammar.entries import Tense, Verb

ALL_TENSES: tuple[Tense, ...] = ("present", "past", "going", "modal")
NO_PAST: tuple[Tense, ...] = ("present", "going", "modal")
NOT_NOW: tuple[Tense, ...] = ("past", "going", "modal")
PRESENT: tuple[Tense, ...] = ("present",)


def _verb(
    english: str,
    french: str,
    takes: str = "",
    *,
    agents: str = "person",
    particle: str = "",
    preposition: str = "",
    with_etre: bool = False,
    together: bool = False,
    tenses: tuple[Tense, ...] = ALL_TENSES,
) -> Verb:
    """``english``: base, third person, past; ``french``: infinitive, forms for je, il, nous, ils, participle."""
    base, third, past = english.split()
    infinitive, je, il, nous, ils, participle = french.split()
    return Verb(
        base,
        third,
        past,
        infinitive,
        (je, il, nous, ils),
        participle,
        agents=frozenset(agents.split()),
        takes=frozenset(takes.split()),
        particle=particle,
        preposition=preposition,
        with_etre=with_etre,
        together=together,
        tenses=tenses,
    )


_SEE = "voir vois voit voyons voient vu"
_SEEK = "chercher cherche cherche cherchons cherchent cherché"
_READ = "lire lis lit lisons lisent lu"
_EAT = "manger mange mange mangeons mangent mangé"
_LOVE = "aimer aime aime aimons aiment aimé"
_TALK = "parler parle parle parlons parlent parlé"
_GO = "aller vais va allons vont allé"
_ARRIVE = "arriver arrive arrive arrivons arrivent arrivé"
_RETURN = "revenir reviens revient revenons reviennent revenu"
_LIVING = "person animal"
_SHOWN = "animal clothes thing place"

TRANSITIVE = (
    _verb("see sees saw", _SEE, "person animal clothes thing place", agents=_LIVING),
    _verb("look looks looked", _SEEK, "person animal text clothes thing public", particle="for"),
    _verb(
        "find finds found",
        "trouver trouve trouve trouvons trouvent trouvé",
        "animal text clothes thing food",
        tenses=NOT_NOW,
    ),
    _verb("buy buys bought", "acheter achète achète achetons achètent acheté", "goods food"),
    # The English past of "read" is spelt like the present.
    _verb("read reads read", _READ, "text", tenses=NO_PAST),
    _verb("write writes wrote", "écrire écris écrit écrivons écrivent écrit", "written"),
    _verb("eat eats ate", _EAT, "food", agents=_LIVING),
    _verb("open opens opened", "ouvrir ouvre ouvre ouvrons ouvrent ouvert", "opened"),
    # The past of a state is an imparfait, that of an event a passé composé: English does not tell which is meant.
    _verb("love loves loved", _LOVE, "person animal", tenses=PRESENT),
    _verb("visit visits visited", "visiter visite visite visitons visitent visité", "place"),
    _verb("wait waits waited", "attendre attends attend attendons attendent attendu", "person", particle="for"),
    _verb(
        "forget forgets forgot", "oublier oublie oublie oublions oublient oublié", "text clothes thing", tenses=NOT_NOW
    ),
)

DITRANSITIVE = (
    _verb("give gives gave", "donner donne donne donnons donnent donné", "goods food"),
    _verb("show shows showed", "montrer montre montre montrons montrent montré", _SHOWN),
    _verb("send sends sent", "envoyer envoie envoie envoyons envoient envoyé", "printed written"),
)

INDIRECT = (
    _verb("answer answers answered", "répondre réponds répond répondons répondent répondu", "person", preposition="à"),
    _verb("talk talks talked", _TALK, "person animal", particle="to", preposition="à"),
    _verb("talk talks talked", _TALK, "person animal text public", particle="about", preposition="de"),
)

INTRANSITIVE = (
    _verb("sleep sleeps slept", "dormir dors dort dormons dorment dormi", agents=_LIVING),
    _verb("sing sings sang", "chanter chante chante chantons chantent chanté", together=True),
    _verb("work works worked", "travailler travaille travaille travaillons travaillent travaillé", together=True),
)

MOTION = (
    _verb("go goes went", _GO, "place", particle="to", preposition="à", with_etre=True, together=True),
    _verb("arrive arrives arrived", _ARRIVE, "public", particle="at", preposition="à", with_etre=True, together=True),
    _verb("return returns returned", _RETURN, "place", particle="from", preposition="de", with_etre=True),
)

DEPARTURE = (_verb("leave leaves left", "partir pars part partons partent parti", with_etre=True, together=True),)

BE = _verb("be is was", "être suis est sommes sont été", tenses=("present", "past"))
BE_PAST = ("étais", "était", "étions", "étaient")
HAVE_PRESENT = ("ai", "a", "avons", "ont")
GO_PRESENT = MOTION[0].present

WANT = _verb("want wants wanted", "vouloir veux veut voulons veulent voulu", tenses=PRESENT)
CAN = _verb("can can could", "pouvoir peux peut pouvons peuvent pu", tenses=PRESENT)
MUST = _verb("must must must", "devoir dois doit devons doivent dû", tenses=PRESENT)
MODALS = (WANT, CAN, MUST)

OPINIONS = (
    _verb("think thinks thought", "penser pense pense pensons pensent pensé", tenses=PRESENT),
    _verb("say says said", "dire dis dit disons disent dit", tenses=PRESENT),
)

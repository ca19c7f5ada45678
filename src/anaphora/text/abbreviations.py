"""Words that end in a full stop without ending a sentence, by language: lower case, their last full stop left out."""

from collections.abc import Mapping

_BY_LANGUAGE = """
cs: apod bc cca doc dr gen ing judr kpt mgr mudr např obr phdr plk prof resp str sv tj tzn tzv
da: bl.a ca dr dvs ekskl f.eks fr hr inkl jf kl mht pga prof st vedr
de: allg bspw bzw ca d.h dipl dr evtl fr geb gest ggf hr hrsg i.d.r inkl jh med mio mrd nat o.ä phil prof rer s.o
    s.u sog st str u.a v.a verf vgl z.b z.t z.zt
en: al approx assn ave blvd ca capt cf cmdr col dept dr e.g eq gen gov hon i.e lt maj messrs mr mrs ms mt pres prof
    pvt rd rep rev sen sgt sr st supt univ v viz vs
es: aprox cf d dr dra dña ed ej gral ing lic p.ej prof sr sra sres srta ud uds vd vds
fi: esim ks mm ns prof puh tri vrt
fr: apr av bd c.-à-d cf dr env ex m me mlle mlles mm mme mmes p.ex pr prof st ste éd
hr: br dr gosp gđa ing mr npr prof str sv tj tzv
hu: dr id ifj ill kb old pl prof stb sz u özv
it: arch avv ca cfr dott dott.ssa ecc.to es ing on p.es prof prof.ssa rev sig sig.ra sigg
nb: bl.a ca dr dvs ekskl f.eks fr hr inkl jf kl pga prof st
nl: art bijv bv ca d.w.z dhr dr drs ds ing ir jl m.a.w mevr mr mw nl o.a prof resp st t.w vgl
pl: al br dr gen hab inż kpt ks lek m.in mgr np ok p pl por pp prof płk tj tzn tzw ul ww św
pt: aprox av cf dr dra eng ex exma exmo p.ex prof profa sr sra srs
ro: art cca dl dna dr ex fig ing nr pag prof sf str
ru: акад г гг д кв млн млрд напр о пл пр проф рис руб св стр т.д т.е т.к т.н т.п тыс ул
sk: bc cca doc dr ing mgr napr obr prof resp str sv tj tzv
sl: dr inž mag npr oz prof str sv t.i tj št
sv: bl.a ca d.v.s dr dvs exkl fr hr inkl jfr kl m.a.o pga prof s.k st t.ex
tr: bkz cad doç dr mah prof sn sok vb vs yy örn
uk: акад буд вул грн кв м млн млрд напр о пл пр проф рис св стор т.е т.зв тис
"""


def _read(table: str) -> Mapping[str, frozenset[str]]:
    languages: dict[str, frozenset[str]] = {}
    for entry in table.replace("\n    ", " ").strip().split("\n"):
        language, _, words = entry.partition(": ")
        languages[language] = frozenset(words.split())
    return languages


BEFORE_NAMES = _read(_BY_LANGUAGE)
"""Such as are followed by what they belong to, so that no sentence ends in them."""

BEFORE_NUMBERS = frozenset(
    "abb abs art bd blz cap ch chap fig kap n no nos nr nro núm núms p pag pagg pp pág págs rys s sec str vol".split()  # noqa: SIM905 - a list of words is easier to read and to add to
)
"""Such as end no sentence when a number follows, in any language."""

ORDINALS = frozenset("bs cs da de et fi fo hr hu is lv nb nn no pl sk sl sr tr".split())  # noqa: SIM905
"""Languages that write "third" as "3.": a short number with a full stop ends no sentence in them."""

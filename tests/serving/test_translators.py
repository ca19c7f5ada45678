"""Language codes as clients write them, detection among several, the glossary and the shortlist of a run."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from py3langid import modelio

from anaphora.errors import ConfigError, MissingExtraError
from anaphora.formats.glossary import GlossaryEntry
from anaphora.prediction.candidates import Shortlist
from anaphora.prediction.glossary import Glossary
from anaphora.run import shortlists
from anaphora.run.shortlists import TokenShortlist
from anaphora.serving import detection
from anaphora.serving.detection import Detector
from anaphora.serving.translators import Translators, known_as, name_of
from anaphora.tasks.translation.shortlist import digest_of
from tests.conftest import Trained
from tests.serving.conftest import RUN, Serve


@pytest.mark.parametrize(
    ("asked", "known", "found"),
    [
        ("en", ["en", "de"], "en"),
        ("DE", ["en", "de"], "de"),
        ("en_US", ["en"], "en"),
        ("zh", ["zh-Hans"], "zh-Hans"),
        ("zh-Hans", ["zh"], "zh"),
        ("zh_Hans", ["zh"], "zh"),
        ("pb", ["pt-BR", "pt"], "pt-BR"),
        ("pt-BR", ["pt"], "pt"),
        ("iw", ["he"], "he"),
        ("he", ["iw"], "iw"),
        ("pt", ["pt-BR"], "pt-BR"),
        ("zz", ["en"], None),
        ("", ["en"], None),
    ],
)
def test_a_code_means_the_nearest_language_there_is(asked: str, known: list[str], found: str | None) -> None:
    assert known_as(asked, known) == found


def test_languages_have_english_names_and_others_their_code() -> None:
    names = {"en": "English", "zh-Hans": "Chinese (simplified)", "de-AT": "German", "nah": "Nahuatl", "xyz": "xyz"}
    assert {code: name_of(code) for code in names} == names


def test_the_likeliest_language_comes_first_and_nothing_is_read_until_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    read, original = list[Path](), modelio.load_model
    monkeypatch.setattr(modelio, "load_model", lambda path: read.append(path) or original(path))
    detector = Detector(["en", "de", "fr", "nah"])
    assert not read
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(detector.detect, ["Der Hund läuft über die Straße."] * 4):
            assert found[0].language == "de"
            assert sum(one.confidence for one in found) == pytest.approx(100, abs=0.5)
    assert len(read) == 1
    assert detector.detect(" ")[0].confidence == 0
    assert Detector(["nah"]).detect("anything")[0]._asdict() == {"confidence": 100.0, "language": "nah"}


def test_a_choice_of_languages_needs_what_detects_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detection, "find_spec", lambda name: None)
    Detector(["en"])
    with pytest.raises(MissingExtraError, match=r"pip install 'anaphora\[serve\]'"):
        Detector(["en", "de"])


def test_a_glossary_is_of_one_run_which_can_write_its_terms(trained: Trained) -> None:
    run = trained("translator-of-words")
    known = Glossary([GlossaryEntry("terms.tsv:2", "cat", ("zzz", "chat"), ())])
    [served] = Translators.load([run], terms=known)
    assert served.options().terms is known
    with pytest.raises(ConfigError, match="one pair of languages"):
        Translators.load([run, run], terms=known)
    unknown = Glossary([GlossaryEntry("terms.tsv:3", "cat", ("zzz",), ())])
    with pytest.raises(ConfigError, match=r"terms\.tsv:3 needs 'zzz'"):
        Translators.load([run], terms=unknown)


def test_every_translation_is_of_the_shortlist_and_a_run_without_one_is_refused(serve: Serve, tmp_path: Path) -> None:
    run = shutil.copytree(RUN, tmp_path / "run")
    with pytest.raises(ConfigError, match="has no shortlist: make one with anaphora shortlist"):
        Translators.load([run], shortlist=True)
    [free] = Translators.load([run])
    source, target = free.predictor.source, free.predictor.target
    nothing = TokenShortlist(
        np.arange(target.symbols.size, dtype=np.int32),
        np.zeros(0, dtype=np.int32),
        np.zeros(source.symbols.size, dtype=np.int64),
    )
    shortlists.write(run, digest_of(source, target), nothing)
    [served] = Translators.load([run], shortlist=True)
    assert served.candidates == Shortlist()
    text = {"q": "The man sees.", "source": free.source, "target": free.target}
    few = served._replace(candidates=Shortlist(5, 0))
    found = serve([few]).post("/translate", json=text).json()["translatedText"]
    [expected] = few.predictor.translate_text([text["q"]], candidates=Shortlist(5, 0))
    [whole] = few.predictor.translate_text([text["q"]])
    assert found == expected.text != whole.text

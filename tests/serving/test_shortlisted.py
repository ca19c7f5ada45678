"""A server restricted to the shortlists of its runs."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from anaphora.errors import ConfigError
from anaphora.prediction.candidates import Shortlist
from anaphora.run import shortlists
from anaphora.run.shortlists import TokenShortlist
from anaphora.serving.translators import Translators
from anaphora.tasks.translation.shortlist import digest_of

from .conftest import RUN, Serve


def test_every_translation_is_of_the_shortlist_and_a_run_without_one_is_refused(serve: Serve, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(RUN, run)
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

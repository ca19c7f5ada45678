"""One translator for several languages: a tag decides which, and every verb knows its pair of languages."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

import anaphora
from anaphora.cli.app import main
from anaphora.errors import AnaphoraError, ConfigError, DataError, RunError
from anaphora.events import Event, Note, Skipped
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.languages import choose_direction
from anaphora.memory import Memory
from anaphora.prediction.options import SearchOptions
from anaphora.run import Run
from anaphora.serving.translators import Translators
from anaphora.tasks.evaluation import Request
from anaphora.tasks.registry import task_of
from anaphora.tasks.runs import export_bundle
from anaphora.tasks.translation.predictor import TranslationPredictor
from tests.experiment.runs import assert_resumes

TOML = """
task = "translate"
text = { tokenizer = "word", sentences = "whole" }
embedding.size = 16
encoder.size = 16
decoder.size = 16
evaluation.length_model = true
[training]
batch_tokens = 60
epochs = 8
optimizer = { kind = "adam", learning_rate = 0.02 }
"""
WORDS = ("sun", "moon", "rain", "wind")
PAIRS = [("xx", "yy"), ("xx", "zz"), ("yy", "xx")]


def in_language(words: Sequence[str], language: str) -> str:
    return " ".join(word if language == "xx" else f"{language}{word}" for word in words)


def write(folder: Path, source: str, target: str, count: int) -> Path:
    """Pairs in two files a split; the tests have a word of each language."""
    draw = Random(f"{source} {target}")
    folder.mkdir(parents=True)
    for split, lines in (("train", count), ("val", 6), ("test", 4)):
        drawn = [draw.choices(WORDS, k=draw.randint(1, 3)) for _ in range(lines)]
        for side in (source, target):
            (folder / f"{split}.{side}").write_text("".join(f"{in_language(one, side)}\n" for one in drawn))
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("languages")
    both = write(folder / "yy", "xx", "yy", 80)
    return [Path(f"xx-yy,yy-xx={both}"), Path(f"xx-zz={write(folder / 'zz', 'xx', 'zz', 30)}")]


@pytest.fixture(scope="module")
def run(data: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "run"
    train(read_experiment(TOML, "three.toml", data=data), folder)
    return folder


def test_the_tag_decides_the_language(run: Path, tmp_path: Path) -> None:
    export_bundle(run, tmp_path / "run.anaphora")
    for path in (run, tmp_path / "run.anaphora"):
        translator = anaphora.load(path, kind=TranslationPredictor)
        for target in ("yy", "zz"):
            [found] = translator.translate(["sun rain"], to=target)
            assert found.text == in_language(["sun", "rain"], target)
            assert anaphora.load(path, to=target).translate(["sun rain"])[0] == found
        assert translator.translate(["yywind"], to="xx")[0].text == "wind"
        # a tag is no text, and no part of what is aligned
        [found] = translator.translate(["<2yy> sun moon"], SearchOptions(attention=True), to="zz")
        assert len(found.source_pieces) == 1 + len(translator.source.encode("<2yy> sun moon"))
        assert translator.with_languages("zz").align(["sun moon"], ["zzsun zzmoon"]) == [{(0, 0), (1, 1)}]
        pair = ["sun moon"], ["zzsun zzmoon"]
        right, wrong = (translator.with_languages(to).score_pairs(*pair)[0].score for to in ("zz", "yy"))
        assert right > wrong
        with pytest.raises(ConfigError, match=r"translates xx-yy, yy-xx, xx-zz: name the language to translate into"):
            translator.translate(["sun"])
        with pytest.raises(ConfigError, match=r"no translation \*-qq here: name one of xx-yy, yy-xx, xx-zz"):
            translator.translate(["sun"], to="qq")


@pytest.mark.parametrize("code", ["pt_BR", "pt-BR", "pt-br", "PT_BR"])
def test_case_and_hyphens_of_a_language_make_no_difference(code: str) -> None:
    known = [("en", "pt_BR"), ("en", "pt"), ("sr-Latn", "pt")]
    assert choose_direction(known, code) == ("en", "pt_BR")
    assert choose_direction(known, source="sr_latn") == ("sr-Latn", "pt")


def test_each_pair_has_its_own_lengths(run: Path) -> None:
    translator = anaphora.load(run, kind=TranslationPredictor)
    targets = ("yy", "xx", "zz")
    models = [model for target in targets for model in translator.with_languages(target).length_models]
    assert models == list(translator.length_models) and len(models) == 3 and len({one.ratio for one in models}) > 1


def test_validation_decides_by_the_mean_over_pairs(run: Path) -> None:
    open_run = Run.open(run)
    last = open_run.metrics.validation(open_run.checkpoints()[-1])
    losses = [last[f"loss {source}-{target}"] for source, target in PAIRS]
    assert last["loss"] == pytest.approx(sum(losses) / 3)


def test_every_pair_is_evaluated_by_itself(run: Path, data: list[Path]) -> None:
    experiment = read_experiment(TOML, "three.toml", data=data)
    [scored] = task_of(experiment).evaluate([run], Request(keep=False), lambda event: None).scored
    assert set(scored.results) == {"xx-yy test", "yy-xx test", "xx-zz test"}
    assert scored.means["BLEU"] == pytest.approx(sum(one.scores["raw"][0].value for one in scored.results.values()) / 3)
    one = Request(keep=False, to="zz")
    [scored] = task_of(experiment).evaluate([run], one, lambda event: None).scored
    assert list(scored.results) == ["xx-zz test"] and not scored.means


def test_one_pair_of_two_runs_is_compared(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = shutil.copytree(run, tmp_path / "other")
    assert main(["compare", str(run), str(other), "--to", "zz", "--json"]) == 0
    assert {row["text"] for row in json.loads(capsys.readouterr().out)["rows"]} == {"xx-zz test"}
    assert main(["compare", str(run), str(other), "--to", "qq"]) == 2


def test_a_document_needs_one_pair(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "yy.po").write_text('msgid ""\nmsgstr "Language: yy\\n"\n\nmsgid "sun"\nmsgstr ""\n')
    assert main(["translate", str(run), str(tmp_path / "yy.po")]) == 2
    assert "translates xx-yy, yy-xx, xx-zz: name the language" in capsys.readouterr().err
    assert main(["translate", str(run), str(tmp_path / "yy.po"), "--to", "yy"]) == 0
    assert 'msgstr "yysun"' in capsys.readouterr().out


def test_a_memory_that_is_missing_is_named_by_its_pair(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"memory of xx-yy: .* add FILE, for the same languages \(to, source\)"):
        Memory(tmp_path, pair="xx-yy")


def test_a_server_lists_every_pair_each_with_its_memory(run: Path) -> None:
    served = Translators.load([run], memory=True, learns=True)
    try:
        assert served.sources == ["xx", "yy"] and served.targets("xx") == ["yy", "zz"]
        assert served.find("xx", "zz").predictor.translate(["wind"])[0].text == "zzwind"
        memories = {one.memory.path.name for one in served if one.memory is not None}
        assert memories == {f"memory.{source}-{target}.sqlite" for source, target in PAIRS}
        with Memory(run, pair="xx-zz") as memory:
            assert len(memory) == 0
    finally:
        served.close()


def test_a_training_of_several_languages_is_resumed_with_the_same_bits(data: list[Path], tmp_path: Path) -> None:
    made = tmp_path / "made.tsv"
    made.write_text("".join(f"{5 * f'{word} '}\t{5 * f'yy{word} '}\n" for word in (*WORDS, *WORDS[:2])))
    settings = ["training.epochs=2", f'data.synthetic=["xx-yy={made}"]', "training.save_every=3"]
    whole = assert_resumes(read_experiment(TOML, "three.toml", settings, data=data), tmp_path, 4)
    assert Run.open(whole).tokenizers()["source"].tags == ("<2yy>", "<2xx>", "<2zz>", "<synthetic>")


def test_synthetic_pairs_are_filtered_and_their_number_is_told(data: list[Path], tmp_path: Path) -> None:
    folder = Path(str(data[1]).partition("=")[2])
    sides = ((folder / f"test.{side}").read_text().splitlines() for side in ("xx", "zz"))
    odd = [*map("\t".join, zip(*sides, strict=True)), "sun\tsun", "moon\tzzmoon " + "zzmoon " * 40]
    lines = [*odd, *(f"{n} moon\tzz{n} zzmoon" for n in "abcdefgh" * 5)]
    (tmp_path / "made.tsv").write_text("\n".join(lines) + "\n")
    settings = [f'data.synthetic=["{tmp_path}/made.tsv"]', "data.synthetic_ratio=0.5"]
    experiment, events = read_experiment(TOML, "x.toml", settings, data=[data[1]]), list[Event]()
    *_, made = task_of(experiment).job(experiment, events.append).splits.train.parts
    assert made.synthetic and [*made] == [(f"{n} moon", f"zz{n} zzmoon") for n in "abcdefgh"]
    assert sum(event.count for event in events if isinstance(event, Skipped)) == len(lines) - 8
    (tmp_path / "made.tsv").write_text("".join(f"q{n * 'a'} moon\tzzq{n * 'a'} zzmoon\n" for n in range(31)))
    events.clear()
    task_of(experiment).job(experiment, events.append)
    notes = [str(event) for event in events if isinstance(event, Note)]
    assert any("more synthetic pairs than real ones from xx to zz: 31 and 30" in note for note in notes)


def test_a_table_whose_first_line_names_languages_has_several_directions(tmp_path: Path) -> None:
    table, words = tmp_path / "table.tsv", [*WORDS, *"abcdefghijklmnopqrst"]
    table.write_text("xx\tyy\tzz\n" + "".join(f"{word}\tyy{word}\tzz{word}\n" for word in words))
    experiment = read_experiment(TOML, "x.toml", data=[Path(f"xx-zz,zz-yy={table}")])
    first, second = task_of(experiment).job(experiment, lambda event: None).splits.train.parts
    assert all(target == f"zz{source}" for source, target in first)
    assert all(target == source.replace("zz", "yy") for source, target in second)
    assert experiment.data.languages == {"source": "xx,zz", "target": "zz,yy"}


@pytest.mark.parametrize(
    ("files", "settings", "fault"),
    [
        (["xx-xx={0}"], [], "Both sides of --data xx-xx=.* are 'xx': name two languages"),
        (["xx-yy={0}", "{1}"], [], "names the languages of other files, but not of"),
        (["xx-yy={0}"], ["data.source=qq"], "names languages before its files .* leave source out"),
        (["xx-yy={0}"], ['data.synthetic=["xx-zz={0}"]'], "The data is in xx-yy: name one of them in front"),
        (["xx-yy={0}", "xx-zz={1}"], ['data.synthetic=["{0}"]'], "name one of them in front of the files of --synth"),
        (["xx-yy={0}"], ['data.synthetic=["xx-yy={0}.tsv"]'], "--synthetic should be .* no .*yy.tsv: check the path"),
        (["xx-yy={0}", "xx-zz={1}"], ["data.shuffle_window=5"], "shuffle_window is for real pairs in one direction"),
        (["xx-yy,yy-xx={2}"], [], "has one direction: call its columns yy and xx in a first line"),
        (["{1}"], ["data.source=xx,yy", "data.target=yy,xx,zz"], "names no pair of languages, .* --data xx-yy=.*/zz"),
        (["xx-yy={0}"], ["data.temperature=0"], "temperature should be at least 1"),
    ],
)
def test_what_is_wrong_with_languages_is_one_sentence(
    data: list[Path], tmp_path: Path, files: list[str], settings: list[str], fault: str
) -> None:
    plain = tmp_path / "plain.tsv"
    plain.write_text("sun\tyysun\nmoon\tyymoon\n")
    places = [*(str(path).partition("=")[2] for path in data), str(plain)]
    with pytest.raises((ConfigError, DataError), match=fault) as caught:
        given = [Path(file.format(*places)) for file in files]
        changes = [setting.format(*places) for setting in settings]
        experiment = read_experiment(TOML, "x.toml", changes, data=given)
        task_of(experiment).job(experiment, lambda event: None)
    assert "\n" not in str(caught.value)


def test_pairs_that_a_new_run_forgets_are_told_with_a_remedy_that_works(
    run: Path, data: list[Path], tmp_path: Path
) -> None:
    def warned(replay: float, *files: Path) -> str:
        settings, events = [f'start.run="{run}"', "training.epochs=1", f"start.replay={replay}"], list[Event]()
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        train(read_experiment(TOML, "x.toml", settings, data=files), folder, events.append)
        return "".join(event.text for event in events if isinstance(event, Note) and event.warning)

    assert "also translates xx-yy, yy-xx, but" in warned(0, data[1])
    with pytest.raises(ConfigError, match="cannot be replayed: leave --replay out, and give the data of all pairs"):
        warned(0.5, data[1])
    assert not warned(0, *data)


def test_a_vocabulary_without_a_tag_is_refused(run: Path, data: list[Path], tmp_path: Path) -> None:
    one = read_experiment(TOML, "x.toml", ["training.epochs=1"], data=[data[1]])
    train(one, tmp_path / "one")
    start = [f'start.run="{tmp_path / "one"}"']
    with pytest.raises(AnaphoraError, match=r"lacks <2\w\w>, which this data needs"):
        train(read_experiment(TOML, "x.toml", start, data=data), tmp_path / "two")
    assert not (tmp_path / "two" / "latest").exists()

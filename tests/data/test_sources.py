"""What ``--data`` means, and what is said when it means nothing."""

import gzip
from pathlib import Path

import pytest

from anaphora.data.finding import Names
from anaphora.data.sources import pair_corpus, text_splits, translation_splits
from anaphora.errors import DataError
from anaphora.events import Event, Note, Skipped


def put(path: Path, *lines: str) -> None:
    text = "".join(f"{line}\n" for line in lines).encode()
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def put_pairs(folder: Path, name: str, count: int, *, packed: bool = False) -> None:
    for side in ("en", "cs"):
        lines = [f"{side} {name} {number}" for number in range(count)]
        put(folder / f"{name}.{side}{'.gz' if packed else ''}", *lines)


class TestTranslation:
    @pytest.mark.parametrize(("name", "packed"), [("val", False), ("valid", True), ("dev", False)])
    def test_a_folder_gives_its_parts_by_any_name_of_validation(self, tmp_path: Path, name: str, packed: bool) -> None:
        for part, count in (("train", 5), (name, 3), ("test", 2), ("test_2016_flickr", 4)):
            put_pairs(tmp_path, part, count, packed=packed)
        events: list[Event] = []
        parts = translation_splits([tmp_path], "en", "cs", report=events.append)
        assert next(iter(parts.train)) == ("en train 0", "cs train 0")
        assert (parts.train.count, parts.valid.count) == (5, 3)
        assert {test: corpus.count for test, corpus in parts.tests.items()} == {"test": 2, "test_2016_flickr": 4}
        assert events == []

    @pytest.mark.parametrize(
        "names", [["train-00", "train-01"], ["train.9", "train.10"], ["train-1-of-2", "train-2-of-2"]]
    )
    def test_a_training_split_may_be_in_numbered_shards(self, tmp_path: Path, names: list[str]) -> None:
        for name in [*names, "val"]:
            put_pairs(tmp_path, name, 3, packed=name == names[0])
            put(tmp_path / f"{name}.txt", name)
        if "train.9" in names:
            for number in range(1, 9):
                put(tmp_path / f"train.{number}.tsv", f"en {number}\tcs {number}")
                put(tmp_path / f"train.{number}.txt", "")
        parts, (first, second) = translation_splits([tmp_path], "en", "cs"), names
        assert list(parts.train)[-6:] == [(f"en {n} {i}", f"cs {n} {i}") for n in (first, second) for i in range(3)]
        assert list(text_splits([tmp_path]).train)[-2:] == names
        put_pairs(tmp_path, "train", 1)  # one of that name comes before shards
        assert list(translation_splits([tmp_path], "en", "cs").train) == [("en train 0", "cs train 0")]

    @pytest.mark.parametrize(
        ("names", "fault"),
        [
            (["train-0", "train-2"], r"shards \(train-0 to train-2\), but lacks number 1: add it"),
            (["train-3", "train-4"], "lacks number 1"),
            (["train-1-of-3", "train-2-of-3"], "lacks number 3"),
            (["train-1-of-3", "train-2-of-2"], "lacks number 3"),
            (["train-1", "train_1"], "has two of one number: keep one of them"),
        ],
    )
    def test_a_missing_shard_is_named(self, tmp_path: Path, names: list[str], fault: str) -> None:
        for name in names:
            put_pairs(tmp_path / "pairs", name, 3)
            put(tmp_path / "text" / f"{name}.txt", "a")
        for find in (
            lambda: translation_splits([tmp_path / "pairs"], "en", "cs"),
            lambda: text_splits([tmp_path / "text"]),
        ):
            with pytest.raises(DataError, match=fault):
                find()
        with pytest.raises(DataError, match=fault):  # a folder that nobody said the task of
            translation_splits([tmp_path / "text"], "en", "cs")
        next((tmp_path / "pairs").iterdir()).unlink()
        with pytest.raises(DataError, match=r"should lie beside|lacks|has two"):
            translation_splits([tmp_path / "pairs"], "en", "cs")

    def test_a_part_that_is_named_and_missing_is_no_part_held_out(self, tmp_path: Path) -> None:
        for name in ("train", "val", "test"):
            put_pairs(tmp_path, name, 5)
            put(tmp_path / f"{name}.txt", *map(str, range(5)))
        (other := tmp_path / "other").mkdir()
        put_pairs(other, "train", 5)
        put_pairs(other, "newstest2013", 2)
        for part in ("valid", "test"):
            with pytest.raises(DataError, match=f"data.{part} = 'newstest2013' names no file in .*: check the name"):
                translation_splits([tmp_path], "en", "cs", Names(**{part: "newstest2013"}))
            with pytest.raises(DataError, match=f"data.{part} = 'newstest2013' names no file in .*: check the name"):
                text_splits([tmp_path], Names(**{part: "newstest2013"}))
        assert translation_splits([tmp_path, other], "en", "cs", Names(valid="newstest2013")).valid.count == 2

    def test_other_names_of_splits_are_not_asked_of_files_that_have_none(self, tmp_path: Path) -> None:
        for name in ("train", "web", "web2"):
            put_pairs(tmp_path, name, 40)
        names = Names(valid="web", test="web2")
        put(tmp_path / "other.tsv", "a\tb")
        put(tmp_path / "made.tsv", "c\td")
        assert pair_corpus(tmp_path / "other.tsv", "en", "cs", names).count == 1
        data = [tmp_path, tmp_path / "other.tsv"]
        splits = translation_splits(data, "en", "cs", names, synthetic=[tmp_path / "made.tsv"])
        assert splits.train.count == 42 and list(splits.tests) == ["web2"]
        (tmp_path / "one").mkdir()
        put_pairs(tmp_path / "one", "train", 40)
        several = [Path(f"en-cs={tmp_path}"), Path(f"cs-en={tmp_path}/one")]
        assert translation_splits(several, "en", "cs", names).valid.count == 42

    def test_both_directions_hold_the_same_pairs_out(self, tmp_path: Path) -> None:
        for side in ("en", "cs"):  # equal sentences on either side
            put(
                tmp_path / f"train.{side}",
                *(f"{side} {number % (300 if side == 'en' else 250)}" for number in range(400)),
            )
        splits = translation_splits([Path(f"en-cs,cs-en={tmp_path}")], "en,cs", "en,cs")
        (there, back), (held_there, held_back) = splits.train.parts, splits.valid.parts
        assert {*held_there} == {(en, cs) for cs, en in held_back} and held_there.count > 10
        assert not {*there} & {(en, cs) for cs, en in held_back} and not {*back} & {(cs, en) for en, cs in held_there}

    @pytest.mark.parametrize("name", ["train", "val", "test"])
    def test_a_table_without_a_heading_has_one_direction(self, name: str, tmp_path: Path) -> None:
        for split in ("train", "val", "test"):
            put(tmp_path / f"{split}.tsv", *([] if split == name else ["en\tcs"]), f"{split} one\t{split} jedna")
        with pytest.raises(DataError, match=f"{name}.tsv has one direction: call its columns cs and en"):
            translation_splits([Path(f"en-cs,cs-en={tmp_path}")], "en,cs", "en,cs")

    def test_of_two_validation_parts_the_one_asked_for_is_taken_aloud(self, tmp_path: Path) -> None:
        for part, count in (("train", 5), ("dev", 3), ("valid", 4), ("val", 2)):
            put_pairs(tmp_path, part, count)
            put(tmp_path / f"{part}.txt", *map(str, range(count)))
        for asked, count, left_out in (("valid", 4, {"val", "dev"}), ("dev", 3, {"val", "valid"})):
            events: list[Event] = []
            names, report = Names(valid=asked), events.append
            assert translation_splits([tmp_path], "en", "cs", names, report=report).valid.count == count
            assert text_splits([tmp_path], names, report=report).valid.count == count
            notes = [event.text for event in events if isinstance(event, Note) and event.warning]
            assert len(notes) == 4
            assert {name for name in left_out for note in notes if f" {name} is" in note} == left_out
        (tmp_path / "dev.cs").unlink()  # half a part that nobody takes is no fault
        assert translation_splits([tmp_path], "en", "cs", Names(valid="valid")).valid.count == 4
        quiet: list[Event] = []
        text_splits([tmp_path], Names(valid="valid", test="val"), report=quiet.append)
        assert not [event for event in quiet if isinstance(event, Note) and " val is" in event.text]

    def test_no_part_is_found_twice(self, tmp_path: Path) -> None:
        for part, count in (("dev", 9), ("newstest2013", 3), ("newstest2014", 2)):
            put_pairs(tmp_path, part, count)
        parts = translation_splits([tmp_path], "en", "cs", Names(train="dev", valid="newstest2013", test="newstest"))
        assert (parts.train.count, parts.valid.count, list(parts.tests)) == (9, 3, ["newstest2014"])
        parts = translation_splits([tmp_path], "en", "cs", Names(train="dev", valid="val", test="newstest"))
        assert parts.train.count + parts.valid.count == 9 and parts.valid.count
        for part in ("train", "eval1", "eval2"):
            (tmp_path / f"{part}.txt").write_text("one line\nanother\n")
        text = text_splits([tmp_path], Names(valid="eval1", test="eval"))
        assert list(text.tests) == ["eval2"]

    def test_the_validation_part_is_a_test_part_where_it_is_named_as_one(self, tmp_path: Path) -> None:
        for part, count in (("train", 5), ("valid", 3)):
            put_pairs(tmp_path, part, count)
            (tmp_path / f"ptb.{part}.txt").write_text("one line\nanother\n")
        parts = translation_splits([tmp_path], "en", "cs", Names(test="valid"))
        assert list(parts.tests) == ["valid"] and parts.tests["valid"].count == parts.valid.count == 3
        text = text_splits([tmp_path], Names(test="valid"))
        assert [corpus.paths for corpus in text.tests.values()] == [text.valid.paths]

    def test_a_file_of_pairs_is_parted_aloud_by_the_seed(self, tmp_path: Path) -> None:
        put(tmp_path / "pairs.tsv.gz", *(f"source {number % 300}\ttarget {number}" for number in range(400)))
        events: list[Event] = []
        parts, again, other = (
            translation_splits([tmp_path / "pairs.tsv.gz"], "en", "cs", seed=seed, report=events.append)
            for seed in (1, 1, 2)
        )
        train, valid = list(parts.train), list(parts.valid)
        assert (len(train), len(valid)) == (parts.train.count, parts.valid.count)
        assert 0 < len(valid) <= 20
        assert sorted(train + valid) == sorted((f"source {n % 300}", f"target {n}") for n in range(400))
        assert not {source for source, _ in train} & {source for source, _ in valid}
        assert len(events) == 3 and isinstance(events[0], Note)
        assert f"{len(valid)} of 400 pairs are held out" in events[0].text
        assert valid == list(again.valid) != list(other.valid)
        assert parts.valid.fingerprint == again.valid.fingerprint
        assert len({split.fingerprint for splits in (parts, other) for split in (splits.train, splits.valid)}) == 4
        put(tmp_path / "same.tsv", *["same\tother"] * 40)
        with pytest.raises(DataError, match="no validation split can be held out of 40 pairs: give one"):
            translation_splits([tmp_path / "same.tsv"], "en", "cs")

    def test_several_sources_are_put_together(self, tmp_path: Path) -> None:
        for folder in ("first", "second"):
            for part in ("train", "val", "test"):
                put_pairs(tmp_path / folder, part, 2)
        put(tmp_path / "memory.tsv", "a\tb")
        data = [tmp_path / "first", tmp_path / "second", tmp_path / "memory.tsv"]
        parts = translation_splits(data, "en", "cs")
        assert (parts.train.count, parts.valid.count) == (5, 4)
        assert list(parts.train)[-1] == ("a", "b")
        assert list(parts.tests) == ["test", "second/test"]

    def test_what_is_left_out_of_lines_sides_and_splits_is_reported(self, tmp_path: Path) -> None:
        put(tmp_path / "train.tsv", "a\tA", "none", "\tB", "c\t\N{NO-BREAK SPACE}", "c\td\te", " \t")
        put(tmp_path / "val.en", "a", "")  # whose lines stay in place
        put(tmp_path / "val.cs", "A", "B")
        put(tmp_path / "test_2018.en", "a")
        events: list[Event] = []
        parts = translation_splits([tmp_path], "en", "cs", report=events.append)
        assert (list(parts.train), parts.valid.count, len(list(parts.valid)), parts.tests) == ([("a", "A")], 2, 2, {})
        lines, sides = (event for event in events if isinstance(event, Skipped))
        assert lines.count == 2 and "line 2" in lines.reason
        assert sides == Skipped("pairs with an empty side were left out of the training split", 3)
        assert [event.warning for event in events if isinstance(event, Note)] == [True]

    @pytest.mark.parametrize(
        ("present", "message"),
        [
            ("", r"should hold train\.en and train\.cs \(or train\.tsv\), but holds nothing"),
            ("train.en", r"train\.cs should lie beside .*train\.en"),
            ("train.cs.gz", r"train\.en should lie beside .*train\.cs\.gz"),
            ("train.en train.cs valid.cs", r"valid\.en should lie beside .*valid\.cs"),
            ("train.ka train.ar", r"train\.ka\. Name the languages of its sides with --source and --target\.$"),
            ("trian.en trian.cs", r"but holds trian\.cs, trian\.en\. Did you mean 'trian\.en'\?"),
            ("train-2014.en train-2014.cs", "Did you mean 'train-2014"),  # one file with a number is no shard
            ("train.en train.en.gz train.cs", r"train\.en\.gz are the same split"),
            ("train.en train.cs train.tsv", r"train\.tsv is the same split as .*train\.en and .*train\.cs: keep"),
            ("train.en.xz train.cs.xz", r"packed files \(train\.cs\.xz, train\.en\.xz\): unpack them with unxz"),
        ],
    )
    def test_missing_files_are_named(self, tmp_path: Path, present: str, message: str) -> None:
        for name in present.split():
            put(tmp_path / name, "a")
        with pytest.raises(DataError, match=message):
            translation_splits([tmp_path], "en", "cs")

    @pytest.mark.parametrize(
        ("names", "message"),
        [
            (["pairs.txt"], r"pairs\.txt is no folder and no \.tsv"),
            (["nowhere"], r"should be a folder or a file, but there is no .*nowhere"),
            ([], "none was given"),
        ],
    )
    def test_paths_that_cannot_be_data_are_named(self, tmp_path: Path, names: list[str], message: str) -> None:
        put(tmp_path / "pairs.txt", "a\tb")
        with pytest.raises(DataError, match=message):
            translation_splits([tmp_path / name for name in names], "en", "cs")

    @pytest.mark.parametrize(
        ("name", "targets", "message"),
        [
            ("train.cs", b"a\n", r"train\.en has 2 and .*train\.cs has 1:"),
            ("val.cs", b"fine\n\xe9t\xe9\n", r"val\.cs:2 should be UTF-8"),
            ("test.cs", b"a\n", r"test\.en has 2 and .*test\.cs has 1:"),
            ("train.cs", b"\n\n", r"no pairs of sentences to train on in .*train\.en"),
            ("val.tsv", b"", "has no pairs for the split 'val'"),
        ],
    )
    def test_faults_are_found_in_every_part(self, tmp_path: Path, name: str, targets: bytes, message: str) -> None:
        for part in ("train", "val", "test"):
            put_pairs(tmp_path, part, 2)
        if name.endswith(".tsv"):
            for side in ("en", "cs"):
                (tmp_path / f"val.{side}").unlink()
        (tmp_path / name).write_bytes(targets)
        with pytest.raises(DataError, match=message):
            translation_splits([tmp_path], "en", "cs")

    def test_one_file_is_never_both_sides_but_columns_may_be_of_one_language(self, tmp_path: Path) -> None:
        put_pairs(tmp_path, "train", 2)
        with pytest.raises(DataError, match="Source and target are both 'cs': set --source"):
            translation_splits([tmp_path], "cs", "cs")
        (tmp_path / "fixed.tsv").write_text("".join(f"teh man {n}\tthe man {n}\n" for n in range(60)))
        assert translation_splits([tmp_path / "fixed.tsv"], "en", "en").train.count


class TestText:
    @pytest.mark.parametrize(("prefix", "suffix"), [("", ".gz"), ("ptb.", "")])
    def test_a_folder_gives_its_parts(self, tmp_path: Path, prefix: str, suffix: str) -> None:
        put(tmp_path / f"{prefix}train.txt{suffix}", "a", "", "b")
        put(tmp_path / f"{prefix}valid.txt{suffix}", "c")
        put(tmp_path / f"{prefix}test.txt{suffix}", "d")
        parts = text_splits([tmp_path])
        assert list(parts.train) == ["a", "", "b"]
        assert list(parts.valid) == ["c"]
        assert {name: list(corpus) for name, corpus in parts.tests.items()} == {f"{prefix}test": ["d"]}

    def test_the_tail_of_a_book_is_held_out_aloud(self, tmp_path: Path) -> None:
        put(tmp_path / "book.txt", *map(str, range(100)))
        events: list[Event] = []
        parts = text_splits([tmp_path / "book.txt"], report=events.append)
        assert list(parts.train) == [str(number) for number in range(95)]
        assert list(parts.valid) == [str(number) for number in range(95, 100)]
        assert parts.train.fingerprint != parts.valid.fingerprint
        assert [event for event in events if isinstance(event, Note) and "last 5 of 100 lines" in event.text]
        put(tmp_path / "book.txt", "all in one")
        with pytest.raises(DataError, match=r"book\.txt has one line only"):
            text_splits([tmp_path / "book.txt"])

    def test_what_is_missing_empty_or_twofold_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"should hold train\.txt, but holds nothing"):
            text_splits([tmp_path])
        (tmp_path / "train.txt").mkdir()
        put(tmp_path / "valid.txt", "a")
        with pytest.raises(DataError, match=r"but holds valid\.txt, train\.txt/\. Rename them, or name files"):
            text_splits([tmp_path])
        (tmp_path / "train.txt").rmdir()
        put(tmp_path / "train.txt", "", "")
        with pytest.raises(DataError, match=r"train\.txt has no text for the split 'train'"):
            text_splits([tmp_path])
        (tmp_path / "train.txt").rename(tmp_path / "wiki.train.txt")
        put(tmp_path / "ptb.train.txt", "a")
        with pytest.raises(DataError, match=r"one train split, not ptb\.train\.txt and wiki\.train\.txt"):
            text_splits([tmp_path])
        with pytest.raises(DataError, match="none was given"):
            text_splits([])


def test_special_tokens_at_the_ends_of_lines_are_no_text_and_are_told_of(tmp_path: Path) -> None:
    events: list[Event] = []
    put(tmp_path / "train.tsv", "<s> A man . </s>\t<s> Ein Mann . </s>", "A dog .\tEin <s> Hund .", "</s>\tNichts")
    put(tmp_path / "val.tsv", "<bos> A cat .\tEine Katze . <eos> <pad>")
    pairs = translation_splits([tmp_path], "en", "de", report=events.append)
    assert list(pairs.train) == [("A man .", "Ein Mann ."), ("A dog .", "Ein <s> Hund .")]
    assert list(pairs.valid) == [("A cat .", "Eine Katze .")]
    put(tmp_path / "train.txt", "<s> A man . </s>", "", "A dog .", "<s> </s>")
    text = text_splits([tmp_path / "train.txt"], report=events.append)
    assert [*text.train, *text.valid] == ["A man .", "", "A dog .", ""]
    told = [event.text for event in events if isinstance(event, Note) and "special tokens" in event.text]
    assert [note.split()[0] for note in told] == ["2", "2"]

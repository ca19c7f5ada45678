"""The page reads and writes texts as the package does, whatever the tokens."""

import json
import random
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from anaphora.errors import ConfigError
from anaphora.inspection.microscope import page_of
from anaphora.inspection.microscope.contents import tokens_of
from anaphora.text.rare_word_annotation import AnnotatedTokenizer
from anaphora.text.words import WordTokenizer
from tests.networks import untrained_translator

node = pytest.mark.skipif(shutil.which("node") is None, reason="needs node")


TOKENIZERS = ("bpe", "unigram", "word joiner", "word moses", "word whitespace", "character", "symbol", "byte")


def network_in(page: str) -> Any:
    return json.loads(page.split('id="network">')[1].split("</script>")[0])


def printed_by(*command: Path) -> Any:
    answer = subprocess.run(["node", *map(str, command)], capture_output=True, text=True, check=True, timeout=60)
    return json.loads(answer.stdout)


@node
@pytest.mark.parametrize("kind", TOKENIZERS)
def test_a_page_reads_any_text_and_writes_any_ids_as_the_package_does(tmp_path: Path, kind: str) -> None:
    trained, draws, own = untrained_translator("luong", kind), random.Random(1), files("anaphora.inspection.microscope")
    tokenizer = trained.tokenizers["source"]  # that of the target as well
    last = tokenizer.symbols.size - 1
    texts = ["".join(draws.choices("aetB1.,'- \u2581\u00ad\u00e9", k=draws.randint(0, 12))) for _ in range(1_000)]
    lists = [[draws.randint(0, draws.choice([9, last])) for _ in range(draws.randint(0, 9))] for _ in range(2_000)]
    script = "\n".join((own / name).read_text(encoding="utf-8") for name in ("moses.js", "tokens.js"))
    table = json.dumps(network_in(page_of(trained, "A page"))["tokenizers"]["source"])
    asked = (
        f"{json.dumps(texts)}.map((text) => tokens.encode(text)), {json.dumps(lists)}.map((ids) => tokens.decode(ids))"
    )
    (tmp_path / "asked.js").write_text(
        f"{script}\nconst tokens = new Tokens({table});\nconsole.log(JSON.stringify([{asked}]));"
    )
    read, written = printed_by(tmp_path / "asked.js")
    assert read == [tokenizer.encode(text) for text in texts]
    assert written == [tokenizer.decode(ids) for ids in lists]


@pytest.mark.parametrize("language", ["cs", "ja"])
def test_words_that_the_page_does_not_read_are_refused_by_name(language: str) -> None:
    words = WordTokenizer(["a"], lowercase=False, segmentation="moses", language=language)
    for tokenizer, named in ((words, f'language "{language}"'), (AnnotatedTokenizer(words, "posall", {}), "text.rare")):
        with pytest.raises(ConfigError, match=f"microscope shows .* but not .*{named}"):
            tokens_of(tokenizer, "word")

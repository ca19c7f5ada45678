"""Tokens as the published Multi30k files have them."""

import pytest

from anaphora.text.moses import MosesText, MosesTokens


@pytest.mark.parametrize(
    ("language", "raw", "expected"),
    [
        ("de", "Ein Mann mit einem orangefarbenen Hut, der etwas anstarrt.",
         "ein mann mit einem orangefarbenen hut , der etwas anstarrt ."),
        ("de", "Ein Jugendlicher mit dem Aufdruck „Asian Pacific 2007“ sitzt.",
         'ein jugendlicher mit dem aufdruck " asian pacific 2007 " sitzt .'),
        ("fr", "Un terrier de Boston court sur l'herbe verdoyante devant une clôture blanche.",
         "un terrier de boston court sur l' herbe verdoyante devant une clôture blanche ."),
        ("fr", "Un enfant éclabousse dans l’eau", "un enfant éclabousse dans l' eau"),
        ("en", "A man's T-shirt & a dog.", "a man 's t-shirt & a dog ."),
        ("en", "", ""),
    ],
)  # fmt: skip
def test_tokens_are_those_of_the_published_files(language: str, raw: str, expected: str) -> None:
    assert MosesText(language)(raw) == expected


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ar", "هل أنت بخير؟"),
        ("hi", "वह पानी पीता है।"),
        ("ja", "元気ですか？ はい。"),
        ("fa", "من می\u200cخواهم"),
        ("th", "กินข้าว"),
        ("my", "သူသွား၊ လာ။"),
        ("km", "ប្រយោគ។"),
        ("am", "ሰላም ነው፣ ደህና።"),
        ("he", 'ארה״ב וצה"ל, צ׳יפס.'),
        ("fr", "« Oui », dit-il."),
        ("en", "It's here, isn't it?"),
    ],
)
def test_tokens_are_put_together_as_people_write_them(language: str, text: str) -> None:
    tokens = MosesTokens(language)
    assert tokens.join(tokens.split(text)) == text


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("tr", "İstanbul büyük, değil mi?".lower(), ["i̇stanbul", "büyük", ",", "değil", "mi", "?"]),
        ("hi", "हिन्दी भाषा अच्छी है।", ["हिन्दी", "भाषा", "अच्छी", "है", "।"]),
        ("en", "a b\N{COMBINING ACUTE ACCENT}ad \N{COMBINING ACUTE ACCENT} thing", None),
        ("ka", "ᲙᲐᲢᲐ ᲫᲘᲜᲐᲕᲡ, Ა Ბ.", ["ᲙᲐᲢᲐ", "ᲫᲘᲜᲐᲕᲡ", ",", "Ა", "Ბ", "."]),
        ("ja", "𠮷野家 2𝟘 m²", ["𠮷野家", "2𝟘", "m", "²"]),
    ],
)
def test_a_letter_stays_with_its_marks_and_its_like_and_words_with_their_spaces(
    language: str, text: str, words: list[str] | None
) -> None:
    assert MosesTokens(language).split(text) == (words or text.split())


@pytest.mark.parametrize("sentence", ["the <unk> , isn't it ?", 'ארה"ב , צה״ל .'])
def test_a_line_may_hold_any_number_of_words_that_are_kept_whole(sentence: str) -> None:
    tokens = MosesTokens("en")
    assert tokens.split(" ".join([sentence] * 1100)) == tokens.split(sentence) * 1100

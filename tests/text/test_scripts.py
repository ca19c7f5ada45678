"""Text without spaces between words is told from text that somebody has cut into words."""

import pytest

from anaphora.text.punctuation import plain_words
from anaphora.text.scripts import are_run_together, script_of

CUT = {
    "Chinese": "今天 天气 很 好 我 喜欢 吃 苹果 他 每天 骑 自行车 去 学校 图书馆 里 有 很多 旧 书",
    "Japanese": "私 は 毎朝 コーヒー を 飲み ます 新しい コンピューター が 静か な 部屋 に あり ます",
    "Thai": "วันนี้ อากาศ ดี มาก ฉัน ชอบ กิน ข้าว ที่ ตลาด เขา ไป โรงเรียน ทุก เช้า",
    "Khmer": "ខ្ញុំ ចូលចិត្ត ញ៉ាំ បាយ ថ្ងៃនេះ មេឃ ស្រឡះ",
    "Finnish": "epäjärjestelmällisyys lentokonesuihkuturbiinimoottori kirjastonhoitajakoulutus",
}


@pytest.mark.parametrize("language", CUT)
def test_words_are_words_where_there_are_spaces_between_them(language: str) -> None:
    assert not are_run_together(CUT[language].split()) and not are_run_together([])


@pytest.mark.parametrize("language", ["Chinese", "Japanese", "Thai", "Khmer"])
def test_lines_without_a_space_are_not_words(language: str) -> None:
    words = CUT[language].split()
    lines = ["".join(words[start : start + 6]) for start in range(len(words) - 5)]
    assert are_run_together(lines)
    assert are_run_together([*lines, "2026"])
    assert not are_run_together([*lines, *(f"word{number}" for number in range(len(lines) + 1))])


def test_letters_have_the_script_of_their_unicode_property() -> None:
    scripts = {
        "Latin": "aéＡʰ",
        "Han and kana": "漢かカーｶ々",
        "Hangul": "한ﾡ",
        "Canadian Aboriginal": "ᐊ",
        "another script": "𒀀",
    }
    for script, letters in scripts.items():
        assert {script_of(letter) for letter in letters} == {script}
    assert {script_of(character) for character in "1 ,µℂ𝐀"} == {""}


def test_words_leave_punctuation_out_and_letters_stand_alone_in_scripts_without_spaces() -> None:
    assert plain_words("It's 5 €: déjà-vu, n° 1!") == ["It", "s", "5", "déjà", "vu", "n", "1"]
    assert plain_words("ABC漢字。กา") == ["ABC", "漢", "字", "ก", "า"]

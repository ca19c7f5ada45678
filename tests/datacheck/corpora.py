"""Clean corpora in many scripts, made of a few words: every sentence once, every word in the training split."""

import random
from pathlib import Path

WORDS = {
    "en": "the old farmer sees many small birds near our quiet village today",
    "fr": "le vieux fermier voit plusieurs petits oiseaux près notre calme village aujourd'hui",
    "el": "ο γέρος αγρότης βλέπει πολλά μικρά πουλιά κοντά μας ήσυχο χωριό σήμερα",
    "ru": "этот старый крестьянин видит много мелких птиц возле нашей тихой деревни сегодня",
    "ar": "الفلاح العجوز يرى طيورا صغيرة كثيرة قرب قريتنا الهادئة اليوم مع جاره",
    "hi": "बूढ़ा किसान हमारे शांत गाँव के पास कई छोटी चिड़ियाँ आज देखता",
    "ja": "農夫 老いた 静かな 村の 近くで 小鳥を たくさん 今日 見る 私たちの 隣人と とても",
    "ka": "მოხუცი გლეხი ხედავს ბევრ პატარა ჩიტს ჩვენი წყნარი სოფელი ახლოს დღეს მეზობელი",
}


def sentences(source: str, target: str, seed: int, count: int = 60) -> list[tuple[str, str]]:
    """Distinct pairs, word by word translations of each other."""
    draw = random.Random(seed)
    places: dict[tuple[int, ...], None] = {}
    while len(places) < count:
        places[tuple(draw.sample(range(11), k=6))] = None
    sides = [WORDS[side].split() for side in (source, target)]
    pairs = [tuple(" ".join(words[place] for place in row) for words in sides) for row in places]
    return [(first, second) for first, second in pairs]


def write(folder: Path, name: str, pairs: list[tuple[str, str]], source: str, target: str) -> None:
    """Line-aligned files of a part."""
    folder.mkdir(parents=True, exist_ok=True)
    for side, place in ((source, 0), (target, 1)):
        text = "".join(f"{pair[place]}\n" for pair in pairs)
        (folder / f"{name}.{side}").write_text(text, encoding="utf-8", newline="")

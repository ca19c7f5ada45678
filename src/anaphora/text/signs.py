"""The signs that end sentences and parts of them, in scripts of many languages."""

LATIN_ENDS = ".!?…‽"
"""Ends of sentences in Latin, Greek and Cyrillic script, which others have borrowed; white space follows."""

OTHER_ENDS = "؟۔।॥։።"
"""Those of Arabic, Devanagari, Armenian and Ethiopic script, which white space follows too."""

UNSPACED_ENDS = "。！？｡။។"
"""Those that may stand without white space behind them: Chinese and Japanese, Burmese, Khmer."""

PAUSES = "،؛၊፣፤、，：；"
"""Commas, colons and semicolons that are in no Latin text."""

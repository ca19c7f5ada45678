"""Whole models, which implement ``protocols.Model``; they have the sizes of vocabularies, but no words or files."""

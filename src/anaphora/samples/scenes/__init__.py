"""Drawn scenes with captions: small images of coloured shapes, features, and sentences that are true of them."""

from anaphora.samples.scenes.corpus import SceneSplits, corpus, write
from anaphora.samples.scenes.picture import picture
from anaphora.samples.scenes.scene import Scene, Thing

__all__ = ["Scene", "SceneSplits", "Thing", "corpus", "picture", "write"]

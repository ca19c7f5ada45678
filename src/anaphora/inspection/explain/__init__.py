"""Worked examples with numbers for every value, each checked against the kernels."""

from collections.abc import Callable, Mapping

from anaphora.inspection.explain.attention import attention
from anaphora.inspection.explain.beam import beam
from anaphora.inspection.explain.bptt import bptt, scalar, truncation
from anaphora.inspection.explain.lesson import Lesson
from anaphora.inspection.explain.lstm import lstm

LESSONS: Mapping[str, Callable[[], Lesson]] = {
    "scalar": scalar,
    "bptt": bptt,
    "truncation": truncation,
    "lstm": lstm,
    "attention": attention,
    "beam": beam,
}

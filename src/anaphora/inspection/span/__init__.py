"""How far back recurrent units remember: tasks at doubling distances, and the context that language models use."""

from collections.abc import Mapping

from anaphora.inspection.span.context import EffectiveContext, effective_context, lacks_context
from anaphora.inspection.span.measure import FULL, QUICK, Plan, Spans, Trial, spans

PLANS: Mapping[bool, Plan] = {False: FULL, True: QUICK}
"""By whether it is to be quick."""

__all__ = [
    "FULL",
    "PLANS",
    "QUICK",
    "EffectiveContext",
    "Plan",
    "Spans",
    "Trial",
    "effective_context",
    "lacks_context",
    "spans",
]

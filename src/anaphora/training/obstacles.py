"""Reports of a network that trains slowly, or in part."""

import torch

from anaphora.events import Note, Report
from anaphora.kernels.cells import Recorded
from anaphora.kernels.native import loops
from anaphora.kernels.program import Program
from anaphora.kernels.runtime import Runtime
from anaphora.nn.stack import RecurrentConfig


def report_obstacles(model: torch.nn.Module, runtime: Runtime, report: Report) -> None:
    """Report cells without derived gradient, frozen weights, and time loops that run in Python."""
    report_autograd_cells(model, report)
    named = {name: weight for name, weight in model.named_parameters() if weight.numel()}
    trained = [name for name, weight in named.items() if weight.requires_grad]
    if len(trained) < len(named):
        count = sum(named[name].numel() for name in trained)
        whole = sum(weight.numel() for weight in named.values())
        report(Note(f"Only {', '.join(trained)} are trained ({count:,} of {whole:,} parameters); the rest is frozen."))
    if runtime.loops_in_c(torch.zeros(1, device=runtime.device), recording=True):
        programs = [getattr(module, "program", None) for module in model.modules()]
        known = [loop for program in programs if isinstance(program, Program) for loop in loops(program)]
        for loop in (loop for loop in known if loop.obstacles):
            parts = ", ".join(loop.parts)
            report(Note(f"The loop of {parts} runs step by step in Python, which is slower: {loop.reasons}."))


def report_autograd_cells(model: torch.nn.Module, report: Report) -> None:
    """Report the units of ``model`` that train slowly, since nobody has derived their gradient."""
    configs = [module.config for module in model.modules() if hasattr(module, "config")]
    cells = [config.cell for config in configs if isinstance(config, RecurrentConfig)]
    for kind in sorted({cell.kind for cell in cells if isinstance(cell, Recorded)}):
        report(Note(f"Unit '{kind}' has no derived gradient, so autograd records each of its steps: it trains slowly."))

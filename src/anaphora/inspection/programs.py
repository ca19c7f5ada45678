"""Steps of the networks of an experiment, part by part, before there is any data or training."""

from collections.abc import Mapping, Sequence

from anaphora.inspection.cell_diagram import CellDiagram, Node
from anaphora.inspection.labels import layer_name
from anaphora.inspection.network_diagram import NetworkDiagram, network_diagram
from anaphora.models import registry
from anaphora.protocols import PartDescription, ProgramModel, VocabularyInfo
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.registry import task_of
from anaphora.text.tokenizer import MARKS

_USUAL = 256
"""Tokens of a vocabulary whose size only the data decides; no step depends on it."""


def programs_of(experiment: ExperimentBase) -> Mapping[str, Sequence[PartDescription]]:
    """Return the parts of each step of its network; nothing for a network without steps.

    Vocabularies stand in for those of the data. Raises ConfigError for options that cannot be combined.
    """
    model = network_of(experiment)
    return {} if model is None else model.programs()


def network_of(experiment: ExperimentBase) -> ProgramModel | None:
    """Return the network with weights of zero; None for one without steps."""
    network = task_of(experiment).network
    if not issubclass(registry.class_of(network), ProgramModel):
        return None
    size = getattr(experiment.text, "size", _USUAL)
    symbols = dict.fromkeys(network.sides, VocabularyInfo(size, *range(len(MARKS))))
    words = {side: [f"word{number}" for number in range(size - len(MARKS))] for side in network.sides}
    model = registry.build(network, experiment, symbols, words)
    assert isinstance(model, ProgramModel)
    return model


def diagrams(name: str, experiment: ExperimentBase, cut_every: int = 0) -> list[NetworkDiagram | CellDiagram]:
    """Return the network over a sentence, then one step of each of its programs; nothing for one without steps."""
    model = network_of(experiment)
    if model is None or not any((programs := model.programs()).values()):
        return []
    steps = [_step(f"{name}, {layer_name(one)}", parts) for one, parts in programs.items() if parts]
    return [network_diagram(name, experiment, model, cut_every), *steps]


def _step(name: str, parts: Sequence[PartDescription]) -> CellDiagram:
    """Return a step of a program part by part."""
    nodes, places = list[Node](), dict[str, int]()
    for part in parts:
        reads = [f"{one.signal} before" if one.previous else one.signal for one in part.reads]
        reads += ["memory"] if part.memory else []
        for read in reads:
            if read not in places:
                places[read] = len(nodes)
                nodes.append(Node(read, "given", ()))
        shapes = ", ".join(" × ".join(map(str, shape)) for shape in part.weights.values())
        kind, label = "matrix" if shapes else "function", f"{part.name}\n{shapes}" if shapes else part.name
        nodes.append(Node(label, kind, tuple(places[one] for one in reads)))
        places |= dict.fromkeys(part.writes, len(nodes) - 1)
    results = [one.signal for part in parts for one in part.reads if one.previous and one.signal in places]
    nodes += [Node(one, "result", (places[one],)) for one in dict.fromkeys([*results, *parts[-1].writes])]
    return CellDiagram(name, tuple(nodes))

"""``anaphora calibrate``: how sure to be of a run's answers, fitted to pairs that training never showed.

Examples:
    anaphora calibrate runs/en-de
    anaphora calibrate runs/en-de --source held-out.en --reference held-out.de
    anaphora calibrate runs/en-de --beam 1 --precision bf16
    anaphora calibrate runs/cmudict --precision int8
"""

from dataclasses import asdict

from anaphora.cli.options import GivenPairs, Json, Machine, RunFolder
from anaphora.cli.progress import listening
from anaphora.cli.searching import SearchTable
from anaphora.cli.talk import print_json, say, show
from anaphora.errors import RunError
from anaphora.wording import inflect


def run(
    run_folder: RunFolder, search: SearchTable, given: GivenPairs, as_json: Json = False, *, machine: Machine
) -> None:
    """Fit the confidence of a translator or transducer, and measure it.

    All pairs, by default of the validation split, fit it; each half is measured by a fit to the other. Repeat for
    other search options and precisions.
    """
    options = search.options()

    from anaphora.tasks.runs import kind_at, load
    from anaphora.tasks.translation.confidence import calibrate, describe_settings
    from anaphora.tasks.translation.predictor import TranslationPredictor

    with listening() as report:
        model = load(run_folder, report=report, **machine.options)
        translator = getattr(model, "translator", model)  # of a transducer
        if not isinstance(translator, TranslationPredictor):
            raise RunError(f"{run_folder} should be a translator or a transducer, but is {kind_at(run_folder).noun}.")
        asked = options if translator is model else options._replace(protect=())
        found = calibrate(translator, given.pairs, asked, report)
    if as_json:
        measured = {name: asdict(one) for name, one in found.measured.items()}
        table = {"run": str(run_folder), "settings": found.settings, "fitted_on": found.fitted_on}
        return print_json(table | measured)
    settings, pairs = describe_settings(found.settings), inflect(found.fitted_on, "pair")
    show(f"Calibrated for {settings} on {pairs}; each half measured by a fit to the other:")
    for name, one in found.measured.items():
        area = "no AUC, as all are alike" if one.area is None else f"AUC {one.area:.3f}"
        show(
            f"{inflect(one.examples, name.removesuffix('s'))}: {one.positive:.1%} right, {area}, "
            f"expected calibration error {one.calibration_error:.3f}"
        )
    verb = "translate" if translator is model else "predict"
    say(f"Next: anaphora {verb} {run_folder} FILE --confidence")

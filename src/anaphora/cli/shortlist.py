"""``anaphora shortlist``: the tokens that a run's translations are likely to have, learnt from its training pairs.

Examples:
    anaphora shortlist runs/en-de
    anaphora translate runs/en-de test.en --shortlist --precision int8
"""

from anaphora.cli.options import Json, RunFolder, Threads
from anaphora.cli.progress import listening
from anaphora.cli.talk import print_json, say, show
from anaphora.wording import inflect


def run(run_folder: RunFolder, as_json: Json = False, threads: Threads = 0) -> None:
    """Learn a shortlist for faster beam search.

    It is learnt from the training pairs of a run.
    """
    from anaphora.tasks.translation.shortlist import make_shortlist

    with listening() as report:
        found = make_shortlist(run_folder, report)
    tokens, translations = len(found.ends_S), len(found.translations_M)
    if as_json:
        return print_json({"run": str(run_folder), "tokens": tokens, "translations": translations})
    show(f"{inflect(translations, 'translation')} of {inflect(tokens, 'source token')}")
    say(f"Next: anaphora translate {run_folder} FILE --shortlist")

"""One document for programs that search for controllers: how a controller does on a suite, against CUBIC.

`scenarios` has the two halves of a suite, `figures` what is measured, `guards` what disqualifies, `document` the
result.
"""

from thalweg.experiments.score.document import score

__all__ = ["score"]

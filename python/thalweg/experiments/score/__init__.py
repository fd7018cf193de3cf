"""One document for programs that search for controllers: how a controller does on a suite, against CUBIC.

`scenarios` has the two halves of a suite, `figures` what is measured, `guards` what disqualifies, `document` the
result, `store` the folder that it is stored in.
"""

from thalweg.experiments.score.document import Score, score

__all__ = ["Score", "score"]

"""Why a trial was as slow as it was: what limited a flow, what it lost and where, and what would have helped.

For one of our trials, which knows the truth: `cuts` finds why the window was reduced, `account` says all of it in
sentences, and `what_if` plays the same trial without what stood in the way. For a file of another program: `file`
has the sentences, `conformance` compares its sender with one controller, `picture` draws the figure, and
`opened` is what the lab opens.
"""

from thalweg.experiments.explain.account import Account, account
from thalweg.experiments.explain.file import FileAccount, account_of_file
from thalweg.experiments.explain.opened import opened
from thalweg.experiments.explain.picture import picture
from thalweg.experiments.explain.what_if import Change, Played, changes, what_if

__all__ = [
    "Account", "Change", "FileAccount", "Played", "account", "account_of_file", "changes", "opened", "picture",
    "what_if",
]  # fmt: skip

"""Why a trial was as slow as it was: what limited a flow, what it lost and where, and what would have helped.

`cuts` finds why the window was reduced, `account` says all of it in sentences, and `what_if` plays the same trial
without what stood in the way.
"""

from thalweg.experiments.explain.account import Account, account
from thalweg.experiments.explain.what_if import Change, Played, changes, what_if

__all__ = ["Account", "Change", "Played", "account", "changes", "what_if"]

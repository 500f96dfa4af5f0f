"""A fit that is made beside a collection: begun at one event, taken at a later one.

What comes of a fit follows from the policy and its labels as they were when it was begun. So
whoever reads the events can make it: a server does so in a thread, while it goes on asking and
hearing; who replays the events, or reads what another process did, does so where the fit is taken.
"""

from __future__ import annotations

import copy
import threading

from workbench.collection.policy import Policy
from workbench.collection.pool import Ledger


class Refit:
    """The fit of a policy to the labels that there are now.

    Parameters
    ----------
    policy, ledger
        Are left as they are.

    Attributes
    ----------
    labels
        That it is fitted to, gold labels included.
    failed
        Whether the fit was tried in vain: another may be begun in its place.
    """

    def __init__(self, policy: Policy, ledger: Ledger) -> None:
        still = ledger.as_it_stands()
        self._policy = copy.deepcopy(policy, {id(ledger): still, id(ledger.pool): ledger.pool})
        self.labels = len(still.labels) + len(still.gold_labels)
        self._alone, self._done, self.failed = threading.Lock(), False, False

    def fitted(self) -> Policy:
        """Make the fit, unless it has been made; in any thread."""
        with self._alone:
            if not self._done:
                try:
                    self._policy.refit()
                except BaseException:
                    self.failed = True
                    raise
                self._done = True
        return self._policy

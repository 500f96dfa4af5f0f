"""Ho, Jabbari, Vaughan (2013), Adaptive task assignment for crowdsourced classification."""

PAPER = "Ho, Jabbari, Vaughan 2013"

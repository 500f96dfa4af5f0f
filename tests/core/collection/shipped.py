"""Policies of collecting classes that come with the core, whatever plugins are installed."""

from workbench.collection import POLICIES

SHIPPED = tuple(
    name for name in POLICIES if name not in POLICIES.added() and not POLICIES[name].call.rates
)

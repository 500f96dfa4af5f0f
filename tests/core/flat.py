"""Terms of a collection in one dict, as tests vary them, brought into the front door's objects."""

import msgspec

import workbench as wb
from workbench.api.keywords import gather


def in_objects(terms):
    """Give the keywords of `Collector` and `collect` for terms by name."""
    terms = dict(terms)
    options = terms.pop("options", None)
    if options:
        terms["policy"] = terms["policy"], options
    for name in [name for name, value in terms.items() if value is None and name != "policy"]:
        del terms[name]
    gather(terms, people=wb.People, closing=wb.ClosingRules)
    return terms


def whole(collector):
    """Everything that a collection stands on, but the keys that stand for names."""
    return msgspec.json.encode(msgspec.structs.replace(collector._now.opened(), names=()))


def reopened(collector):
    """The same collection, opened again from its journal."""
    path = collector.path
    collector.close()
    return wb.Collector.open(path)

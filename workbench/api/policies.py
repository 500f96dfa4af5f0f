"""`policy`: a policy of one's own, by a line above its class."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeVar

from workbench.base.cells import register_here
from workbench.base.checks import show
from workbench.base.errors import InputError
from workbench.base.registry import Entry

C = TypeVar("C", bound=type)


def policy(name: str, *, source: str = "one's own") -> Callable[[C], C]:
    """Register the class below under a name, by which every function and study knows it.

    A subclass of `workbench.assignment.AssignmentPolicy` names tasks for workers as they come; one
    of `workbench.collection.Policy` or `ByTask` decides whom to ask next, and when to stop. In a
    notebook, a cell that is run again replaces what it registered. Worker processes get the
    imports, functions, classes and constants of its cell.

    Parameters
    ----------
    name
        Lower case, words joined by hyphens or spaces.
    source
        Where it comes from: a paper and its section, or common practice.

    Raises
    ------
    InputError
        There is one of that name, or the class is of neither kind.

    Examples
    --------
    In a cell, or a file::

        @wb.policy("nothing at all")
        class Nothing(AssignmentPolicy):
            '''Nobody gets a task.'''

            def assign(self, worker):
                return []

    >>> import workbench as wb
    >>> wb.policy("words")(str)
    Traceback (most recent call last):
    ...
    workbench.base.errors.InputError: policy 'words': make str a subclass of...
    """
    if not isinstance(name, str):
        raise InputError(f'policy: {show(name)}; give a name, as in @wb.policy("mine")')

    def register(kind: C) -> C:
        from workbench import assignment, collection

        if not inspect.isclass(kind):
            raise InputError(f"policy {name!r}: {show(kind)} is no class")
        summary = (inspect.getdoc(kind) or name).split("\n")[0]
        entry = Entry(name, kind, summary, source)
        if issubclass(kind, assignment.AssignmentPolicy):
            register_here(assignment.POLICIES, entry)
        elif issubclass(kind, collection.Policy):
            register_here(collection.POLICIES, entry)
        else:
            raise InputError(
                f"policy {name!r}: make {kind.__name__} a subclass of "
                "workbench.assignment.AssignmentPolicy, or of workbench.collection.Policy"
            )
        return kind

    return register

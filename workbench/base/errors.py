"""The one exception for bad input that a user can mend."""


class InputError(ValueError):
    """Bad input. One line names the field, the row or index, and how to mend it.

    Commands print the message and leave with exit code 2.

    Examples
    --------
    >>> from workbench.base.errors import InputError
    >>> from crowd_models import requirement
    >>> try:
    ...     requirement(1.5)
    ... except InputError as error:
    ...     print(error)
    epsilon is 1.5: the error must lie strictly between 0 and 1
    """

"""The one exception for input a user can mend."""


class InputError(ValueError):
    """Bad input, told in one line: the field, the row or index, and the mend.

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

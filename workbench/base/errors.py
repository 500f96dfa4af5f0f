"""The one exception for input a user can mend."""


class InputError(ValueError):
    """Bad input, told in one line: the field, the row or index, and the mend.

    Commands print the message and leave with exit code 2.
    """

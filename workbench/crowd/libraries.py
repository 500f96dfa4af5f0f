"""Frames of other libraries than pandas, brought to pandas where a user hands them in.

Polars (eager and lazy), pyarrow and whatever else narwhals knows. Narwhals is imported when such a
frame comes: who hands in paths or pandas does not pay for it. Nothing here needs pyarrow.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd

from workbench.base.errors import InputError

if TYPE_CHECKING:
    from narwhals import DataFrame
    from narwhals import Series as Column
    from narwhals.typing import IntoDataFrame, IntoLazyFrame, IntoSeries

Frame: TypeAlias = "pd.DataFrame | IntoDataFrame | IntoLazyFrame"
"""A frame of any library."""
Values: TypeAlias = "pd.Series[Any] | IntoSeries"
"""A Series of any library; only those of pandas name their values."""
PLAIN = frozenset({*sys.stdlib_module_names, "numpy", "pandas", "workbench", "crowd_models"})
"""Packages none of whose types is a frame that narwhals would have to know."""


def to_pandas(source: Any) -> Any:
    """Bring a frame of any library to pandas; all else is given back as it came.

    Parameters
    ----------
    source
        Whatever a user handed in.

    Returns
    -------
    A pandas frame for a frame (a lazy one is collected); the list of its values for a Series, which
    has no index to name them by, as that of pandas has.

    Raises
    ------
    InputError
        A frame that cannot be read, as a lazy one of a file that is not there.
    """
    if isinstance(source, (pd.DataFrame, pd.Series)):
        return source
    if type(source).__module__.partition(".")[0] in PLAIN:
        return source
    import narwhals.stable.v2 as nw

    try:
        frame = nw.from_native(source, pass_through=True, allow_series=True)
        if frame is source:
            return source
        whole = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        return _frame(whole) if isinstance(whole, nw.DataFrame) else _column(whole).tolist()
    except Exception as error:  # each library has exceptions of its own
        reason = str(error).strip().partition("\n")[0]
        raise InputError(
            f"a {type(source).__name__} that cannot be read ({type(error).__name__}: {reason}); "
            "mend it, or hand in a frame of pandas"
        ) from None


def keyed(values: Any, key: str) -> Any:
    """Take values by task or worker, from a Series, a mapping, or a frame with a column of names.

    Parameters
    ----------
    values
        Whatever a user handed in, of any library.
    key
        The column with the names.

    Returns
    -------
    Of a frame with such a column: names alone as a list, one value each as a Series, several as a
    frame by name. All else as `to_pandas` gives it.
    """
    source = to_pandas(values)
    if not isinstance(source, pd.DataFrame) or key not in source:
        return source
    by_name = source.set_index(key)
    if by_name.shape[1] == 0:
        return by_name.index.tolist()
    return by_name.iloc[:, 0] if by_name.shape[1] == 1 else by_name


def _frame(frame: DataFrame[Any]) -> pd.DataFrame:
    names = frame.columns
    columns = dict(enumerate(map(_column, frame.iter_columns())))
    return pd.DataFrame(columns, index=range(len(frame))).set_axis(names, axis=1)


def _column(values: Column[Any]) -> pd.Series[Any]:
    """Copy a column; whole numbers and truth values stay so beside missing ones."""
    kind, name = values.dtype, str(values.dtype)
    whole = kind.is_integer() or name == "Boolean"
    if kind.is_temporal() or kind.is_float() or (whole and not values.null_count()):
        return pd.Series(values.to_numpy())
    texts = name in ("String", "Categorical") or name.startswith("Enum")
    return pd.Series(values.to_list(), dtype=None if texts else object)

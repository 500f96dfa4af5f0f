"""What every picture must hold: whole marks, whole numbers, nothing on top of each other."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg


def _drawn(figure):
    """Lay the picture out, as drawing it would."""
    canvas = FigureCanvasAgg(figure.figure)  # of a part, the whole
    figure.figure.draw_without_rendering()
    return canvas.get_renderer()


def _marks(axes):
    """Places and half widths and heights of marks, in pixels."""
    pixels = axes.figure.dpi / 72
    for line in axes.lines:
        marker, reach = line.get_marker(), line.get_markersize() / 2 * pixels
        if marker in ("None", None, "", " ") or not line.get_clip_on():
            continue
        wide, high = reach * (marker not in ("|", 2, 3)), reach * (marker not in ("_", 0, 1))
        for place in line.get_transform().transform(line.get_xydata()):
            yield place, wide, high
    for cloud in axes.collections:
        if len(cloud.get_offsets()) and hasattr(cloud, "get_sizes") and len(cloud.get_sizes()):
            places = cloud.get_offset_transform().transform(cloud.get_offsets())
            sizes = np.resize(cloud.get_sizes(), len(places))
            for place, size in zip(places, sizes, strict=True):
                yield place, np.sqrt(size) / 2 * pixels, np.sqrt(size) / 2 * pixels


def assert_marks_are_whole(*panels):
    _drawn(panels[0].figure)
    for axes in panels:
        box, seen = axes.bbox, 0
        for (x, y), wide, high in _marks(axes):
            if np.isfinite([x, y]).all():
                seen += 1
                assert box.x0 - 0.5 <= x - wide <= x + wide <= box.x1 + 0.5, axes.get_ylabel()
                assert box.y0 - 0.5 <= y - high <= y + high <= box.y1 + 0.5, axes.get_ylabel()
        assert seen, f"no marks: {axes.get_ylabel()}"


def _seen(axis):
    """Labels of the ticks within the panel."""
    low, high = sorted(axis.get_view_interval())
    return [
        tick.label1
        for tick in axis.get_major_ticks()
        if low <= tick.get_loc() <= high and tick.label1.get_visible() and tick.label1.get_text()
    ]


def ticks(axis):
    """What the ticks say."""
    _drawn(axis.axes.figure)
    return [label.get_text() for label in _seen(axis)]


def assert_whole_numbers(axis):
    told = [text.replace("−", "-") for text in ticks(axis)]
    assert told
    assert all(float(text) == int(float(text)) for text in told), told


def assert_nothing_overlaps(figure):
    """Texts and legends neither cross each other nor leave the picture."""
    renderer = _drawn(figure)
    boxes = {}
    for number, axes in enumerate(figure.axes):
        for axis in (axes.xaxis, axes.yaxis):
            for label in _seen(axis):
                boxes[number, axis.axis_name, label.get_text()] = label
            if axis.label.get_text():
                boxes[number, axis.axis_name, "label"] = axis.label
        boxes.update({(number, "text", k): text for k, text in enumerate(axes.texts)})
        if axes.get_legend():
            boxes[number, "legend"] = axes.get_legend()
    boxes.update({("legend", k): one for k, one in enumerate(figure.legends)})
    if figure.get_suptitle():
        boxes["title"] = figure._suptitle
    extents = {name: one.get_window_extent(renderer) for name, one in boxes.items()}
    for name, box in extents.items():
        assert box.x0 >= -1, name
        assert box.y0 >= -1, name
        assert box.x1 <= figure.bbox.x1 + 1, name
        assert box.y1 <= figure.bbox.y1 + 1, name
    for (one, a), (other, b) in combinations(extents.items(), 2):
        over = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert min(over) < 1, (one, other)
    assert min(min(axes.bbox.width, axes.bbox.height) for axes in figure.axes) > 100

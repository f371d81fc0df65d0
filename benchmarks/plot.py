"""The plot: how far each target is, and how the time grows with the output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from figures import WHOLE, Growth, Target

__all__ = ["plot"]

_GREY = "#7d8590"
"""Reads on white and on black: the background is whatever is behind the plot."""
_MET, _MISSED, _LINE = "#2f9e6e", "#d9822b", "#3b8eea"


def plot(path: Path, targets: Sequence[Target], grown: Sequence[Growth]) -> None:
    """Draw what was measured, as SVG or whatever the name of the file says."""
    with mpl.rc_context():
        mpl.rcParams.update(
            {"svg.fonttype": "none", "svg.hashsalt": "llama3-tools", "font.size": 9, "text.color": _GREY}
        )
        mpl.rcParams.update({"axes.labelcolor": _GREY, "axes.edgecolor": _GREY})
        mpl.rcParams.update({"xtick.color": _GREY, "ytick.color": _GREY})
        figure = Figure(figsize=(11, 5), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(1, 1))
        _draw_targets(left, targets)
        _draw_growth(right, grown)
        metadata = {"Date": None} if path.suffix == ".svg" else {}
        figure.savefig(path, transparent=True, metadata=metadata)


def _draw_targets(axes: Axes, targets: Sequence[Target]) -> None:
    names = [one.name.replace("`", "") for one in targets]
    axes.barh(names, [one.share for one in targets], color=[_MET if one.share <= 1 else _MISSED for one in targets])
    for place, one in enumerate(targets):
        axes.text(max(one.share, 1.0), place, f"  {one.measured:.2g} of {one.target:.2g} {one.unit}", va="center")
    axes.axvline(1, color=_GREY, linewidth=1, linestyle="--")
    axes.set_xlim(0, max([1.0, *(one.share for one in targets)]) * 1.6)
    axes.invert_yaxis()
    axes.set_xlabel("measured, by its target")
    axes.spines[["top", "right"]].set_visible(False)


def _draw_growth(axes: Axes, grown: Sequence[Growth]) -> None:
    for one in grown:
        for chunk, colour in ((WHOLE, _MET), (4, _LINE)):
            if chunk in one.seconds:
                axes.loglog(one.sizes[chunk], one.seconds[chunk], color=colour, linewidth=0.8, alpha=0.6)
    axes.set_xlabel("characters")
    axes.set_ylabel("seconds")
    axes.plot([], [], color=_MET, label="whole")
    axes.plot([], [], color=_LINE, label="by 4 characters")
    if grown:
        left, right = axes.get_xlim()
        bottom, _ = axes.get_ylim()
        axes.plot([left, right], [bottom, bottom * right / left], color=_GREY, linestyle="--", label="linear")
    axes.legend(frameon=False, labelcolor=_GREY)
    axes.spines[["top", "right"]].set_visible(False)

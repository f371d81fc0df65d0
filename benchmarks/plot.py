"""The plot: how far each target is, and how the time grows with the output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from figures import WHOLE, Growth, Ratio

__all__ = ["plot"]

_GREY = "#7d8590"
"""Reads on white and on black: the background is whatever is behind the plot."""
_MET, _MISSED, _LINE = "#2f9e6e", "#d9822b", "#3b8eea"


def plot(path: Path, ratios: Sequence[Ratio], grown: Sequence[Growth]) -> None:
    """Draw what was measured, as SVG or whatever the name of the file says."""
    with mpl.rc_context():
        mpl.rcParams.update(
            {"svg.fonttype": "none", "svg.hashsalt": "llama3-tools", "font.size": 9, "text.color": _GREY}
        )
        mpl.rcParams.update({"axes.labelcolor": _GREY, "axes.edgecolor": _GREY})
        mpl.rcParams.update({"xtick.color": _GREY, "ytick.color": _GREY})
        figure = Figure(figsize=(9, 4), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(1, 1))
        _draw_ratios(left, [one for one in ratios if one.target is not None])
        _draw_growth(right, grown)
        metadata = {"Date": None} if path.suffix == ".svg" else {}
        figure.savefig(path, transparent=True, metadata=metadata)


def _draw_ratios(axes: Axes, ratios: Sequence[Ratio]) -> None:
    shares = [one.ratio / (one.target or 1) for one in ratios]
    names = [one.name for one in ratios]
    axes.barh(names, shares, color=[_MET if share <= 1 else _MISSED for share in shares], height=0.6)
    for place, (one, share) in enumerate(zip(ratios, shares, strict=True)):
        axes.text(max(share, 1.0), place, f"  {one.ratio:.1f}, target {one.target:.1f}", va="center")
    axes.axvline(1, color=_GREY, linewidth=1, linestyle="--")
    axes.set_xlim(0, max([1.0, *shares]) * 1.6)
    axes.invert_yaxis()
    axes.set_xlabel("ratio to the floor, by its target")
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

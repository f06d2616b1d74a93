"""Saves the figures of a report page as image files, drawn by vl-convert (``pip install 'tamis[figures]'``)."""

import html
import json
import math
import os
import re
from pathlib import Path

FORMATS = ("svg", "png")

# As on the page in light mode (tamis/report/assets/report.js, tamis/report/assets/report.css).
_COLORS = ("#1f5fa8", "#c2570c", "#2c7a3f", "#8e3fa0", "#c0282d", "#7d5a3c", "#0f7f92", "#c0488a", "#77750f")
_CONTROL, _INK, _SOFT, _GRID, _LINE = "#6b7480", "#1c2430", "#56606e", "#e9ecf1", "#d9dee5"
_RAMP = ["#f2f5f9", "#9dbfe0", "#3f7fbf", "#0d3768"]
_WIDTH, _PANEL_WIDTH, _PANELS_A_ROW = 720, 240, 3
_CONFIG = {
    "background": "white",
    "view": {"stroke": None},
    "title": {"color": _INK, "anchor": "start", "fontSize": 14, "offset": 12},
    "axis": {"labelColor": _SOFT, "titleColor": _SOFT, "titleFontWeight": "normal", "gridColor": _GRID,
             "domainColor": _LINE, "tickColor": _LINE, "labelLimit": 130, "titlePadding": 8},
    "axisX": {"grid": False},
    "axisQuantitative": {"tickCount": 5},
    "header": {"labelColor": _INK, "labelFontSize": 12, "labelFontWeight": 600},
    "legend": {"labelColor": _SOFT, "titleColor": _SOFT, "titleFontWeight": "normal", "labelLimit": 260},
    "line": {"color": _COLORS[0], "strokeWidth": 2},
    "point": {"color": _COLORS[0], "filled": True, "size": 36},
    "area": {"color": _COLORS[0]},
    "bar": {"color": _COLORS[0]},
    "rule": {"color": _SOFT},
    "text": {"color": _INK},
    "style": {"whisker": {"color": _INK, "strokeWidth": 1.5},
              "halo": {"stroke": "white", "strokeWidth": 4, "strokeJoin": "round"}},
    "range": {"category": list(_COLORS), "heatmap": _RAMP, "ramp": _RAMP},
}  # fmt: skip


def require_drawing(format):
    """The drawing module, or an ImportError that says how to install it."""
    if format not in FORMATS:
        raise ValueError(f"figures = {format!r}, need {' or '.join(FORMATS)}")
    try:
        import vl_convert
    except ImportError:
        raise ImportError(f"figures = {format}: needs vl-convert-python: pip install 'tamis[figures]'") from None
    return vl_convert


def save_figures(page, folder, format="svg"):
    """Save every figure of a report page (from ``-o DIR``) as ``figure-1.svg``, ``figure-2.svg``, ... in a folder.

    Parameters
    ----------
    page : path
        ``report.html`` of ``tamis select``, ``compare``, ``reproduce`` or ``demo``.
    folder : path
        Created if missing; files with these names are overwritten.
    format : {"svg", "png"}, default="svg"

    Returns
    -------
    list of pathlib.Path
    """
    drawing = require_drawing(format)
    figures = _figures(Path(page))
    Path(folder).mkdir(parents=True, exist_ok=True)
    return [_save(drawing, spec, Path(folder) / f"figure-{i}.{format}") for i, spec in enumerate(figures, 1)]


def _figures(page):
    """The figures of the page, in a form that can be drawn without its script."""
    text = page.read_text(encoding="utf-8")
    # Names from the data are always escaped, so they cannot look like these elements.
    found = re.search(r'<script type="application/json" id="figures">(.*?)</script>', text, re.S)
    if found is None:
        raise ValueError(f"{page}: not a tamis report page, need a report.html")
    titles = dict(re.findall(r'<figure[^>]* id="figure-(\d+)"><h3>(.*?)</h3>', text))
    specs = json.loads(found.group(1))
    return [_static(spec, html.unescape(titles.get(str(i), ""))) for i, spec in enumerate(specs, 1)]


def _static(spec, title):
    meta = spec.pop("usermeta", {})
    if title:
        spec["title"] = title
    _set_size(spec, meta)
    series = meta.get("series", [])
    if len(series) > 1:
        _show_legend(spec, _series_colors(series), bars=series[0]["bar"])
    return spec


def _set_size(spec, meta):
    inner, width = spec, min(_WIDTH, meta.get("widest", _WIDTH))
    if "facet" in spec:
        rows = math.ceil(meta["panels"] / _PANELS_A_ROW)
        spec["columns"] = math.ceil(meta["panels"] / rows)
        inner, width = spec["spec"], _PANEL_WIDTH
    inner["width"] = width
    if "aspect" in meta:
        inner["height"] = max(60, round(min(width, meta["widest"]) * meta["aspect"]))
    else:
        inner["height"] = 170 if inner is not spec else meta.get("height", 260)


def _series_colors(series):
    own = iter(_COLORS * len(series))
    return [_CONTROL if one["control"] else next(own) for one in series]


def _show_legend(spec, colors, *, bars):
    """The page uses buttons as a legend; an image uses Vega's own legend."""
    inner = spec.get("spec", spec)
    symbol = "square" if bars else "stroke" if "layer" in inner else "circle"
    for layer in inner.get("layer", [inner]):  # points stand in no layer
        for channel in ("color", "strokeDash"):
            encoding = layer.get("encoding", {}).get(channel, {})
            if encoding.get("field") != "s":
                continue
            encoding["legend"] = {"title": None, "labelExpr": "names[datum.value]", "orient": "top",
                                  "symbolType": symbol, "symbolOpacity": 1,
                                  "symbolSize": 500 if symbol == "stroke" else 100}  # fmt: skip
            if channel == "color":
                encoding["scale"]["range"] = colors


def _save(drawing, spec, path):
    common = {"vl_version": "6.4", "config": _CONFIG, "allowed_base_urls": []}  # nothing is fetched
    if path.suffix == ".png":
        picture = drawing.vegalite_to_png(spec, scale=2, **common)
    else:
        picture = drawing.vegalite_to_svg(spec, **common).encode()
    whole = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        whole.write_bytes(picture)
        whole.replace(path)
    finally:
        whole.unlink(missing_ok=True)
    return path

"""Passes tables from Python's readers to the core, and the core's pages to the drawing module. Imports lazily."""

import os
from types import SimpleNamespace


def read_for_core(path, **options):
    """`Parts` of a file whose format the core does not read, with their numbers as the core accepts them."""
    from ._core_data import core_data
    from ._readers import read_foreign

    parts = read_foreign(os.fsdecode(path), **options)
    return SimpleNamespace(
        data=core_data(parts.X),
        names=parts.names,
        row_ids=parts.row_ids,
        labels=parts.labels,
        label_choices=parts.label_choices,
        excluded_columns=parts.excluded_columns,
        format=parts.format,
    )


def save_for_core(folder, format):
    """Saves the figures of `folder`/report.html as images; with an empty folder name, only checks that they can be drawn."""
    from . import _figures

    if not folder:
        _figures.require_drawing(format)
        return
    path = os.fsdecode(folder)
    _figures.save_figures(os.path.join(path, "report.html"), os.path.join(path, "figures"), format)

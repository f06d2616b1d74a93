"""Hands what Python's readers read to the core, and the core's pages to what draws. Loads nothing until it is needed."""

import os
from types import SimpleNamespace


def read_for_core(path, **options):
    """`Parts` of a file whose format the core does not read, with their numbers as the core takes them."""
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
    """The figures of `folder`/report.html as pictures; of an empty folder only what would keep them from being drawn."""
    from . import _figures

    if not folder:
        _figures.require_drawing(format)
        return
    path = os.fsdecode(folder)
    _figures.save_figures(os.path.join(path, "report.html"), os.path.join(path, "figures"), format)

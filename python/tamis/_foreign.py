"""Passes tables from Python's readers to the core, and the core's pages to the drawing module. Imports lazily."""

import os


class _OpenedForCore:
    """A file whose format the core does not read, with its numbers as the core accepts them."""

    def __init__(self, opened):
        self._opened = opened

    @property
    def rows(self):
        return self._opened.rows

    def load(self):
        from ._surroundings import require_packages

        require_packages()
        from ._core_data import core_data

        parts = self._opened.load()
        parts.X = core_data(parts.X)
        return parts

    def leave_on_disk(self, sink):
        return self._opened.leave_on_disk(sink)


def open_for_core(path, **options):
    from ._readers import open_foreign
    from ._readers.packed import Packed

    opened = open_foreign(os.fsdecode(path), whole_process=True, **options)
    return opened if isinstance(opened, Packed) else _OpenedForCore(opened)


def save_for_core(folder, format):
    """Saves the figures of `folder`/report.html as images; with an empty folder name, only checks that they can be drawn."""
    from . import _figures

    if not folder:
        _figures.require_drawing(format)
        return
    path = os.fsdecode(folder)
    _figures.save_figures(os.path.join(path, "report.html"), os.path.join(path, "figures"), format)

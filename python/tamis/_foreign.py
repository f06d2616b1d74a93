"""Hands what Python's readers read to the core, and the core's pages to what draws. Loads nothing until it is needed."""

import os


class _OpenedForCore:
    """A file whose format the core does not read, its numbers as the core takes them."""

    def __init__(self, opened):
        self._opened = opened

    @property
    def rows(self):
        return self._opened.rows

    def load(self):
        from ._core_data import core_data

        parts = self._opened.load()
        parts.X = core_data(parts.X)
        return parts

    def leave_on_disk(self, sink):
        return self._opened.leave_on_disk(sink)


def open_for_core(path, **options):
    from ._readers import open_foreign

    return _OpenedForCore(open_foreign(os.fsdecode(path), whole_process=True, **options))


def save_for_core(folder, format):
    """The figures of `folder`/report.html as pictures; of an empty folder only what would keep them from being drawn."""
    from . import _figures

    if not folder:
        _figures.require_drawing(format)
        return
    path = os.fsdecode(folder)
    _figures.save_figures(os.path.join(path, "report.html"), os.path.join(path, "figures"), format)

"""Published formats in and out: InductiveQE, BetaE, Query2Box and plain arrays."""

from unseen.datasets.published.exchange import FORMATS, export_dataset, import_dataset, is_published

__all__ = ["FORMATS", "export_dataset", "import_dataset", "is_published"]

"""A hook of mkdocs: links to files outside `docs/` become their path in the repository.

Such links work where the pages are read beside the code, but lead nowhere on the site.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

LOG = logging.getLogger("mkdocs.hooks.site_links")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s:]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """The page with its outside links replaced; a link to a file that does not exist is a warning."""
    documents = Path(config.docs_dir).resolve()
    folder = (documents / page.file.src_uri).parent

    def replaced(match: re.Match[str]) -> str:
        target = (folder / match[2]).resolve()
        if target.is_relative_to(documents):
            return match[0]
        if not target.exists():
            LOG.warning("%s links to %s, which does not exist", page.file.src_uri, match[2])
        return f"{match[1]} (`{target.relative_to(documents.parent)}`)"

    return LINK.sub(replaced, markdown)

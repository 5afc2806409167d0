# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx configuration of the documentation site; ci/docs.sh builds it. The pages are the Markdown files of docs/."""
import os

project = "ZipMPI"
author = "the ZipMPI authors"
copyright = "2026, the ZipMPI authors"
release = os.environ["ZIPMPI_VERSION"]
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
myst_heading_anchors = 4
html_theme = "sphinx_rtd_theme"
html_theme_options = {"navigation_depth": 3, "collapse_navigation": False}
html_copy_source = False
html_show_sourcelink = False

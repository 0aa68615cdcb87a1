# SPDX-License-Identifier: Apache-2.0
"""How Sphinx builds the pages that pages.py gathers. Every warning is an error: scripts/site.sh."""

project = "Causeway"
author = "The Causeway project"
extensions = ["myst_parser"]
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block"]
html_static_path = ["custom.css", "copy.js"]
html_css_files = ["custom.css"]
html_js_files = ["copy.js"]
nitpicky = True
smartquotes = False  # which would join the dashes of options
html_theme = "furo"
html_title = "Causeway"
html_show_copyright = False
# Listings elide with dots that no lexer knows.
suppress_warnings = ["misc.highlighting_failure"]

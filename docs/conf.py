"""How Sphinx builds the site. `docs/build` is the command; `_site/` makes pages of the code.

Nothing is fetched: there is no intersphinx, and what the theme needs is in its package.
"""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from _site import api, links, methods, pages, promises, support  # noqa: E402

import semisift  # noqa: E402

project = "semisift"
author = "The semisift developers"
copyright = author
version = release = semisift.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_site", "**/README.txt", "auto_examples/**/*.ipynb"]
templates_path: list[str] = []
nitpicky = True

# --- Markdown -------------------------------------------------------------------------------------
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 4
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}

# --- docstrings -----------------------------------------------------------------------------------
autodoc_typehints = "none"  # the docstrings tell the types
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
autosummary_generate = False  # _site/api.py does, and knows which names are public
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
default_role = "literal"

# --- the gallery ----------------------------------------------------------------------------------
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "min_reported_time": 1e9,  # times would differ from build to build
    "write_computation_times": False,
    "show_signature": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "abort_on_example_error": False,
    "reset_modules_order": "both",
    "within_subsection_order": "FileNameSortKey",
    "subsection_order": [
        f"../examples/{part}"
        for part in ("start", "trust", "studies", "methods", "scale")
        if (HERE.parent / "examples" / part).exists()
    ]
    + ["*"],
    "parallel": int(os.environ.get("DOCS_JOBS") or os.cpu_count() or 1),
}
suppress_warnings = ["config.cache"]

# --- how it looks ---------------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = "semisift"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
html_theme_options = {
    "logo": {"text": "semisift"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_nav_level": 1,
    "navigation_depth": 3,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def setup(app):
    """Write the pages that follow from the code, and mend links while sources are read."""
    for make in (pages.make, support.make, promises.make, methods.make, api.make):
        make(HERE)
    app.connect("source-read", links.read_source)
    app.connect("autodoc-process-docstring", api.link_names, priority=600)
    app.connect("env-get-outdated", lambda *_: ["results/README"])  # lists what is beside it
    return {"parallel_read_safe": True}

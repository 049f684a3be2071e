"""The Sphinx site: `make docs` builds it into docs/_build. Its pages are Markdown, the reference is the docstrings."""

from importlib.metadata import version as version_of
from pathlib import Path

from docutils import nodes

project = "frame_pr"
author = "The frame_pr developers"
project_copyright = author
version = release = version_of("frame_pr")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
nitpicky = True
# `single backticks` in a docstring link where they name something of ours, and are code everywhere else.
default_role = "py:obj"
nitpick_ignore_regex = [("py:obj", r"(?s)(?!frame_pr\.).*")]

# Headings get the anchors that a forge gives them, which links in the pages rely on.
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

# The signature names the parameters, the table below it says what they are.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False

# An example ends with the empty line that its test needs.
highlight_options = {language: {"stripnl": True} for language in ("python", "pycon")}

# Copies what was typed: no prompts, no output.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# The theme of the polars, pandas, NumPy and scikit-learn references: its readers know their way about.
html_theme = "pydata_sphinx_theme"
html_title = f"frame_pr {release}"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is
html_copy_source = False
html_sidebars = {"tutorial": []}  # a section of one page
html_theme_options = {
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}


def setup(app):
    """Methods of `.pr` are functions with the frame filled in: point to the function, do not repeat it."""
    app.connect("autodoc-process-docstring", _refer_to_function, priority=100)  # before numpydoc
    app.connect("doctree-read", _light_and_dark, priority=100)  # before Sphinx collects the pictures


def _refer_to_function(_app, _what, name, _object, _options, lines):
    if name.startswith("frame_pr.PR."):
        lines[1:] = ["", f"Parameters and result: :func:`frame_pr.{name.rpartition('.')[2]}`, its frame filled in."]


def _light_and_dark(app, doctree):
    """Of a picture `x.svg` with an `x-dark.svg` each is shown where it fits, and in full size by a click."""
    page = Path(app.env.docname)
    for image in list(doctree.findall(nodes.image)):
        own = Path(image["uri"])
        dark = own.with_stem(f"{own.stem}-dark")
        if own.suffix != ".svg" or not Path(app.srcdir, page.parent, dark).exists():
            continue
        pair = []
        for path, scheme in ((own, "only-light"), (dark, "only-dark")):
            shown = image.deepcopy()
            shown["uri"] = path.as_posix()
            shown["classes"].append(scheme)
            if not isinstance(image.parent, nodes.reference):  # a thumbnail leads elsewhere
                whole = "../" * (len(page.parts) - 1) + f"_images/{path.name}"
                shown = nodes.reference("", "", shown, refuri=whole, classes=[scheme])
            pair.append(shown)
        image.replace_self(pair)

"""The Sphinx site: `dev.py docs` builds it into docs/_build.

Its pages are Markdown, and the reference is made from the docstrings.
"""

import re
import struct
import sys
import warnings
from contextlib import redirect_stdout
from doctest import DocTestParser
from html import escape
from importlib.metadata import version as version_of
from io import StringIO
from pathlib import Path
from textwrap import shorten

sys.path.insert(0, str(Path(__file__).parent))
from search_words import SearchWords

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
    "sphinx_design",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
nitpicky = True
# `single backticks` in a docstring link where they name something of ours, and are code everywhere
# else.
default_role = "py:obj"
nitpick_ignore_regex = [("py:obj", r"(?s)(?!frame_pr\.).*")]

# Headings get the anchors that a forge gives them, which links in the pages rely on.
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "dollarmath"]
# Formulas are MathML, which browsers draw by themselves: no script, and none of another site. A
# forge reads the same fences.
myst_fence_as_directive = ["math"]
html_math_renderer = "mathml"
# The signature names the parameters, the table below it says what they are.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
# The functions of frame_pr.spark and frame_pr.dask are those of frame_pr.
autosummary_ignore_module_all = False
autosummary_imported_members = True
html_domain_indices = False  # of modules there are two
# The methods of `.pr` stand under the headings of the reference.
REFERENCE = [
    (section.split("\n")[0], re.findall(r"(?m)^   (\w+)$", section))
    for section in Path(__file__)
    .with_name("reference.md")
    .read_text(encoding="utf-8")
    .split("\n## ")[1:]
]
autosummary_context = {"reference": REFERENCE}

# An example ends with the empty line that its test needs.
highlight_options = {language: {"stripnl": True} for language in ("python", "pycon")}

# Copies what was typed: no prompts, no output.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# The theme of the polars, pandas, NumPy and scikit-learn references: its readers know their way
# about.
html_theme = "pydata_sphinx_theme"
html_title = f"frame_pr {release}"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_js_files = ["slider.js"]
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is
html_copy_source = False
html_favicon = html_logo = "_static/logo.svg"
html_last_updated_fmt = "%Y-%m-%d"
html_search_scorer = str(Path(__file__).with_name("search.js"))
# The sections of one page need no list of pages.
html_sidebars = {page: [] for page in ("ten-minutes", "gallery", "glossary")}
html_theme_options = {
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright", "version"],
    "footer_end": ["last-updated"],
    "logo": {
        "text": project,
        "alt_text": "",
    },  # the version is in the footer: there is no room on a phone
}


def setup(app):
    """What Sphinx and the theme do not do by themselves."""
    app.add_search_language(SearchWords)
    app.add_html_math_renderer("mathml", (_write_formula, None), (_write_formula, None))
    app.connect("autodoc-process-docstring", _refer_to_function, priority=100)  # before numpydoc
    app.connect("autodoc-process-docstring", _list_options, priority=100)
    app.connect("autodoc-process-docstring", _describe_data, priority=100)
    app.connect("autodoc-process-docstring", _show_plot, priority=100)
    app.connect("builder-inited", _write_slider)
    app.connect("doctree-read", _index_words)
    app.connect("html-page-context", _describe)
    app.connect("html-page-context", _link_code)
    app.connect("build-finished", _list_pages)
    app.connect(
        "doctree-read", _light_and_dark, priority=100
    )  # before Sphinx collects the pictures


def _write_formula(translator, node):
    """Write a formula of TeX as MathML."""
    from docutils import nodes
    from docutils.utils.math import latex2mathml

    block = isinstance(node, nodes.math_block)
    formula = latex2mathml.tex2mathml(node.astext(), as_block=block)
    # A long formula scrolls on a phone, and what scrolls must be reached by keys.
    translator.body.append(
        f'<div class="formula" tabindex="0">{formula}</div>\n' if block else formula
    )
    raise nodes.SkipNode


def _refer_to_function(_app, _what, name, _object, _options, lines):
    """A method of `.pr` is a function with the frame filled in: point to it, do not repeat it."""
    if name.startswith("frame_pr.PR."):
        function = name.rpartition(".")[2]
        link = f":func:`frame_pr.{function}`, its frame filled in."
        lines[1:] = ["", f"Parameters and result: {link}"]


def _list_options(_app, what, name, _object, _options, lines):
    """List the options of `Options` that the function accepts, which its signature hides."""
    marker = next((row for row, line in enumerate(lines) if line == "**options"), None)
    if what != "function" or marker is None or "frame_pr.Options" not in " ".join(lines):
        return

    from numpydoc.docscrape import ClassDoc

    from frame_pr import Options

    end = marker + 1
    while end < len(lines) and lines[end]:
        end += 1

    refused = REFUSED.get(name.rpartition(".")[2], set())
    listed = []
    for option in ClassDoc(Options)["Parameters"]:
        if option.name not in refused:
            sentence = " ".join(option.desc).partition(". ")[0].rstrip(".")
            listed.append(f"    - `{option.name}` ({option.type}): {sentence}.")
    lines[end:end] = ["", *listed]


def _refused_options():
    """The options that a function refuses in all ways of calling it, from the page of options."""
    page = Path(__file__).with_name("options.md").read_text(encoding="utf-8")
    table = page.partition("<!-- functions -->")[2].partition("<!-- end of functions -->")[0]
    lines = table.strip().splitlines()

    refused = {}
    for line in lines[2:]:
        _, names, options, _ = line.split("|")
        in_line = set(re.findall(r"`(\w+)`", options))
        if options.count("ties=") == 4:  # each rule but the default
            in_line.add("ties")
        if "tie_break" in in_line:
            in_line |= {"tie_break_descending", "tie_break_as_text"}

        functions = re.findall(r"(?:^|, )`(\w+)`", names.strip())
        for function in functions:
            refused[function] = refused.get(function, in_line) & in_line
    return refused


REFUSED = _refused_options()


def _describe_data(_app, what, name, _object, _options, lines):
    """Describe a constant by the text below its definition, which is in a module of `frame_pr`."""
    if what == "data":
        from sphinx.pycode import ModuleAnalyzer

        described = ModuleAnalyzer.for_module("frame_pr.inputs.options").find_attr_docs()
        lines[:] = described.get(("", name.rpartition(".")[2]), lines)


PLOTS = {
    "plot": "textbook",
    "plot_intervals": "intervals",
    "plot_comparison": "comparison",
    "plot_gains": "gains",
    "plot_scores": "scores",
    "plot_confusion": "confusion",
}
"""A plot of the gallery for each function that draws."""


def _show_plot(_app, what, name, _object, _options, lines):
    """The page of a function that draws begins with a plot of the gallery."""
    plot = PLOTS.get(name.removeprefix("frame_pr."))
    if what == "function" and plot:
        gallery = Path(__file__).with_name("gallery.md").read_text(encoding="utf-8")
        alt = re.findall(rf"!\[(.*?)\]\(images/{plot}\.svg\)", gallery)[-1]
        image = ["", f".. image:: ../images/{plot}.svg", f"   :alt: {alt}"]
        lines[1:1] = [
            *image,
            "",
            "The :doc:`gallery </gallery>` has a plot for each option, with its code.",
        ]


def _names_of_examples(page, end):
    """The names that the examples of a page define, up to this text."""
    lines, names = Path(__file__).with_name(page).read_text(encoding="utf-8").partition(end)[0], {}
    with redirect_stdout(StringIO()):
        for example in DocTestParser().get_examples(lines):
            exec(example.source, names)
    return names


def _write_made(name, html):
    """Write HTML that a page includes."""
    place = Path(__file__).with_name("api") / name
    place.parent.mkdir(exist_ok=True)
    place.write_text(html, encoding="utf-8")


def _write_slider(_app):
    """The rows of the curve that `slider.js` draws, of ten images of the page of definitions."""
    images = _names_of_examples("metric-definitions.md", "## Precision and recall")["images"]
    curve = images.pr.curve("airplane", "score", rates=["fp", "fn", "f1"])
    rows = curve.select("threshold", "tp", "fp", "fn", "precision", "recall", "f1").write_json()
    _write_made(
        "slider.html", f'<div class="threshold-slider" data-curve="{escape(rows)}"></div>\n'
    )


def _index_words(app, doctree):
    """Index each name in a heading of the glossary. The search puts the index first."""
    from docutils import nodes  # here, as the tests read this file where Sphinx is not
    from sphinx import addnodes

    if app.env.docname == "glossary":
        for section in list(doctree.findall(nodes.section))[1:]:
            names = section[0].astext().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split(", ")
            section.insert(
                0,
                addnodes.index(
                    entries=[("single", name, section["ids"][0], "main", None) for name in names]
                ),
            )


DESCRIPTIONS = {}


def _describe(app, page, _template, context, doctree):
    """The first paragraph of a page says what it is, wherever a link to it is shown."""
    from docutils import nodes

    if page.startswith("api/"):
        context["theme_use_edit_page_button"] = (
            False  # made from a docstring, so there is no page to edit
        )
    paragraph = doctree and next(doctree.findall(nodes.paragraph), None)
    if not paragraph:
        return
    if page == "404":  # shown at any depth, so its links start from the root
        context["metatags"] += '<base href="/" />\n'
    if page == "index":
        context["title"] = "Ranking and classification metrics for polars and pandas"
    text = shorten(paragraph.astext(), 200, placeholder=" ...")
    DESCRIPTIONS[page] = context["title"], text
    tags = {
        "og:title": context["title"],
        "og:description": text,
        "og:type": "article",
        "og:site_name": project,
    }
    context["metatags"] += "".join(
        f'<meta property="{name}" content="{escape(tags[name])}" />\n' for name in tags
    )
    context["metatags"] += f'<meta name="description" content="{escape(text)}" />\n'
    context["metatags"] += '<meta name="twitter:card" content="summary" />\n'


CALL = (
    r'(<span class="n">(?:pr|fp|frame_pr)</span><span class="o">\.</span>)'
    r'(<span class="n">(\w+)</span>)'
)


def _link_code(app, page, _template, context, _doctree):
    """Link names of functions in code to their pages: `fp.curve`, and `run.pr.curve`."""
    public = {name for _, names in REFERENCE for name in names}

    def link(match):
        before, name, function = match.groups()
        target = f"api/frame_pr.{function}"
        if function not in public or page == target:
            return match[0]
        return f'{before}<a href="{app.builder.get_relative_uri(page, target)}">{name}</a>'

    if "body" in context:
        context["body"] = re.sub(CALL, link, context["body"])


def _list_pages(app, exception):
    """`llms.txt`: the pages in their order and the calls of the cheat sheet, for programs."""
    if exception:
        return
    lines = [f"# {project}", "", f"> {DESCRIPTIONS['index'][1]}", ""]
    for page in app.env.collect_relations():
        if page in DESCRIPTIONS and page != "index":
            title, text = DESCRIPTIONS[page]
            lines.append(f"- [{title}]({page}.html): {text}")
    lines += ["", "## Calls with their output", "", *_calls_with_output()]
    Path(app.outdir, "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _calls_with_output():
    """The frame of the cheat sheet, and each of its calls with what it returns."""
    import polars as pl

    page = Path(__file__).with_name("cheat-sheet.md").read_text(encoding="utf-8")
    names = _names_of_examples("cheat-sheet.md", "## Rankings")
    calls = re.findall(r"(?m)^\| (.*) \| `([^`]*)` \|$", page)
    config = pl.Config(
        tbl_formatting="ASCII_MARKDOWN",
        tbl_hide_column_data_types=True,
        tbl_hide_dataframe_shape=True,
        tbl_cols=-1,
        tbl_rows=10,
        tbl_width_chars=200,
    )
    with config, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # eight rows are few
        yield f"`run` is\n\n{names['run']}\n"
        for task, call in calls:
            yield f"{task}: `{call}`\n\n{eval(call, names)}\n"


SIZE = r'<svg[^>]*? width="([^"]+)" height="([^"]+)"'


def _pixels(length):
    """A length of an SVG in pixels, a whole number of them."""
    return str(round(float(length.removesuffix("pt")) * (4 / 3 if length.endswith("pt") else 1)))


def _light_and_dark(app, doctree):
    """Show `x.svg` in the light scheme and `x-dark.svg` in the dark one, in full size by a click.

    Pictures load when they are near the window, and those of the other colour scheme do not load at
    all. Width and height keep their place free until then.
    """
    from docutils import nodes

    page = Path(app.env.docname)
    for image in list(doctree.findall(nodes.image)):
        own = Path(image["uri"])
        if own.suffix == ".png" and (file := Path(app.srcdir, page.parent, own)).exists():
            image["loading"] = "lazy"
            # The header of a PNG begins with its width and height.
            image["width"], image["height"] = map(
                str, struct.unpack(">II", file.read_bytes()[16:24])
            )
        dark = own.with_stem(f"{own.stem}-dark")
        if own.suffix != ".svg" or not Path(app.srcdir, page.parent, dark).exists():
            continue
        pair = []
        for path, scheme in ((own, "only-light"), (dark, "only-dark")):
            shown = image.deepcopy()
            shown["uri"] = path.as_posix()
            shown["classes"].append(scheme)
            shown["loading"] = "lazy"
            drawing = Path(app.srcdir, page.parent, path).read_text(encoding="utf-8")
            shown["width"], shown["height"] = map(_pixels, re.search(SIZE, drawing).groups())
            if isinstance(
                image.parent, nodes.reference
            ):  # a thumbnail leads elsewhere, and its name stands below it
                shown["alt"] = ""
            else:
                whole = "../" * (len(page.parts) - 1) + f"_images/{path.name}"
                shown = nodes.reference("", "", shown, refuri=whole, classes=[scheme])
            pair.append(shown)
        image.replace_self(pair)

"""Sphinx's configuration for `tools/dev docs`, which calls it with a copy of the tree as its source."""

import inspect
import re
import sys
from pathlib import Path

from sphinx.pycode import ModuleAnalyzer
from sphinx.util import logging

ROOT = Path(__file__).resolve().parents[3]
SOURCE = ROOT / "build/docs-work/source"
HEADERS = ROOT / "liborc/include/orc"
log = logging.getLogger(__name__)

project = "ORC"
version = release = ".".join(
    re.findall(r"#define ORC_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", (HEADERS / "version.h").read_text(encoding="utf-8"))
)
language = "en"
root_doc = "README"
include_patterns = ["*.md", "api/**", "schemas/*.md", "liborc/doc/**.md", "tests/model/*.md"]
extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc"]
default_role = "code"  # `name`, as in Markdown
smartquotes = False

myst_heading_anchors = 4  # the anchors of GitHub

breathe_projects = {"orc": str(ROOT / "build/docs-work/xml")}
breathe_default_project = "orc"
breathe_show_include = False
suppress_warnings = ["duplicate_declaration.cpp"]  # each page has `namespace orc`
cpp_id_attributes = []

autodoc_typehints = "signature"
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"ORC {version}"
html_static_path = ["static"]
html_css_files = ["orc.css"]
html_extra_path = ["static/index.html"]
html_copy_source = False
html_show_copyright = False
toc_object_entries_show_parents = "hide"

# One page for each public header.
(SOURCE / "api/cpp").mkdir(parents=True, exist_ok=True)
for header in sorted(HEADERS.glob("*.h")):
    title = f"orc/{header.name}"
    (SOURCE / f"api/cpp/{header.stem}.rst").write_text(
        f"{title}\n{'=' * len(title)}\n\n.. doxygenfile:: orc/{header.name}\n", encoding="utf-8"
    )

CONTENTS = {
    "Guides": ["liborc/doc/guide/*"],
    "Reference": [
        "liborc/doc/contract", "api/cpp", "api/python",
        "schemas/PROTOCOL", "schemas/TRACE", "schemas/ZENOH", "schemas/LCM-TUNNEL",
    ],
    "How it works": ["liborc/doc/design/README", "liborc/doc/design/*", "tests/model/README"],
    "Project": ["CONTRIBUTING", "SECURITY", "CHANGELOG"],
}


def add_contents(app, page, source):
    """The first page is README.md, which has no table of contents for Sphinx."""
    if page != root_doc:
        return
    for caption, pages in CONTENTS.items():
        there = [each for each in pages if list(SOURCE.glob(f"{each}.md")) or list(SOURCE.glob(f"{each}.rst"))]
        source[0] += f"\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {caption}\n" + "\n".join(there) + "\n```\n"


def prepare_docstring(app, what, name, object, options, lines):
    """Every public name has a docstring. Its lines `option: meaning` become a list, its indented blocks code."""
    if not any(lines):
        log.warning("%s %s has no docstring", what, name)
    plain, lines[:] = lines[:], []
    inside = None  # of a paragraph: a list or code
    for line in plain:
        indented = line.startswith("    ")
        if inside == "code" and (indented or not line):
            lines.append(line)
            continue
        line = line.replace("*", r"\*")
        option = re.match(r"([a-z_]+(?:, [a-z_]+)*): ", line)
        if not line or inside == "code":
            inside = None
        elif option:
            inside = "list"
            line = f"- ``{option[1]}``: {line[option.end() :]}"
        elif inside == "list":
            line = f"  {line.strip()}"
        elif inside is None and indented:
            inside = "code"
            lines += [".. code-block:: python", ""]
        lines.append(line)


def adopt_stub():
    """The functions of the extension have no signature for Python. Its stub has."""
    from orc import _native

    stub = {}
    code = Path(_native.__file__).with_name("_native.pyi").read_text(encoding="utf-8")
    exec(compile(f"from __future__ import annotations\n{code}", "_native.pyi", "exec"), stub)
    for name, kind in stub.items():
        native = getattr(_native, name, None)
        for function in filter(inspect.isfunction, vars(kind).values() if inspect.isclass(native) else ()):
            if not function.__name__.startswith("_"):
                described = getattr(native, function.__name__).__doc__ or ""
                function.__doc__ = described.partition("\n\n")[2]  # without the line of the signature
                setattr(native, function.__name__, function)


def adopt_errors():
    """Errors name orc as their module, for tracebacks. Their docstrings are in the module that defines them."""
    import orc

    for module in [each for name, each in sys.modules.items() if name.startswith(f"{orc.__name__}._")]:
        if module.__name__.endswith("errors"):
            for each in filter(inspect.isclass, vars(module).values()):
                if each.__module__ == orc.__name__:
                    each.__module__ = module.__name__


def find_missing(app, env):
    """Every name that the package exports is on its page. Every field has a docstring: autodoc does not
    call prepare_docstring for one that has none."""
    import orc

    there = {each[0].removeprefix("orc.") for each in env.get_domain("py").get_objects()}
    for name in set(orc.__all__) - there:
        log.warning("orc.%s is not in tools/dev.d/docs/api/python.rst", name)
    for kind in filter(inspect.isclass, map(vars(orc).get, orc.__all__)):
        for field in vars(kind).get("__annotations__", ()):
            described = ModuleAnalyzer.for_module(kind.__module__).find_attr_docs()
            if not field.startswith("_") and (kind.__qualname__, field) not in described:
                log.warning("orc.%s.%s has no docstring", kind.__qualname__, field)


def setup(app):
    adopt_stub()
    adopt_errors()
    app.connect("source-read", add_contents)
    app.connect("autodoc-process-docstring", prepare_docstring)
    app.connect("env-check-consistency", find_missing)

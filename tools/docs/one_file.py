"""The whole documentation as one HTML file without anything outside: to be saved, printed, and searched by the browser."""

import base64
import html
import re
from pathlib import Path

import markdown

DOCS = Path(__file__).resolve().parents[2] / "docs"
STYLE = """
:root { color-scheme: light dark; --ink: #1d2528; --paper: #fdfdfc; --soft: #f0f2f1; --line: #d5dad8; --link: #00695c; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #dde3e1; --paper: #15191a; --soft: #202627; --line: #39413f; --link: #4db6ac; }
}
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
       max-width: 60rem; margin: 0 auto; padding: 1rem; overflow-wrap: break-word; }
a { color: var(--link); }
h1 { border-top: 2px solid var(--line); padding-top: 2rem; margin-top: 3rem; }
pre, code { font-family: ui-monospace, monospace; font-size: .9em; background: var(--soft); border-radius: 3px; }
code { padding: .1em .25em; }
pre { padding: .8em; overflow-x: auto; }
pre code { padding: 0; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
td, th { border: 1px solid var(--line); padding: .3em .6em; text-align: left; vertical-align: top; }
nav ul { columns: 2; }
img { max-width: 100%; }
"""


def anchor(page, fragment=""):
    return re.sub(r"\W+", "-", page.removesuffix(".md")) + (f"--{fragment}" if fragment else "")


def rewrite_links(text, page, pages):
    """Links between pages become links within the file."""
    folder = page.rpartition("/")[0]

    def replace(match):
        target, _, fragment = match.group(1).partition("#")
        path = target if not folder else f"{folder}/{target}"
        while "../" in path:
            path = re.sub(r"(?:^|[^/]+/)\.\./", "", path, count=1)
        if target == "":
            return f'href="#{anchor(page, fragment)}"'
        return f'href="#{anchor(path, fragment)}"' if path in pages else match.group(0)

    return re.sub(r'href="((?!https?:|mailto:)[^"]*)"', replace, text)


def with_pictures(text, folder):
    """Pictures become part of the file."""
    def replace(match):
        data = base64.b64encode((folder / match.group(1)).read_bytes()).decode()
        return f'src="data:image/png;base64,{data}"'

    return re.sub(r'src="([\w/-]+\.png)"', replace, text)


def render(page, text, pages):
    converter = markdown.Markdown(extensions=["tables", "toc", "pymdownx.superfences", "pymdownx.tabbed"],
                                  extension_configs={"pymdownx.superfences": {"css_class": "code"}})
    body = with_pictures(rewrite_links(converter.convert(text), page, pages), DOCS)
    body = re.sub(r'(<h\d) id="([^"]+)"', lambda m: f'{m.group(1)} id="{anchor(page, m.group(2))}"', body)
    return f'<section id="{anchor(page)}">\n{body}\n</section>'


def one_file(pages, version):
    """`pages`: {path: Markdown}, in the order of reading."""
    title = f"Tamis {version}: the whole documentation"
    names = {page: re.search(r"^# (.+)$", text, flags=re.M).group(1) for page, text in pages.items()}
    contents = "\n".join(f'<li><a href="#{anchor(page)}">{html.escape(name)}</a></li>' for page, name in names.items())
    body = "\n".join(render(page, text, pages) for page, text in pages.items())
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>\n'
            f"<body><h1>{html.escape(title)}</h1>\n<nav><ul>\n{contents}\n</ul></nav>\n{body}\n</body></html>\n")

"""MkDocs's hooks: they add the pages that are not files of docs/, and rewrite links."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from website import commands, live, notebooks, passes, reference
from website.links import OUTSIDE, linked

ROOT = Path(__file__).parents[1]
PICTURES = "examples/pictures"
WIDE = ("comparison.md", "ops.md", "legalizations.md")
"""Pages whose tables take the place of the table of contents, too."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the modules' pages below that which lists them."""
    assert config.nav is not None
    section = next(part["Reference"] for part in config.nav if "Reference" in part)
    page = section[0]["Public modules"]
    modules = [{name: f"reference/{name}.md"} for name in reference.MODULES]
    section[0] = {"Public modules": [page, *modules]}
    config.copyright = f"irax {version('irax')}"
    if repository := os.environ.get("GITHUB_REPOSITORY"):  # a workflow builds the site
        server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
        config.repo_url, config.repo_name = f"{server}/{repository}", repository
        config.edit_uri = "edit/main/docs/"
    return config


def on_pre_page(page: Page, config: MkDocsConfig, files: Files) -> Page:
    """Have the link that edits a page lead to its file; pages made from code have none."""
    here = page.file.src_uri
    source = next((s for s, name in OUTSIDE.items() if name == here), f"docs/{here}")
    if config.repo_url and (ROOT / source).exists():
        page.edit_url = f"{config.repo_url}/edit/main/{source}"
    else:
        page.edit_url = None
    return page


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not files of docs/."""
    for source, page in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text("utf-8")))
    for picture in sorted((ROOT / PICTURES).glob("*.png")):
        name = f"{PICTURES}/{picture.name}"
        files.append(File.generated(config, name, abs_src_path=str(picture)))
    files.append(File.generated(config, live.PAGE, content=live.page()))
    for name in notebooks.TUTORIALS:
        page = f"tutorials/{name}.ipynb"
        files.append(File.generated(config, page, content=notebooks.notebook(name)))
    for make in (reference.pages, commands.pages, passes.pages):
        for page, text in make().items():
            files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn the paths of the repository in links into those of the site. Offer notebooks."""
    here = page.file.src_uri
    if here in WIDE:
        page.meta["hide"] = ["toc"]
    if here == "index.md":  # the live page is as wide as it
        page.meta["hide"] = ["navigation", "toc"]
        markdown = live.framed(markdown)
    notebook = here.removesuffix(".md") + ".ipynb"
    if files.get_file_from_path(notebook) is not None:
        title, rest = markdown.split("\n", 1)
        offer = f"[This page as a notebook](../{notebook}){{ download }}"
        markdown = f"{title}\n\n{offer}\n{rest}"
    source = next((s for s, name in OUTSIDE.items() if name == here), f"docs/{here}")
    return linked(markdown, source, here, lambda name: files.get_file_from_path(name) is not None)

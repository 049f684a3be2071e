"""The README and the addresses of the package, from README.md and from `[tool.frame_pr]` of pyproject.toml."""

import re
import tomllib
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


class PackageMetadata(MetadataHookInterface):
    """What the build adds to the metadata that pyproject.toml states."""

    def update(self, metadata: dict) -> None:
        """Add the README, and the addresses if there are any."""
        root = Path(self.root)
        addresses = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["frame_pr"]
        text = readme((root / "README.md").read_text(encoding="utf-8"), addresses["repository"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        if urls := project_urls(**addresses):
            metadata["urls"] = urls


def project_urls(repository: str, documentation: str, **_: object) -> dict[str, str]:
    """The links that an index page shows."""
    urls = {"Documentation": documentation} if documentation else {}
    if repository:
        urls |= {
            "Source": repository,
            "Issues": f"{repository}/issues",
            "Changelog": f"{repository}/blob/main/CHANGELOG.md",
        }
    return urls


def readme(text: str, repository: str) -> str:
    """The README for an index page, from which relative links lead nowhere.

    Comments and pictures are left out. Relative links lead to the repository; without an address they become text.
    """
    text = re.sub(r"(?s)<!--.*?-->\n*|<picture>.*?</picture>\n*", "", text)
    text = re.sub(r"!\[[^]]*\]\((?!https?:)[^)]*\)\n*", "", text)
    link = rf"[\1]({repository}/blob/main/\2)" if repository else r"\1"
    return re.sub(r"\[([^]]*)\]\((?!https?:|#)([^)]*)\)", link, text)

"""Data files inside installed packages, read without importing the packages."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from memtree.errors import EmbedderUnavailable


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """A data file inside an installed package, with the hash it must have."""

    package: str
    path: str
    sha256: str

    def locate(self) -> Path:
        """Return the path of the file. Raises `EmbedderUnavailable` if it is missing or not the
        expected one."""
        try:
            path = Path(str(distribution(self.package).locate_file(self.path)))
        except PackageNotFoundError:
            raise EmbedderUnavailable(
                f"the local embedder needs the package {self.package}, which is not installed"
            ) from None
        try:
            with path.open("rb") as file:
                actual = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise EmbedderUnavailable(
                f"the package {self.package} holds no readable {self.path}: {error.strerror}"
            ) from error
        if actual != self.sha256:
            raise EmbedderUnavailable(
                f"{self.path} of the package {self.package} is not the expected file: "
                f"sha256 {actual}, expected {self.sha256}"
            )
        return path

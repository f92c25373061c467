"""One server in front of a scripted model, against which the examples of pages run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients.documented.shown import Shown
from tests.http.served.running import running
from tests.made.scripted import Scripted
from tests.programs.server import running as serving


@pytest.fixture(scope="session")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    upstream, folder = Scripted(), tmp_path_factory.mktemp("docs")
    store = folder / "docs.db"
    with running(upstream) as above, serving(store, "--upstream", f"{above}/v1") as server:
        yield Shown(server, upstream, folder)

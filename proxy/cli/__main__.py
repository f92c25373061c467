"""`python -m proxy.cli` is `memtree`, for processes started without an installed script."""

from __future__ import annotations

import sys

from proxy.cli.main import main

if __name__ == "__main__":
    sys.exit(main())

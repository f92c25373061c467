"""Exit 0 where a MemTree process of this host answers /health, else 1: for images without curl.

python healthcheck.py [PORT]     # the port of MEMTREE_PORT without one
"""

import os
import sys
from urllib.request import ProxyHandler, build_opener

SECONDS = 3.0  # less than the time-out of whoever asks


def main(arguments: list[str]) -> int:
    port = arguments[0] if arguments else os.environ.get("MEMTREE_PORT", "8787")
    direct = build_opener(ProxyHandler({}))  # never by way of http_proxy
    try:
        with direct.open(f"http://127.0.0.1:{port}/health", timeout=SECONDS) as answer:
            return 0 if answer.status == 200 else 1
    except (OSError, ValueError) as error:
        print(f"unhealthy: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Rules for requests under a path of `memtree wrap`: the run they are counted for, their upstreams,
and memory switched on.

The server's edge finds the path by its token and puts this into the request's scope. The token
itself is not in it, so nothing behind the edge can send it on or log it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from memtree.config import DEFAULT_UPSTREAM, Settings
from memtree_proxy.http.request_body import WRAP_RUN
from memtree_proxy.upstream.client import Upstream
from memtree_proxy.upstream.upstreams import Destination, Upstreams

# upstream for Codex's requests with a ChatGPT login
CHATGPT = "https://chatgpt.com/backend-api/codex"
_KEY = "memtree.wrapped_path"  # key in a request's scope
UPSTREAMS = "memtree.upstreams"  # likewise: the upstreams that replace the server's


@dataclass(frozen=True, slots=True)
class WrappedPath:
    """Path that `memtree wrap` gave to one run. `run`: its name. `settings`: the server's, with the
    upstreams of this path."""

    run: str
    settings: Settings
    upstreams: Upstreams

    @classmethod
    def of(
        cls, run: str, settings: Settings, upstream: str, anthropic_upstream: str
    ) -> WrappedPath:
        """Create a path with these upstreams (named as in the settings), without a key of the
        server's. Does not connect; `upstreams.close` closes connections. Raises `BadRequest` that
        names the setting.
        """
        Settings.of(upstream=upstream, anthropic_upstream=anthropic_upstream)
        own = dataclasses.replace(
            settings,
            upstream=upstream,
            anthropic_upstream=anthropic_upstream,
            upstream_api_key=None,
            anthropic_upstream_api_key=None,
            memory=True,
        )
        upstreams = Upstreams.of_settings(own)
        if upstream == DEFAULT_UPSTREAM:
            chatgpt = Destination(Upstream(CHATGPT), None)
            upstreams = dataclasses.replace(upstreams, chatgpt=chatgpt)
        return cls(run, own, upstreams)

    def enter(self, scope: MutableMapping[str, Any]) -> None:
        """Apply the path's rules to the request of this scope."""
        scope[_KEY], scope[UPSTREAMS] = self, self.upstreams
        scope["state"] = {**scope.get("state", {}), WRAP_RUN: self.run}


def settings_of(request: Request, default: Settings) -> Settings:
    """Return the settings of the request's wrapped path; `default` for a plain request."""
    path: WrappedPath | None = request.scope.get(_KEY)
    return path.settings if path else default

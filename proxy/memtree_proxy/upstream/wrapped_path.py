"""Rules for requests under a path of `memtree wrap`: which run they are counted for, where they go,
and that memory is on.

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

CHATGPT = "https://chatgpt.com/backend-api/codex"  # where Codex sends requests of a ChatGPT login
_KEY = "memtree.wrapped_path"  # of a request's scope
UPSTREAMS = "memtree.upstreams"  # likewise: the upstreams in place of the server's


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
        """Make a path that leads to these upstreams (as the settings of the same names), with no
        key of the server's. Nothing is connected yet; `upstreams.close` ends connections.

        Raises `BadRequest` that names the setting.
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
        """Let the request of this scope go by the path's rules."""
        scope[_KEY], scope[UPSTREAMS] = self, self.upstreams
        scope["state"] = {**scope.get("state", {}), WRAP_RUN: self.run}


def settings_of(request: Request, default: Settings) -> Settings:
    """Return the settings of the request's wrapped path; `default` for a plain request."""
    path: WrappedPath | None = request.scope.get(_KEY)
    return path.settings if path else default

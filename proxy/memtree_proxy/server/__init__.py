"""The ASGI application: routing, protocol, pages, health, and the processes that serve it."""

"""The ASGI application and the processes that serve it."""

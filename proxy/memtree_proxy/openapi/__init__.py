"""The OpenAPI document of our routes, made from the same constants as the code (`document`)."""

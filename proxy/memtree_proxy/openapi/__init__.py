"""Build the OpenAPI document of our routes from the same constants as the code (`document`)."""

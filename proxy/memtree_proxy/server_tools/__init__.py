"""Tools that the proxy offers a model of its own accord, and answers itself inside one answer."""

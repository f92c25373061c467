"""The index of a scope: arrays made of what the store holds, kept between searches."""

"""A package, so that `import tests.fakes` finds ours and no other project's."""

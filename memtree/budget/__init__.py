"""Decide how many tokens each part of an answer gets, now and over the turns of an epoch;
prices."""

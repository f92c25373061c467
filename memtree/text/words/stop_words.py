"""Stop words: English function words, which terms leave out.

Term counts are stored, so a change here needs every stored history to be read again.
"""

# Function words carry no topic and are half of all prose; dropping them halves the statistics.
# The last line holds the rests behind apostrophes: he'd, we'll, I'm, we're, it's, don't, I've.
STOP_WORDS = frozenset(
    """
    a an the this that these there some no not
    and but or if so than then too just
    as at by for from in into of on to up with
    i me my he him his she her it its we us our they them their you your
    are be been is was were do did does had has have can could should will would
    how what when where which who why
    d ll m re s t ve
    """.split()
)

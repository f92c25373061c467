"""Where a model's cosines begin to mean something, measured by the model itself.

Models differ: texts that have nothing to do with each other have a cosine of 0.03 with MiniLM,
about 0.1 with text-embedding-3 and over 0.7 with ada-002 or E5. So eight questions and the passages
that answer them are embedded; the questions with the other seven passages show the floor.

    relevant(questions, passages)    # MiniLM: floor 0.03, answers 0.55, so 0.376

The threshold lies two thirds of the way up: there lies MiniLM's 0.38, which was measured on whole
conversations (`local_embedder.py`).

Memories have a scale of their own (`ranking/relevance_scale.py`), measured from pairs that say the
same and from messages with memories that do not concern them:

    scale(pairs, messages, memories)    # MiniLM: half 0.36, strong 0.74, as on many more texts
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memtree.ranking.relevance_scale import RelevanceScale

Matrix = NDArray[np.float32]

SHARE = 2 / 3
# The best of 100 strangers, for 5 % of messages, lies so many standard deviations above the mean of
# all: measured on 100 messages and 10,000 memories with MiniLM, where the mean is 0.04.
DEVIATIONS = 4.5
LOWEST, HIGHEST = 0.1, 0.95  # whatever a model makes of these few texts

QUESTIONS = (
    "why did the database connection time out?",
    "which file parses the configuration?",
    "how do I make the bread crust crisp?",
    "what did the doctor say about my knee?",
    "when does the train to the coast leave?",
    "who is the captain of the ship?",
    "what rent do we pay for the office?",
    "how can I teach the dog to sit?",
)
PASSAGES = (
    "The pool had ten connections and every worker held one while it waited for the lock, so new "
    "queries timed out after thirty seconds.",
    "def load_settings(path): reads the TOML file, checks every field and raises ConfigError with "
    "the name of the first wrong one.",
    "Bake the loaf in a closed iron pot for half an hour, then take the lid off so that the steam "
    "leaves and the crust browns.",
    "The doctor thinks the knee is only strained: two weeks of rest, ice in the evening and no "
    "running.",
    "Trains to the seaside leave every hour from platform four, the first of them at ten past six "
    "in the morning.",
    "Mara had commanded the Heron for nine years; her crew called her captain even on shore.",
    "The lease of the new office is signed: 4,200 a month with heating, for three years.",
    "Hold a treat above the puppy's nose and move it back; as soon as it sits, praise it and let "
    "it have the treat.",
)

# Said twice, one after the other.
PAIRS = (
    "The user has a peanut allergy.",
    "I'm allergic to peanuts.",
    "User prefers short answers to long ones.",
    "The user likes short replies better than long ones.",
    "Deployments happen each Friday at 15:00.",
    "We deploy every Friday at 3 pm.",
    "The user's home is in Oslo.",
    "I live in Oslo.",
    "User can't stand horror films.",
    "I hate horror movies.",
    "The cache entries expire after a quarter of an hour.",
    "The cache expires after 15 minutes.",
    "My sister Clara is a dentist.",
    "User's sister Clara works as a dentist.",
    "User is planning a trip to Iceland in August.",
    "In August the user wants to travel to Iceland.",
)
MESSAGES = (
    "What is the capital of Mongolia?",
    "Rename the variable x to total in this function.",
    "How do I remove a wine stain?",
    "Explain how photosynthesis works.",
    "Write a cover letter for a marketing position.",
    "Who won the battle of Waterloo?",
    "Give me a workout without equipment.",
    "Thanks, that worked!",
)
MEMORIES = (
    "User's cousin Nadia keeps bees.",
    "The staging server listens on port 8090.",
    "User goes bouldering on Thursdays.",
    "User doesn't like pancakes.",
    "The invoice is due within 14 days.",
    "User is converting the attic into a studio.",
    "Alerts of the importer go to Petra.",
    "User plays handball for a club in Ghent.",
    "User suffers from hay fever in May.",
    "Use tabs, not spaces, for indentation.",
    "User rents a cottage with two friends.",
    "The customer in Basel pays in francs.",
)


def relevant(questions: Matrix, passages: Matrix) -> float:
    """The threshold of a model that gave these (8, d) unit rows for the texts above."""
    cosines = questions @ passages.T
    answers = np.eye(len(cosines), dtype=bool)
    floor, related = float(cosines[~answers].mean()), float(cosines[answers].mean())
    return min(HIGHEST, max(LOWEST, floor + SHARE * (related - floor)))


def scale(pairs: Matrix, messages: Matrix, memories: Matrix) -> RelevanceScale:
    """The scale of a model that gave these unit rows for the texts above. Whatever they hold, there
    is one."""
    same = np.einsum("ij,ij->i", pairs[::2], pairs[1::2])
    strangers = messages @ memories.T
    return RelevanceScale.measured(
        float(strangers.mean() + DEVIATIONS * strangers.std()),
        float(np.quantile(same, 0.25)),
    )

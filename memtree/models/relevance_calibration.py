"""Where a model's cosines begin to mean something, measured by the model itself.

Models differ: texts that have nothing to do with each other have a cosine of 0.03 with MiniLM,
about 0.1 with text-embedding-3 and over 0.7 with ada-002 or E5. So eight questions and the passages
that answer them are embedded; the questions with the other seven passages show the floor.

    relevant(questions, passages)    # MiniLM: floor 0.03, answers 0.55, so 0.376

The threshold lies two thirds of the way up: there lies MiniLM's 0.38, which was measured on whole
conversations (`local_embedder.py`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

SHARE = 2 / 3
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


def relevant(questions: Matrix, passages: Matrix) -> float:
    """The threshold of a model that gave these (8, d) unit rows for the texts above."""
    cosines = questions @ passages.T
    answers = np.eye(len(cosines), dtype=bool)
    floor, related = float(cosines[~answers].mean()), float(cosines[answers].mean())
    return min(HIGHEST, max(LOWEST, floor + SHARE * (related - floor)))

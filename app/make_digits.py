"""Writes digits.npz: the UCI handwritten digits, as shipped with scikit-learn. cmake/Embed.cmake puts it into the command.

    python app/make_digits.py app/digits.npz
"""

import sys

import numpy as np
import sklearn.datasets

digits = sklearn.datasets.load_digits()
assert digits.data.shape == (1797, 64) and digits.data.min() >= 0 and digits.data.max() == 16
np.savez_compressed(sys.argv[1], pixels=digits.data.astype(np.uint8), digit=digits.target.astype(np.uint8))

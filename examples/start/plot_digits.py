"""
Images: which pixels distinguish digits
=======================================

An image of 8 x 8 pixels is a row of 64 numbers, and a pixel is a feature. From three labelled
images of each digit and 1,767 unlabelled ones we look for the pixels that distinguish the ten
digits, and draw them where they are.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from semisift import Consensus

X, truth = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
y = np.full(len(truth), -1)
for digit in range(10):
    y[rng.choice(np.flatnonzero(truth == digit), 3, replace=False)] = digit

ranker = Consensus(n_features_to_select=20, random_state=0).fit(X, y)
kept = ranker.get_support()

# %%
# Dark pixels score high, and the 20 selected ones are framed. Pixels at the rim are empty in nearly
# all images and carry no information. Most of the selected ones are grey in the mean image, neither
# black nor white: some digits have ink there and others have none.

fig, axes = plt.subplots(1, 2, figsize=(7.6, 3.9), layout="constrained")
blues = LinearSegmentedColormap.from_list("blues", ["#ffffff", "#1f5fa8"])
image = axes[0].imshow(np.nan_to_num(ranker.scores_).reshape(8, 8), cmap=blues, vmin=0)
axes[0].set_title("Scores, and the 20 selected pixels")
fig.colorbar(image, ax=axes[0], shrink=0.8, label="score")
axes[1].imshow(X.mean(axis=0).reshape(8, 8), cmap="gray_r")
axes[1].set_title("Mean of all images")
for ax in axes:
    for place in np.flatnonzero(kept):
        corner = (place % 8 - 0.44, place // 8 - 0.44)
        ax.add_patch(plt.Rectangle(corner, 0.88, 0.88, fill=False, ec="#c2500c", lw=2))
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_color("#d5dae0")

# %%
# Are 20 pixels enough? Here is one image of each digit as the selection sees it. Grey pixels are
# left out.

fig, axes = plt.subplots(2, 10, figsize=(8, 1.9), layout="constrained")
for digit in range(10):
    full = X[np.flatnonzero(truth == digit)[0]]
    axes[0, digit].imshow(full.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
    seen = np.ma.masked_array(full, ~kept).reshape(8, 8)
    axes[1, digit].set_facecolor("#d5dae0")
    axes[1, digit].imshow(seen, cmap="gray_r", vmin=0, vmax=16)
for ax in axes.ravel():
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)

# %%
# Nearest neighbours with all labels of the first half of the images, tested on the second half:


def accuracy(columns):
    """Return the share of right digits in the second half of the images."""
    half = len(X) // 2
    model = KNeighborsClassifier().fit(X[:half][:, columns], truth[:half])
    return model.score(X[half:][:, columns], truth[half:])


random = np.mean([accuracy(rng.choice(64, 20, replace=False)) for _ in range(10)])
print(f"all 64 pixels {accuracy(np.arange(64)):.3f}, the 20 selected {accuracy(kept):.3f}, ")
print(f"20 random ones {random:.3f} (mean of ten draws)")
plt.show()

"""
A table that does not fit into memory
=====================================

A memory map is a file that looks like an array. Rankers read it in blocks, and hold no more of it
than you allow. The file here is small, so that the example is quick: 40 MB, of which a ranking
would need four copies in memory. We allow it 130 MB.
"""

import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from semisift import Consensus, FisherScore, OutOfCoreMatrix, SubsamplingWarning

folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "table.npy"
n, p = 100_000, 100
rng = np.random.default_rng(0)
truth = rng.integers(2, size=n)
table = np.lib.format.open_memmap(path, "w+", np.float32, (n, p))
for start in range(0, n, 20_000):
    rows = slice(start, start + 20_000)
    table[rows] = rng.normal(size=(20_000, p))
    table[rows, :10] += np.linspace(1.5, 0.5, 10) * truth[rows, None]
table.flush()
y = np.where(np.arange(n) % 2_500 == 0, truth, -1)
print(f"{path.stat().st_size / 1e6:.0f} MB on disk, {(y >= 0).sum()} labels")

# %%
# ``OutOfCoreMatrix`` limits the memory. Statistics of all rows, such as means and variances, are
# computed in passes over the file. Other methods work on the labelled rows and a sample of the
# others, with a warning; the classes of all rows are predicted in a last pass.

seen = []
stored = OutOfCoreMatrix(
    np.load(path, mmap_mode="r"),
    max_memory="130MB",
    progress=lambda name, done, of: seen.append((name, done, of)),
)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", SubsamplingWarning)
    ranker = Consensus(redundancy_threshold=None, random_state=0).fit(stored, y)
in_memory = Consensus(redundancy_threshold=None, random_state=0).fit(np.load(path), y)
for name, each in [("130 MB of memory", ranker), ("all in memory", in_memory)]:
    right = (each.transduction_ == truth)[y == -1].mean()
    n_found = (each.ranking_[:10] <= 10).sum()
    print(f"{name}: {n_found} of 10 useful columns found, {right:.1%} of hidden labels right")
print("Passes over the file:", ", ".join(dict.fromkeys(name for name, _, _ in seen)))
fisher = [FisherScore().fit(rows, y).scores_ for rows in (stored, np.load(path))]
print("Fisher scores are the same to the last bit:", np.array_equal(*fisher))

# %%
# The scores of the 100 columns, with 130 MB and with the whole table in memory: on the line they
# are the same. The ten useful columns are ahead of all others in both.

fig, ax = plt.subplots(figsize=(5.6, 4.8), layout="constrained")
useful = np.arange(p) < 10
ax.plot([0, 1], [0, 1], color="#d5dae0", lw=1.2, zorder=0)
look = {"ls": "none", "color": "#5b6570", "mfc": "white"}
ax.plot(
    in_memory.scores_[~useful], ranker.scores_[~useful], marker="D", ms=5, label="useless", **look
)
ax.plot(
    in_memory.scores_[useful], ranker.scores_[useful], "o", color="#1f5fa8", ms=8, label="useful"
)
ax.set(xlabel="score, all rows in memory", ylabel="score, at most 130 MB of memory", aspect="equal")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
folder.cleanup()
plt.show()

"""
Genes: markers of three tumour types
====================================

120 tumours, 2,000 genes, and a pathologist who has named the type of four tumours of each of three
types. The expression is simulated, so that we know which genes matter: 15 of each type are higher
there, by one and a half standard deviations of the noise. The other 1,955 carry no information.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from sklearn.preprocessing import scale

from semisift import Consensus, FisherScore

rng = np.random.default_rng(0)
truth = np.repeat(["type A", "type B", "type C"], 40)
X = rng.normal(8, 1, (120, 2000))
for number, name in enumerate(["type A", "type B", "type C"]):
    X[np.ix_(truth == name, range(15 * number, 15 * number + 15))] += 1.5
planted = np.arange(2000) < 45

y = np.full(120, None)
for name in np.unique(truth):
    y[rng.choice(np.flatnonzero(truth == name), 4, replace=False)] = name

# %%
# The Fisher score uses the 12 labelled tumours alone, and with so few of them many useless genes
# look good by luck. The consensus first finds the type of all 120 from the labels and the shape of
# the data.

few = FisherScore().fit(X, y)
ranker = Consensus(n_features_to_select=45, random_state=0).fit(X, y)
found = {
    "12 labelled tumours alone (Fisher)": planted[few.ranking_ <= 45].sum(),
    "all 120 tumours (consensus)": planted[ranker.get_support()].sum(),
}
for name, n_found in found.items():
    print(f"{name}: {n_found} of the 45 planted genes among the best 45")
hidden = np.array([label is None for label in y])
print(f"Types found: {(ranker.transduction_ == truth)[hidden].mean():.0%} of {hidden.sum()} right")

# %%
# The 45 best genes in rows, grouped by the type that they mark, and all tumours in columns, in the
# order of the types that were found. Triangles above are the tumours that the pathologist named.
# Three blocks on the diagonal are what one hopes for.

best = np.flatnonzero(ranker.get_support())
markers = ranker.markers(X, y)
marks = markers.scores[:, best].argmax(axis=0)
best = best[np.lexsort([-markers.scores[marks, best], marks])]
tumours = np.argsort(ranker.transduction_, kind="stable")

fig, ax = plt.subplots(figsize=(7.4, 5), layout="constrained")
colours = LinearSegmentedColormap.from_list("", ["#1f5fa8", "#ffffff", "#c2500c"])
look = {"cmap": colours, "vmin": -2.5, "vmax": 2.5, "aspect": "auto", "interpolation": "nearest"}
image = ax.imshow(scale(X)[np.ix_(tumours, best)].T, **look)
fig.colorbar(image, ax=ax, shrink=0.6, label="expression (standard deviations)")
named = np.flatnonzero(~hidden[tumours])
ax.plot(named, np.full(len(named), -1.4), "v", color="#1b1f24", ms=6, clip_on=False)
ax.set_ylim(44.5, -0.5)
sizes = np.unique(ranker.transduction_, return_counts=True)[1]
ends = np.cumsum(sizes)
for end in ends[:-1]:
    ax.axvline(end - 0.5, color="#1b1f24", lw=1)
ax.set_xticks(ends - sizes / 2, markers.classes)
ax.set(yticks=[], ylabel="the 45 best genes", xlabel="120 tumours, by the type that was found")
ax.tick_params(length=0)
ax.spines[:].set_visible(False)
plt.show()

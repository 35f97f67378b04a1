"""
Text: the words of four topics
==============================

Which words show what a text is about? The texts are docstrings of four parts of SciPy, which
is installed with semisift, so that nothing is downloaded. We name the topic of six texts of each
part; the others have no label.
"""

import inspect
import re
from collections import Counter

import matplotlib.pyplot as plt
import numpy as np
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.stats
from sklearn.feature_extraction.text import TfidfVectorizer

from semisift import Consensus

topics = {
    "linear algebra": scipy.linalg,
    "image filters": scipy.ndimage,
    "signals": scipy.signal,
    "statistics": scipy.stats,
}
texts, truth = [], []
for topic, module in topics.items():
    for name in module.__all__:
        text = inspect.getdoc(getattr(module, name)) or ""
        if inspect.isfunction(getattr(module, name)) and len(text) > 800:
            texts.append(re.split(r"\n(?:Returns|Notes|See Also|Examples)\n", text)[0])
            truth.append(topic)
truth = np.array(truth)

# Lines that several texts share word by word depend on their authors more than on the topic.
times = Counter(line for text in texts for line in set(text.splitlines()))
texts = [" ".join(line for line in text.splitlines() if times[line] < 3) for text in texts]

# %%
# A text becomes a row of numbers, one for each word that at least five texts have: mostly zeros, in
# a sparse matrix, which stays sparse.

words = TfidfVectorizer(min_df=5, token_pattern=r"[a-z]{4,}", stop_words="english")
X = words.fit_transform(texts)
rng = np.random.default_rng(0)
y = np.full(len(truth), None)
for topic in topics:
    y[rng.choice(np.flatnonzero(truth == topic), 6, replace=False)] = topic
print(f"{X.shape[0]} texts, {X.shape[1]} words, {X.nnz / np.prod(X.shape):.1%} of them not 0")

# %%
# The ranking is about all topics together. The markers are the words typical of one of them.

ranker = Consensus(random_state=0).fit(X, y)
names = words.get_feature_names_out()
print("Best words:", ", ".join(names[np.argsort(ranker.ranking_)[:12]]))
hidden = np.array([label is None for label in y])
right = (ranker.transduction_ == truth)[hidden].mean()
print(f"Topics found for the {hidden.sum()} texts without a label: {right:.1%} right")

# %%
# The eight words that are most typical of each topic, compared with all other texts. Long bars are
# words that are common there and rare elsewhere.

markers = ranker.markers(X, y)
fig, axes = plt.subplots(1, 4, figsize=(9, 3.4), layout="constrained")
colours = ["#1f5fa8", "#c2500c", "#0a7a58", "#8a3b8f"]
for number, (ax, colour) in enumerate(zip(axes, colours, strict=True)):
    best = markers.best(number, 8)[::-1]
    ax.barh(names[best], markers.scores[number, best], color=colour, height=0.7)
    ax.set_title(markers.classes[number], loc="left", color=colour)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
fig.supxlabel("score of the word as a marker (like Welch's t)", fontsize="medium")
plt.show()

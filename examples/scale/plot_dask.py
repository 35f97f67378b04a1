"""
A Dask cluster
==============

Ensembles of many models suit many machines. The library starts no cluster by itself: you
choose a joblib backend, and the same code runs there, with the same numbers to the last bit. The
cluster here is a small one, of two workers inside this process.
"""

import joblib
import matplotlib.pyplot as plt
import numpy as np
from dask.distributed import Client, LocalCluster
from sklearn.datasets import load_digits

from semisift import SSFI

X, truth = load_digits(return_X_y=True)
y = np.where(np.arange(len(truth)) < 60, truth, -1)

# %%
# On your own cluster this is ``Client("scheduler-address:8786")``.

cluster = LocalCluster(
    n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, silence_logs=40
)
client = Client(cluster)
print(f"{len(client.scheduler_info()['workers'])} workers")

with joblib.parallel_config(backend="dask"):
    far = SSFI(n_members=600, random_state=0).fit(X, y)
    far_stability = far.assess(X, y, n_permutations=0, n_resamples=10, fast=True).stability

# %%
# The same without a cluster:

here = SSFI(n_members=600, random_state=0).fit(X, y)
here_stability = here.assess(X, y, n_permutations=0, n_resamples=10, fast=True).stability
same = np.array_equal(far.scores_, here.scores_, equal_nan=True)
print(f"Scores are the same to the last bit: {same}")
print(f"Stability there {far_stability.value:.4f}, here {here_stability.value:.4f}")
client.close()
cluster.close()

# %%
# Two maps of the scores of 64 pixels, from the cluster and from one process, and their difference:
# there is none.

fig, axes = plt.subplots(1, 3, figsize=(8.6, 3), layout="constrained")
maps = [far.scores_, here.scores_, far.scores_ - here.scores_]
titles = ["two workers", "one process", "difference"]
for ax, values, title in zip(axes, maps, titles, strict=True):
    top = np.nanmax(here.scores_)
    image = ax.imshow(np.nan_to_num(values).reshape(8, 8), cmap="Blues", vmin=0, vmax=top)
    ax.set(xticks=[], yticks=[])
    ax.set_title(title, loc="left")
    ax.spines[:].set_color("#d5dae0")
fig.colorbar(image, ax=axes, shrink=0.8, label="score")
plt.show()

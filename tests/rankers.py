"""Methods of comparisons that fail, wait, warn or die, named by the path of their class."""

import os
import signal
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator


class Plain(BaseEstimator):
    """Ranks columns by their variance."""

    def fit(self, X, y):
        self.scores_ = np.asarray(X.var(axis=0))
        return self


class Failing(Plain):
    """Fails as long as a file is there, or always."""

    def __init__(self, path=None):
        self.path = path

    def fit(self, X, y):
        if self.path is None or Path(self.path).exists():
            raise RuntimeError("no [bold]luck[/bold]\ntoday")
        return super().fit(X, y)


class Exiting(Plain):
    def fit(self, X, y):
        raise SystemExit(3)


class Slow(Plain):
    def __init__(self, seconds=0.05):
        self.seconds = seconds

    def fit(self, X, y):
        time.sleep(self.seconds)
        return super().fit(X, y)


class Warner(Plain):
    """Warns in its own words, with time for others to do so too."""

    def __init__(self, words="careful"):
        self.words = words

    def fit(self, X, y):
        for _ in range(10):
            warnings.warn(self.words, UserWarning, stacklevel=1)
            time.sleep(0.001)
        return super().fit(X, y)


class Dying(Plain):
    """Takes the process with it."""

    def fit(self, X, y):
        os.kill(os.getpid(), signal.SIGKILL)


class Counting(Plain):
    """Counts how many of its kind are at work in the process at the same time."""

    lock = threading.Lock()
    at_work = 0
    most = 0

    def fit(self, X, y):
        with self.lock:
            Counting.at_work += 1
            Counting.most = max(Counting.most, Counting.at_work)
        time.sleep(0.05)
        with self.lock:
            Counting.at_work -= 1
        return super().fit(X, y)

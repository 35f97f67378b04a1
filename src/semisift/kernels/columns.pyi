from typing import Any

class Columns:
    X: Any
    n_features: int
    def __init__(self, X: Any) -> None: ...

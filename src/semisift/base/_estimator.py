"""SemiSupervisedMixin: constructor, validation and tags, which rankers and classifiers share."""

from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Literal, dataclass_transform

import numpy as np
from sklearn import get_config
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from semisift.base._data_kind import without_batches
from semisift.base._docstrings import fill_slots
from semisift.base._feature_constraints import PARAMETERS
from semisift.base._sample_info import NOTHING, parse_design
from semisift.base._training_data import MAX_SAMPLED, MIN_SAMPLED, TrainingData
from semisift.base._validation import check_conversion, check_finite
from semisift.exceptions import NoUnlabelledDataWarning, OutOfCoreError, SubsamplingWarning
from semisift.out_of_core._matrix import COPIES, OutOfCoreMatrix, as_stored
from semisift.transduction._soft_labels import know_depth
from semisift.utils._labels import Labels, describe_few, parse_labels
from semisift.utils._memory import in_words
from semisift.utils._named_array import knows_logarithms, names_of
from semisift.utils._sklearn_compat import WatchedMixin
from semisift.utils._text import join
from semisift.utils._warnings import warn


@dataclass_transform(kw_only_default=True, eq_default=False)
class SemiSupervisedMixin(WatchedMixin):
    """Mixin of estimators that learn from labelled and unlabelled rows together.

    The parameters of an estimator are its annotated attributes, whose values are the defaults: a
    class has those of its bases and adds its own. A constructor in the manner of scikit-learn, with
    keywords only, is made of them, unless a class or a base of it brings its own.
    """

    supports_out_of_core: ClassVar[bool] = False  # rows that do not fit into memory
    uses_statistics: ClassVar[bool] = False  # of columns and classes, and no rows by themselves
    labels_needed: ClassVar[Literal["none", "optional", "two_classes"]] = "optional"
    is_transductive: ClassVar[bool] = False  # fit of a ranker sets transduction_ and confidence_
    allow_nan: ClassVar[bool] = False  # values of X that are missing
    # labelled rows of one class, and unlabelled ones
    supports_positive_unlabelled: ClassVar[bool] = False
    random_state: Any

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__init__ is object.__init__ or hasattr(cls.__init__, "of_attributes"):
            _make_constructor(cls)
        fill_slots(cls)

    def _build_data(
        self,
        X: Any,
        y: Any,
        *,
        is_repeated: bool = False,
        any_labels: bool = False,
        must_link: Any = None,
        cannot_link: Any = None,
        **of_rows: Any,
    ) -> TrainingData:
        """Validate what fit is given, and return it as one object."""
        own_y = y if any_labels or self.labels_needed != "none" else None
        has_pairs = must_link is not None or cannot_link is not None
        pairs = {"must_link": must_link, "cannot_link": cannot_link}
        of_rows = {name: given for name, given in of_rows.items() if given is not None}
        names, is_log = None, False
        if type(X) is not np.ndarray:  # which is in memory, and has neither names nor a mask
            stored = as_stored(X)
            if stored is None:
                check_conversion(X)
                names, is_log = names_of(X), knows_logarithms(X)
            else:
                own_y = parse_labels(own_y, len(stored))
                needs_all = is_repeated or has_pairs or {"batch", "sample_weight"} & of_rows.keys()
                if not stored.fits() or (not needs_all and self._goes_in_blocks(stored, own_y)):
                    most = MAX_SAMPLED if is_repeated else self._most_to_hold()
                    return self._build_stored(stored, own_y, most, of_rows, **pairs)
                names, is_log = stored.feature_names, stored.is_log
                X = stored.load(keeps_missing=True)
        X = validate_data(
            self,
            X,
            # y is only checked for presence: scikit-learn refuses missing labels.
            y=None if y is None and not has_pairs and not any_labels else "no_validation",
            accept_sparse=["csc", "csr"],
            dtype=None,
            ensure_all_finite=False,
        )
        if names is not None:
            self.feature_names_in_ = names
        seed = self.random_state or 0
        data = TrainingData.build(
            X,
            own_y,
            seed=seed if type(seed) is int else _draw_seed(seed),
            feature_names=getattr(self, "feature_names_in_", None),
            design=parse_design(X.shape[0], **of_rows) if of_rows else NOTHING,
            allow_nan=self.allow_nan or not get_config()["assume_finite"],
            **pairs,
        )
        self.__dict__.pop("_features", None)
        if any(getattr(self, name, None) is not None for name in PARAMETERS):
            data = self._exclude(data)
        if data.has_missing or "sample_weight" in of_rows:
            self._check_complete(data)
        if is_log:
            data = know_depth(data)
        if "sample_weight" in of_rows:
            data = data.drop_zero_weight(keeps_others=self.is_transductive)
        return without_batches(data) if "batch" in of_rows else data

    def _exclude(self, data: TrainingData) -> TrainingData:
        """Return the training data without the values that nothing is to be learnt from."""
        return data

    def _check_complete(self, data: TrainingData) -> None:
        """Refuse missing values unless the method takes them."""
        if data.has_missing and not self.allow_nan:
            from semisift.registry import CLASSIFIERS, METHODS

            entries = (*METHODS.values(), *CLASSIFIERS.values())
            able = sorted((e.class_name for e in entries if e.takes("allow_nan")), key=str.lower)
            advice = f"These take missing values as they are: {join(able)}."
            check_finite(data.X, data.feature_names, advice=advice)

    def _goes_in_blocks(self, rows: OutOfCoreMatrix, labels: Labels) -> bool:
        """Tell whether rows that could be held need not be, since blocks give the same bits."""
        if not self.supports_out_of_core or not rows.is_read_in_place:
            return False
        return self._same_in_blocks(labels) and rows.is_finite()

    def _same_in_blocks(self, labels: Labels) -> bool:
        """Tell whether rows without missing values give the same bits in blocks as in memory."""
        return False

    def _most_to_hold(self) -> int:
        """Return how many unlabelled rows are held of those that do not fit into memory."""
        return MAX_SAMPLED

    def _build_stored(
        self,
        rows: OutOfCoreMatrix,
        labels: Labels,
        needed: int,
        of_rows: dict[str, Any],
        **pairs: Any,
    ) -> TrainingData:
        """Return the training data of rows that do not fit into memory: it holds some of them."""
        name, usable = type(self).__name__, f"{in_words(rows.usable)} may be used"
        lack = f"{rows.source.name} needs {in_words(COPIES * rows.n_bytes)} and {usable}"
        for each in ("batch", "sample_weight"):
            if each in of_rows:
                raise OutOfCoreError(
                    f"{each} needs the rows in memory: {lack}. Allow more memory, or rank some of "
                    "the rows."
                )
        if not self.supports_out_of_core:
            raise OutOfCoreError(
                f"{name} holds all rows in memory: {lack}. Fit it to some of the rows, and predict "
                "the others a block at a time."
            )
        self.n_features_in_ = rows.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if rows.feature_names is not None:
            self.feature_names_in_ = rows.feature_names
        labelled = len(labels.labelled)
        if self.labels_needed == "two_classes" and labels.n_classes == 1:
            needed = MAX_SAMPLED  # among which the rest is sought
        max_labelled = None
        if self.uses_statistics and labelled > (few := min(MAX_SAMPLED, rows.max_sampled // 2)):
            labelled = max_labelled = few
        most = rows.max_sampled - labelled
        if most < 0:
            n_bytes = int(COPIES * rows.n_bytes * labelled / len(rows))
            raise OutOfCoreError(
                f"{name} holds the labelled rows in memory: {labelled:,} of them need "
                f"{in_words(n_bytes)} and {usable}. Allow more memory, or hide some labels."
            )
        wanted = min(needed, most)
        own = getattr(self, "max_unlabelled", None)
        needed = min(needed, len(rows) - labelled, needed if own is None else own)
        if wanted < needed and needed > MIN_SAMPLED:
            warn(
                f"{in_words(rows.usable)} of memory hold {wanted:,} unlabelled rows of "
                f"{rows.source.name}, where {needed:,} would be used: the ranking differs from "
                "one with more memory.",
                SubsamplingWarning,
            )
        data = TrainingData.of_stored(
            rows,
            labels,
            seed=_draw_seed(self.random_state),
            max_unlabelled=wanted,
            max_labelled=max_labelled,
            design=parse_design(len(rows), **of_rows),
            **pairs,
        )
        self.__dict__.pop("_features", None)
        data = self._exclude(data)
        return know_depth(data) if rows.is_log else data

    def _check_labels(self, data: TrainingData) -> None:
        labels = data.labels
        n_unlabelled = len(labels.unlabelled)
        if data.given_pairs:
            return  # they say what the labels would
        if labels.n_classes == 1 and self.supports_positive_unlabelled and n_unlabelled > 1:
            return
        if self.labels_needed == "two_classes" and labels.n_classes < 2:
            raise ValueError(
                f"{type(self).__name__} needs labelled rows of at least two classes; "
                f"{describe_few(labels)}."
            )
        if not n_unlabelled:
            warn(
                "y has no unlabelled row (-1, None or NaN): "
                f"{type(self).__name__} works from the labelled rows alone.",
                NoUnlabelledDataWarning,
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.labels_needed == "two_classes"
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.allow_nan
        return tags


def _make_constructor(cls: type) -> None:
    """Make a constructor of the annotated attributes, or raise where one is no parameter."""
    cure = "Annotate what is no constructor parameter as ClassVar[...], or not at all."
    try:
        dataclass(cls, kw_only=True, eq=False, repr=False)
    except ValueError as error:  # a default that is a list, a dict or a set
        data = str(error).partition(":")[0]
        raise TypeError(f"{cls.__name__}: {data}. Use None as the default. {cure}") from error
    for field in (each for each in fields(cls) if each.init):
        if field.name.startswith("_") or field.name.endswith("_"):
            raise TypeError(
                f"{cls.__name__}.{field.name} has an annotation, which makes it a constructor "
                f"parameter: these neither begin nor end with an underscore. {cure}"
            )
        if field.default_factory is not MISSING:
            raise TypeError(f"{cls.__name__}.{field.name} must have a default, and no factory.")
    vars(cls)["__init__"].of_attributes = True


def _draw_seed(random_state: int | np.random.RandomState | None) -> int:
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, np.iinfo(np.int64).max, dtype=np.int64))
    return int(random_state)

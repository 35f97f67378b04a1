"""``semisift label`` as a user meets it."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier

from semisift import LabelledOnly, NoUnlabelledDataWarning, TransductiveClassifier
from semisift.cli.predict import DEFAULT_METHOD
from semisift.registry import CLASSIFIERS
from tests.commands import call, write_table
from tests.conftest import make_data

BASELINE = ("--method", "labelled-only")


@pytest.fixture
def folder(tmp_path):
    """Return a folder with table.csv: eight features, an id and few labels."""
    return write_table(tmp_path)


def label(folder, *arguments, code=0):
    given = ("--label", "label", "--id", "id", *arguments)
    return call("predict", folder / "table.csv", *given, code=code)


def read_labels(path):
    return pl.read_csv(path, comment_prefix="#", schema_overrides={"row": pl.String})


def baseline():
    data = make_data()
    return LabelledOnly(RandomForestClassifier(random_state=0)).fit(data.X, data.y), data


# --- what is written ------------------------------------------------------------------------------


def test_the_labels_are_those_of_python(folder):
    label(folder, *BASELINE, "--out", folder / "l.csv", "--probabilities")
    frame = read_labels(folder / "l.csv")
    model, data = baseline()
    probabilities = model.predict_proba(data.X)
    codes = np.where(data.y >= 0, data.y, model.predict(data.X))
    assert frame.columns == ["row", "given_label", "label", "confidence", "p_A", "p_B"]
    assert frame["row"].to_list() == [f"s{i}" for i in range(60)]
    assert frame["given_label"].to_list() == [None if y < 0 else "AB"[y] for y in data.y]
    assert frame["label"].to_list() == ["AB"[code] for code in codes]
    np.testing.assert_allclose(frame["confidence"], probabilities[np.arange(60), codes])
    np.testing.assert_allclose(frame.select("p_A", "p_B").to_numpy(), probabilities)


def test_given_labels_are_kept_where_the_classifier_would_say_otherwise(folder):
    frame = pl.read_csv(folder / "table.csv")
    labels = frame["label"].to_list()
    assert labels[0] == "A"
    labels[0] = "B"
    frame.with_columns(pl.Series("label", labels)).write_csv(folder / "table.csv")
    knn = ("--param", "estimator=knn:n_neighbors=5")
    label(folder, *BASELINE, *knn, "--out", folder / "l.csv", "--probabilities")
    first = read_labels(folder / "l.csv").row(0, named=True)
    assert first["label"] == first["given_label"] == "B"
    assert first["confidence"] == first["p_B"] < first["p_A"]


def test_all_forms_agree(folder):
    for name in ("l.csv", "l.tsv", "l.json", "l.parquet"):
        label(folder, *BASELINE, "--out", folder / name)
    expected = read_labels(folder / "l.csv")
    assert pl.read_parquet(folder / "l.parquet").equals(expected)
    assert json.loads(pl.read_parquet_metadata(folder / "l.parquet")["method"]) == "labelled-only"
    content = json.loads((folder / "l.json").read_text())
    assert pl.DataFrame(content["labels"]).equals(expected)
    assert content["input"]["labelled"] == {"A": 6, "B": 6}
    assert content["parameters"] == {"estimator": "RandomForestClassifier(random_state=0)"}
    tabs = pl.read_csv(folder / "l.tsv", comment_prefix="#", separator="\t")
    assert tabs.equals(expected)
    printed = label(folder, *BASELINE, "--out", "-").stdout
    assert printed == (folder / "l.csv").read_text()


def test_numbers_as_labels_and_rows_without_names(folder):
    data = make_data()
    frame = pl.DataFrame(data.X).with_columns(
        pl.Series("label", [None if y < 0 else str(y + 3) for y in data.y])
    )
    frame.write_csv(folder / "numbers.csv")
    call(
        *("predict", folder / "numbers.csv", "--label", "label", *BASELINE),
        *("--out", folder / "l.csv", "--probabilities"),
    )
    found = read_labels(folder / "l.csv")
    assert found["row"].to_list() == [str(i + 1) for i in range(60)]
    assert set(found["label"].to_list()) == {3, 4}
    assert {"p_3", "p_4"} < set(found.columns)


def test_rows_that_are_left_out_keep_the_numbers_of_the_others(folder):
    frame = pl.read_csv(folder / "table.csv").drop("id")
    first = [None, *frame["x0"].to_list()[1:]]
    frame.with_columns(pl.Series("x0", first)).write_csv(folder / "holes.csv")
    given = ("predict", folder / "holes.csv", "--label", "label", *BASELINE)
    shown = call(*given, "--missing", "drop-rows", "--out", folder / "l.csv").stdout
    assert read_labels(folder / "l.csv")["row"].to_list() == [str(i + 1) for i in range(1, 60)]
    assert "Note:" in shown
    assert "values are missing in 1 of" in call(*given, "--out", folder / "m.csv", code=1).stderr
    assert not (folder / "m.csv").exists()


def test_labels_in_a_file_of_their_own(folder):
    frame = pl.read_csv(folder / "table.csv")
    frame.drop("label").write_csv(folder / "values.csv")
    frame.select("id", "label").drop_nulls().write_csv(folder / "labels.csv")
    call(
        *("predict", folder / "values.csv", "--id", "id", "--labels", folder / "labels.csv"),
        *(*BASELINE, "--out", folder / "l.csv"),
    )
    label(folder, *BASELINE, "--out", folder / "expected.csv")
    assert read_labels(folder / "l.csv").equals(read_labels(folder / "expected.csv"))


def test_sparse_and_dense_agree(folder):
    data = make_data()
    X = np.where(np.abs(data.X) < 0.5, 0.0, data.X)
    y = np.where(data.y < 0, "", np.array(["A", "B"])[data.y])
    sparse = csr_array(X)
    parts = {name: getattr(sparse, name) for name in ("data", "indices", "indptr")}
    np.savez(folder / "sparse.npz", **parts, shape=sparse.shape, y=y)
    np.savez(folder / "dense.npz", X=X, y=y)
    for name in ("sparse", "dense"):
        call("predict", folder / f"{name}.npz", *BASELINE, "--out", folder / f"{name}.csv")
    assert read_labels(folder / "sparse.csv").equals(read_labels(folder / "dense.csv"))


def test_a_classifier_without_probabilities_has_no_confidence(folder):
    svm = ("--param", "estimator=svm")
    shown = label(folder, *BASELINE, *svm, "--out", folder / "l.csv").stdout
    assert read_labels(folder / "l.csv")["confidence"].null_count() == 60
    assert "nan" not in shown
    output = label(folder, *BASELINE, *svm, "--probabilities", "--out", folder / "m.csv", code=2)
    assert "labelled-only with estimator=svm tells no probabilities" in output.stderr


def test_the_seed_decides(folder):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        label(folder, *BASELINE, "--seed", seed, "--out", folder / f"{name}.csv")
    texts = [(folder / f"{name}.csv").read_text() for name in "abc"]
    assert texts[0] == texts[1]
    confidence = [read_labels(folder / f"{name}.csv")["confidence"].to_list() for name in "ac"]
    assert confidence[0] != confidence[1]


# --- what is shown --------------------------------------------------------------------------------


def test_the_summary_counts_labels(folder):
    shown = label(folder, *BASELINE, "--out", folder / "l.csv").stdout
    frame = read_labels(folder / "l.csv").filter(pl.col("given_label").is_null())
    rows = [line.split() for line in shown.replace("│", " ").splitlines()]
    for name in "AB":
        of_class = frame.filter(pl.col("label") == name)
        mean = f"{of_class['confidence'].mean():.3f}"
        assert [name, "6", str(len(of_class)), mean] in rows
    assert ["all", "12", "48", f"{frame['confidence'].mean():.3f}"] in rows
    assert "60 rows, of which 12 carry a label (6 A, 6 B); 8 features." in shown


def test_a_trial_tells_how_many_hidden_labels_were_found(folder):
    data = make_data(per_class=30)
    names = np.array(["A", "B"], dtype=object)[data.y]
    pl.DataFrame(data.X).with_columns(pl.Series("label", names)).write_csv(folder / "full.csv")
    shown = call(
        *("predict", folder / "full.csv", "--label", "label", "--labels-per-class", 4),
        *(*BASELINE, "--out", folder / "l.csv"),
    ).stdout
    frame = read_labels(folder / "l.csv")
    hidden = frame["given_label"].is_null().to_numpy()
    assert hidden.sum() == 52
    right = int((frame["label"].to_numpy() == names)[hidden].sum())
    assert f"Of the 52 hidden labels the method found {right}" in shown


def test_many_doubtful_labels_are_warned_of(folder):
    deep = label(folder, *BASELINE, "--param", "estimator=tree", "--out", folder / "l.csv", "-q")
    assert deep.stderr == deep.stdout == ""  # a tree is always sure
    vague = ("--param", "estimator=knn:n_neighbors=12")  # all labelled rows: 6 of each class
    shown = label(folder, *BASELINE, *vague, "--out", folder / "l.csv", "--quiet")
    assert "in doubt about 48 of 48 predicted labels (100%)" in shown.stderr
    assert shown.stdout == ""


def test_all_labelled_is_told(folder):
    data = make_data(per_class=30)
    pl.DataFrame(data.X).with_columns(pl.Series("label", data.y + 1)).write_csv(folder / "a.csv")
    given = ("predict", folder / "a.csv", "--label", "label", *BASELINE)
    with warnings.catch_warnings():
        warnings.simplefilter("always", NoUnlabelledDataWarning)
        assert "every row of" in call(*given, "--out", folder / "l.csv").stderr
    frame = read_labels(folder / "l.csv")
    assert frame["label"].to_list() == frame["given_label"].to_list() == (data.y + 1).tolist()


def test_labels_from_the_data_are_not_markup(folder):
    frame = pl.read_csv(folder / "table.csv")
    frame = frame.with_columns(pl.col("label").str.replace("A", "[red]#A"))
    frame.write_csv(folder / "table.csv")
    shown = label(folder, *BASELINE, "--out", folder / "l.csv").stdout
    assert "[red]#A" in shown
    assert "[red]#A" in read_labels(folder / "l.csv")["label"].to_list()


# --- what is refused ------------------------------------------------------------------------------


REFUSED = [
    (["--out", "l.txt"], 2, ".csv or .tsv or .parquet or .json"),
    (["--out", "table.csv"], 2, "is a file that is read"),
    (["--out", "nowhere/l.csv"], 2, "does not exist"),
    ([], 2, "Missing option '--out'"),
    (["--out", "l.csv", "--method", "x"], 2, "there is no learner 'x'. There are"),
    (["--out", "l.csv", "--method", "ssfi"], 2, "labelled-only"),
    (["--out", "l.csv", "--param", "depth=3"], 2, "LabelledOnly has no parameter 'depth'"),
    (["--out", "l.csv", "--param", "estimator"], 2, "must be NAME=VALUE"),
    (["--out", "l.csv", "--param", "random_state=1"], 2, "option of its own: --seed"),
    (["--out", "l.csv", "--param", "estimator=oak"], 1, "there is no estimator 'oak'"),
    (["--out", "l.csv", "--param", "estimator=0"], 1, "'fit' and 'predict'. Got 0 instead"),
    (["--out", "l.csv", "--param", "estimator=[]"], 1, "'fit' and 'predict'. Got [] instead"),
    (["--out", "l.csv", "--param", "estimator=knn:k=3"], 1, "Parameters are n_neighbors"),
    (["--out", "l.csv", "--label", "size"], 1, "--label size:"),
    (["--out", "l.csv", "--unlabelled", "B"], 1, "at least two classes"),
    (["--out", "l.csv", "--seed", "-1"], 2, "--seed"),
    (["--out", "l.csv", "--must-link", "p.csv"], 2, "No such option"),
    (["--out", "l.csv", "--top", "3"], 2, "No such option"),
]


def test_refused(folder, monkeypatch):
    for arguments, code, words in REFUSED:
        monkeypatch.chdir(folder)
        before = (folder / "table.csv").read_bytes()
        method = () if "--method" in arguments else BASELINE
        stderr = label(folder, *method, *arguments, code=code).stderr
        assert words in " ".join(stderr.split())
        assert {path.name for path in folder.iterdir()} == {"table.csv"}
        assert (folder / "table.csv").read_bytes() == before


def test_labels_that_are_not_named_are_asked_for(folder):
    output = call("predict", folder / "table.csv", *BASELINE, "--out", folder / "l.csv", code=1)
    assert "labelled-only needs labels. Pass --label" in " ".join(output.stderr.split())


def test_a_classifier_that_takes_no_sparse_rows(folder):
    sparse = csr_array(make_data().X)
    parts = {name: getattr(sparse, name) for name in ("data", "indices", "indptr")}
    y = np.where(make_data().y < 0, "", np.array(["A", "B"])[make_data().y])
    np.savez(folder / "sparse.npz", **parts, shape=sparse.shape, y=y)
    given = ("predict", folder / "sparse.npz", *BASELINE, "--param", "estimator=nb")
    output = call(*given, "--out", folder / "l.csv", code=1).stderr
    assert "labelled-only cannot learn from" in output
    assert not (folder / "l.csv").exists()


# --- learners -------------------------------------------------------------------------------------


def test_the_default_is_transduction(folder):
    assert DEFAULT_METHOD == "transduction"
    label(folder, "--out", folder / "l.csv", "--probabilities")
    frame = read_labels(folder / "l.csv")
    data = make_data()
    model = TransductiveClassifier(random_state=0).fit(data.X, data.y)
    assert frame["label"].to_list() == ["AB"[code] for code in model.transduction_]
    hidden = data.y < 0
    expected = model.label_distributions_[hidden]
    np.testing.assert_allclose(frame.select("p_A", "p_B").to_numpy()[hidden], expected, atol=1e-9)


def test_the_default_takes_known_shares_of_the_classes(folder):
    mean = []
    for number, prior in enumerate(('{"A": 0.8, "B": 0.2}', '{"A": 0.2, "B": 0.8}')):
        out = folder / f"{number}.csv"
        label(folder, "--param", f"class_prior={prior}", "--out", out, "--probabilities")
        mean.append(read_labels(out)["p_A"].mean())
    assert mean[0] > mean[1] + 0.02


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=[] if name in ("transduction", "co-forest") else pytest.mark.nightly
        )
        for name in CLASSIFIERS
    ],
)
def test_every_learner_labels(folder, name):
    label(folder, "--method", name, "--out", folder / "l.csv", "--probabilities")
    frame = read_labels(folder / "l.csv")
    truth = ["AB"[code] for code in make_data().y_true]
    assert np.mean(frame["label"].to_numpy() == truth) > 0.7
    np.testing.assert_allclose(frame["p_A"] + frame["p_B"], 1)


def test_learners_are_listed_and_told(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    listed, alone = call("methods").stdout, call("methods", "--learners").stdout
    for name in CLASSIFIERS:
        assert name in listed
        assert name in alone
    assert "enscls" in listed
    assert "enscls" not in alone
    output = call("methods", "labelled-only").stdout
    for word in ("learner", "Breiman", "estimator"):
        assert word in output
    assert "labelled-only" in call("methods", "x", code=2).stderr


# --- long work ------------------------------------------------------------------------------------


class Slow(KNeighborsClassifier):
    """A classifier that says when it begins, and takes its time."""

    def fit(self, X, y):
        print("begun", file=sys.stderr, flush=True)
        time.sleep(60)


@pytest.mark.kill
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for other processes")
def test_an_interruption_leaves_nothing_and_says_so(folder):
    (folder / "out").mkdir()
    command = [sys.executable, "-m", "semisift", "predict", str(folder / "table.csv")]
    command += ["--label", "label", "--id", "id", *BASELINE, "--out", str(folder / "out" / "l.csv")]
    command += ["--param", f"estimator={__name__}.Slow"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr.readline() == b"begun\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert b"Interrupted" in errors
    assert list((folder / "out").iterdir()) == []


# --- labels that tell nothing ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def nothing(tmp_path_factory):
    """Return a table of noise whose labels are drawn at random."""
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(rng.normal(size=(60, 200)), schema=[f"x{j}" for j in range(200)])
    labels = ["AB"[row % 2] if row < 10 else None for row in range(60)]
    path = tmp_path_factory.mktemp("nothing") / "table.csv"
    frame.with_columns(pl.Series("label", labels, dtype=pl.String)).write_csv(path)
    return path


def test_labels_that_tell_nothing_are_told(nothing, tmp_path):
    wanted = "The labels may tell nothing: the classes of 10 labelled rows left out in turn"
    out, page = tmp_path / "l.csv", tmp_path / "page.html"
    found = call("predict", nothing, "--label", "label", "--out", out)
    assert wanted in " ".join(found.output.split())
    assert pl.read_csv(out, comment_prefix="#")["confidence"][10:].mean() < 0.6
    found = call("rank", nothing, "--label", "label", "--method", "transductive", "--report", page)
    assert wanted in " ".join(found.output.split())
    assert wanted in page.read_text(encoding="utf-8")


def test_one_class_comes_with_a_caution(folder):
    frame = pl.read_csv(folder / "table.csv")
    only = pl.when(pl.col("label") == "A").then("label").alias("label")
    frame.with_columns(only).write_csv(folder / "table.csv")
    found = label(folder, "--out", folder / "l.csv")
    assert "cannot tell the class from a batch" in " ".join(found.output.split())

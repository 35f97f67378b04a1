"""Files of a store that are valid JSON with wrong content are named with what is wrong."""

import json
import shutil
import warnings

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_iris, load_wine

from semisift import Protocol, Results, compare
from semisift.cli import main
from semisift.comparison._store import ABOUT_RUNS, Store, check_about, check_record
from semisift.papers.cotraining import CommitteeRecords
from tests.nightly import few_daily
from tests.papers.test_cotraining import make_set, plan_of, run_committees

MISSING = "missing"
WRONG = [None, "x", 7, -1.5, True, [], ["x"], [[]], {}, {"x": None}, 10**400, 1e308 * 10, MISSING]
WRONG += ["", "\ud800", float("nan"), -1e299]
NESTED = '{"format": 1, "notes": ' + "[" * 100_000 + "]" * 100_000 + "}"


def places(content, before=()):
    """Yield the path of every part of a content, itself first."""
    yield before
    parts = content.items() if isinstance(content, dict) else enumerate(content)
    for name, part in parts if isinstance(content, dict | list) else ():
        if not isinstance(name, int) or name == 0:  # one of each list will do
            if isinstance(part, dict | list):
                yield from places(part, (*before, name))
            else:
                yield (*before, name)


def changed(content, place, value):
    """Return a content that is another in one place."""
    if not place:
        return None if value == MISSING else value
    first, *rest = place
    intact = content.copy()
    if rest:
        intact[first] = changed(content[first], rest, value)
    elif value == MISSING:
        del intact[first]
    else:
        intact[first] = value
    return intact


# --- stores ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def intact(tmp_path_factory):
    """Return a folder with stores of the command line, of a sweep and of committees."""
    folder = tmp_path_factory.mktemp("whole")
    for name, load in (("iris", load_iris), ("wine", load_wine)):
        X, y = load(return_X_y=True)
        np.savez(folder / f"{name}.npz", X=X, y=y)
    given = ["compare", *(str(folder / f"{name}.npz") for name in ("iris", "wine"))]
    given += ["--methods", "fisher,random", "--judge", "nb", "--judge", "tree", "--runs", "2"]
    made = CliRunner().invoke(main, [*given, "--sizes", "1,2", "--out", str(folder / "rankings")])
    assert made.exit_code == 0, made.output
    sets = {"iris": load_iris(return_X_y=True)}
    protocol = Protocol(n_runs=1, sizes=(1,), judges=("nb",))
    published = {"source": "a paper", "tables": {"nb": {"iris": {"random": 0.5}}}}
    published |= {"sentences": ["So it is."], "spreads": {"nb": {"iris": {"random": 0.1}}}}
    notes = {"published": published, "command": "semisift compare"}
    sweep = {"sweep": "labels=1,2", "notes": notes}
    compare("random", sets, protocol, out=folder / "sweep", **sweep)
    notes = {
        **notes,
        "moments": {"co-training": {"OptDigits": [0.5, None]}},
        "missing": {"datasets": []},
    }
    plan = plan_of(
        "rasco", "co-training", n_runs=1, sets=[make_set("OptDigits", labelled_share=0.2)]
    )
    run_committees(plan, out=folder / "committees", notes=notes)
    return folder


@pytest.fixture
def stores(intact, tmp_path):
    """Return a copy whose files may be damaged; the tables are where they were."""
    for name in ("rankings", "sweep", "committees"):
        shutil.copytree(intact / name, tmp_path / name)
    return tmp_path


def files_of(store):
    return store / ABOUT_RUNS, sorted(store.glob("records/*/*/*.json"))[0]


def loaded(store):
    return (CommitteeRecords if store.name == "committees" else Results).load(store)


def report(store, folder):
    given = ["report", str(store), "--summary", str(folder / "summary"), "--markdown"]
    return CliRunner().invoke(main, [*given, str(folder / "table.md")])


def resume(store, folder):
    return CliRunner().invoke(main, ["compare", "--resume", "--out", str(store)])


# --- every part of every file ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rankings", "sweep", "committees"])
def test_whatever_stands_in_a_file_is_read_or_refused(intact, name):
    """What passes the check is what all others rely on: see the test that goes on from there."""
    about, record = (json.loads(path.read_text()) for path in files_of(intact / name))
    n_refused = 0
    for content, check in ((about, check_about), (record, lambda new: check_record(new, about))):
        check(content)
        for place in places(content):
            for value in WRONG:
                try:
                    check(changed(content, place, value))
                except ValueError:
                    n_refused += 1
    assert n_refused > 500


# --- through the commands -------------------------------------------------------------------------

# Wrong in a way that used to end in a traceback, or might: where, and what stands there instead.
DAMAGE = {
    "about": [
        *((("notes",), value) for value in (None, "x", [], 3)),
        *((("sweep",), value) for value in ("x", [], {}, {"kind": "labels"})),
        *((("sweep",), {"kind": kind, "levels": levels}) for kind, levels in (
            ("labels", ["x"]), ("labels", []), ("labels", None), ("rain", [1]), ("labels", [0.5])
        )),
        *((("datasets",), value) for value in (None, "x", [], {}, {"iris": None}, {"iris": {}})),
        *((("methods",), value) for value in (None, "x", [], {}, {"random": "x"})),
        *((("protocol",), value) for value in (None, "x", [], {})),
        *((("protocol", "n_runs"), value) for value in (None, "x", 0, 1.5, MISSING)),
        (("protocol", "n_runs"), 400_000),  # two tables, two methods
        (("protocol", "n_runs"), 10**12),
        *((("protocol", "sizes"), value) for value in (None, "x", 3, [], [0], [[1]], ["1"])),
        *((("protocol", "judges"), value) for value in (None, "nb", [], [3], [["nb"]])),
        *((("protocol", "metrics"), value) for value in (None, "x", ["x"], [{}])),
        *((("protocol", "train_size"), value) for value in (None, "x", 2)),
        *((("protocol", "labelled_share"), value) for value in ("x", [], 3)),
        *((("protocol", "seed"), value) for value in (None, "x", -1)),
        *((("versions",), value) for value in ("x", [], {"numpy": None})),
        *((("max_seconds",), value) for value in ("x", [], {}, True)),
        *((("kind",), value) for value in ("x", [], 3)),
        *((("notes", "published"), value) for value in ("x", [], {"sentences": 3})),
        *((("notes", "command"), value) for value in ([], 3, {})),
    ],
    "record": [
        *((("measured",), value) for value in (None, "x", [], {}, {"seconds": "x"}, MISSING)),
        *((("measured", "seconds"), value) for value in ("x", [], {}, MISSING)),
        *((("curves",), value) for value in (None, "x", [], {}, {"nb": {}}, {"nb": None}, MISSING)),
        *((("curves", "nb", "accuracy"), [0.5] * n_sizes) for n_sizes in (0, 1, 3)),
        *((("warnings",), value) for value in (None, "x", [3], MISSING)),
        *((("top",), value) for value in (None, "x", [-1], [10**6], [1, 1], ["x"], [[0]])),
        *((("top",), value) for value in ([], [0], [0, 10**6])),  # two sizes are judged
        *((("parameters",), value) for value in (None, "x", [1])),
        *((("status",), value) for value in (None, "x", [], "failed", MISSING)),
        *((("level",), value) for value in ("x", [], 77.5)),
        *((("run",), value) for value in (None, "0", -1, 0.5, 99)),
        *((("dataset",), value) for value in (None, [], {}, "other")),
        *((("method",), value) for value in (None, [], {}, "other")),
        *((("versions",), value) for value in (None, "x", {"numpy": None}, MISSING)),
        *((("n_train",), value) for value in (None, 0, "x", MISSING)),
        *((("n_features",), value) for value in (None, 0, 10**6, MISSING)),
        *((("split",), value) for value in (None, [], MISSING)),
        ((), None),
        ((), []),
        ((), "x"),
        ((), {}),
    ],
}  # fmt: skip
CASES = [(which, *damage) for which, several in DAMAGE.items() for damage in several]

# The same of committees.
OF_COMMITTEES = {
    "about": [
        (("sweep",), {"kind": "labels", "levels": [1]}),
        *((("methods", "rasco"), value) for value in (None, {}, [1])),
        *((("methods", "rasco", "varied"), value) for value in (None, "x", MISSING)),
        *((("methods", "rasco", "levels"), value) for value in (None, 3, [-1], ["x"], MISSING)),
        *((("methods", "rasco", "parameters"), value) for value in (None, "x", [1], MISSING)),
        (("protocol", "n_runs"), 10**6),
    ],
    "record": [
        *((("curves",), value) for value in ({}, {"accuracy": [0.5, 0.5]}, MISSING)),
        *((("curves", "accuracy"), value) for value in ([], [0.5], [0.5] * 3, [0.5, "x"], 0.5)),
    ],
}
CASES_OF_COMMITTEES = [
    (which, *damage) for which, several in OF_COMMITTEES.items() for damage in several
]


def refuse(command, store, folder, path):
    result = command(store, folder)
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 1, result.output
    output = " ".join(result.stderr.split())
    assert str(path) in output
    assert "damaged" in output or "is not a file of a comparison" in output


def contents(about):
    """Return what the files of a comparison say; its own file, with keys in whatever order."""
    found = {file: file.read_bytes() for file in about.parent.rglob("*.json")}
    return found | {about: json.dumps(json.loads(found[about]), sort_keys=True)}


@pytest.mark.parametrize(("which", "place", "value"), few_daily(CASES, 12))
def test_damage_is_named(stores, which, place, value):
    about, record = files_of(stores / "rankings")
    path = about if which == "about" else record
    path.write_text(json.dumps(changed(json.loads(path.read_text()), place, value)))
    before = contents(about)
    for command in (report, resume):
        refuse(command, stores / "rankings", stores, path)
    with pytest.raises(ValueError, match=r"damaged|is not a file of a comparison"):
        Results.load(stores / "rankings")
    assert contents(about) == before


@pytest.mark.parametrize(("which", "place", "value"), few_daily(CASES_OF_COMMITTEES, 3))
def test_damage_of_committees_is_named(stores, which, place, value):
    about, record = files_of(stores / "committees")
    path = about if which == "about" else record
    path.write_text(json.dumps(changed(json.loads(path.read_text()), place, value)))
    refuse(report, stores / "committees", stores, path)
    with pytest.raises(ValueError, match=r"damaged|is not a file of a comparison"):
        CommitteeRecords.load(stores / "committees")


@pytest.mark.parametrize("name", ["rankings", "sweep", "committees"])
@pytest.mark.parametrize(
    "content", few_daily([NESTED, "[" * 100_000, '{"a":' * 100_000, "1" * 10_000], 2)
)
@pytest.mark.parametrize("which", few_daily([0, 1], 1))
def test_files_that_json_itself_gives_up_on(stores, name, content, which):
    path = files_of(stores / name)[which]
    path.write_text(content)
    refuse(report, stores / name, stores, path)


@pytest.mark.parametrize(
    "options",
    few_daily(
        [
            *({"runs": value} for value in ("x", 0, 2.5, [], ["2"])),
            *({"sizes": value} for value in ("x", 3, ["1"], "0")),
            *({"methods": value} for value in ("fisher", 3, None, ["fisher:"])),
            *({"judge": value} for value in ("nb", 3, None, ["nb:x=1"])),
            *({"protocol": value} for value in ("x", None, 3)),
            *({"sweep": value} for value in ("x", 3, [])),
            *({"metric": value} for value in (["x"], 3)),
            *({"n_jobs": value} for value in ("x", [], 0)),
            *({"train_on": value} for value in ("x", 3)),
            *({"missing": value} for value in ("x", 3)),
            *({"max_seconds": value} for value in ("x", -1)),
        ],
        6,
    ),
    ids=repr,
)
def test_options_that_the_command_line_would_refuse(stores, options):
    path = stores / "rankings" / ABOUT_RUNS
    about = json.loads(path.read_text())
    about["notes"]["options"] |= options
    path.write_text(json.dumps(about))
    refuse(resume, stores / "rankings", stores, path)


@pytest.mark.parametrize("name", few_daily(["sweep", "rankings", "committees"], 1))
def test_what_passes_the_check_can_be_shown(stores, name):
    """A sample of all damages that are none, or that the check lets pass."""
    rng = np.random.default_rng(0)
    store, n_shown = stores / name, 0
    for path in files_of(store):
        text = path.read_text()
        content = json.loads(text)
        every = [(place, value) for place in places(content) for value in WRONG]
        for number in rng.permutation(len(every)):
            place, value = every[number]
            path.write_text(json.dumps(changed(content, place, value)))
            try:
                loaded(store)
            except ValueError:
                continue
            result = report(store, stores)
            assert isinstance(result.exception, SystemExit | None), (place, value)
            n_shown += 1
            if n_shown % 4 == 0:
                break
        path.write_text(text)
    assert n_shown == 8


OF_THE_PLACE = ("dataset", "method", "run", "level", "status")


@pytest.mark.parametrize(
    "value",
    few_daily(["\ud800\0<b>\x1b[1m", 1e299, -1e299, 0], 1),
    ids=["text", "huge", "negative", "zero"],
)
@pytest.mark.parametrize("name", ["rankings", "sweep", "committees"])
def test_odd_values_in_all_places_that_take_them(stores, name, value):
    """Half a character, control characters, numbers whose squares overflow: shown, or refused."""
    store = stores / name
    about = _odd(json.loads((store / ABOUT_RUNS).read_text()), check_about, value)
    for path in store.glob("records/*/*/*.json"):
        record = json.loads(path.read_text())
        path.write_text(json.dumps(_odd(record, lambda new: check_record(new, about), value)))
    (store / ABOUT_RUNS).write_text(json.dumps(about))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of squares that overflow, and of axes without a length
        for command in (report, resume) if name == "rankings" else (report,):
            result = command(store, stores)
            assert isinstance(result.exception, SystemExit | None), result.exception
            assert "Traceback" not in result.output


def _odd(content, check, value):
    """Return a content with a value in all places that take it, but for those that name it."""
    for place in list(places(content)):
        if place and place[0] not in (*OF_THE_PLACE, "format"):
            try:
                other = changed(content, place, value)
                check(other)
            except (ValueError, LookupError, TypeError, AttributeError):  # also of what is gone
                continue
            content = other
    return content


def test_whole_records_are_kept(stores):
    store = stores / "rankings"
    intact = Results.load(store)
    _, path = files_of(store)
    path.write_text("{}")
    others = {file: file.stat().st_mtime_ns for file in store.rglob("*.json") if file != path}
    refuse(resume, store, stores, path)
    path.unlink()
    assert resume(store, stores).exit_code == 0
    assert Results.load(store).same_numbers(intact)
    kept = {file: file.stat().st_mtime_ns for file in others if file.name != ABOUT_RUNS}
    assert kept.items() <= others.items()


@pytest.mark.parametrize("target", ["rel-rasco-fig1", "ssfi-table2"])
def test_reproductions_are_resumed_by_the_same_rules(tmp_path, target):
    for stem in ("optdigits", "colon"):
        data = make_set(stem)
        np.savez(tmp_path / f"{stem}.npz", X=data.X, y=data.y)
    methods = "rasco" if target == "rel-rasco-fig1" else "random"
    given = ["reproduce", target, "--data", str(tmp_path), "--methods", methods, "--runs", "1"]
    given += ["--out", str(tmp_path / "out"), "--resume"]
    made = CliRunner().invoke(main, given)
    assert made.exit_code == 0, made.output
    for path, place in zip(files_of(tmp_path / "out"), ("notes", "measured"), strict=True):
        text = path.read_text()
        for value in (None, "x", 3, [], MISSING):
            path.write_text(json.dumps(changed(json.loads(text), (place,), value)))
            refuse(lambda *_: CliRunner().invoke(main, given), tmp_path / "out", tmp_path, path)
        path.write_text(text)
    assert CliRunner().invoke(main, given).exit_code == 0


def test_what_cannot_be_read_back_is_not_written(tmp_path):
    sets = {"iris": load_iris(return_X_y=True)}
    with pytest.raises(ValueError, match=r"notes\.files must be a mapping: got 3"):
        compare("random", sets, Protocol(n_runs=1), out=tmp_path / "out", notes={"files": 3})
    assert not Store(tmp_path / "out").exists

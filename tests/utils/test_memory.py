"""How much memory is free, within the limits of the control groups of a process."""

import sys
from types import SimpleNamespace

import pytest

from semisift.utils import _memory
from semisift.utils._memory import free_on_machine, left_in_cgroups

GB = 10**9
V1 = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
V2 = "memory.max", "memory.current", "inactive_file"


def make_group(folder, names, limit, used, cached=0):
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in zip(names, (limit, used), strict=False):
        (folder / name).write_text(f"{value}\n")
    (folder / "memory.stat").write_text(f"anon 7\n{names[2]} {cached}\n")


def make_process(folder, groups, mounts):
    """Write what a process says of its control groups and of where they are mounted."""
    folder.mkdir()
    (folder / "cgroup").write_text("\n".join(groups))
    lines = [f"32 31 0:29 {root} {at} rw - {kind}" for root, at, kind in mounts]
    (folder / "mountinfo").write_text("\n".join(["22 1 8:1 / / rw - ext4 /dev/sda rw", *lines]))
    return folder


def test_limits_of_a_slice_and_all_above_it(tmp_path):
    """As systemd has it: a job in a slice, of which the outer one leaves less."""
    mount = tmp_path / "unified"
    make_group(mount / "user.slice", V2, 8 * GB, 5 * GB, GB)
    make_group(mount / "user.slice/job", V2, 16 * GB, 5 * GB)
    process = make_process(
        tmp_path / "self", ["0::/user.slice/job"], [("/", mount, "cgroup2 c rw")]
    )
    assert left_in_cgroups(process) == 4 * GB  # pages of files that are not in use are free
    make_group(mount / "user.slice", V2, "max", 5 * GB)
    assert left_in_cgroups(process) == 11 * GB


def test_limits_of_version_1_as_slurm_sets_them(tmp_path):
    mount = tmp_path / "memory"
    make_group(mount / "slurm/job_7/step_0", V1, 2 * GB, GB, GB // 4)
    groups = ["5:cpu,cpuacct:/x", "4:memory:/slurm/job_7/step_0", "0::/"]
    kinds = [("/", tmp_path / "cpu", "cgroup c rw,cpu"), ("/", mount, "cgroup c rw,memory")]
    process = make_process(tmp_path / "self", groups, kinds)
    assert left_in_cgroups(process) == GB + GB // 4


def test_the_group_of_a_container_is_the_root_of_its_mount(tmp_path):
    make_group(tmp_path / "memory", V1, 3 * GB, GB)
    mounts = [("/docker/abc", tmp_path / "memory", "cgroup c rw,memory")]
    process = make_process(tmp_path / "self", ["4:memory:/docker/abc"], mounts)
    assert left_in_cgroups(process) == 2 * GB


def test_without_control_groups_there_is_no_limit(tmp_path):
    assert left_in_cgroups(tmp_path) is None


def test_psutil_is_asked_where_it_is_there(monkeypatch, tmp_path):
    fake = SimpleNamespace(virtual_memory=lambda: SimpleNamespace(available=5 * GB))
    monkeypatch.setitem(sys.modules, "psutil", fake)
    assert free_on_machine(tmp_path / "none") == 5 * GB


def test_what_is_not_known_to_be_free_is_not_taken_as_free(monkeypatch, tmp_path):
    """Neither psutil nor /proc/meminfo: of all the memory, a half."""
    monkeypatch.setitem(sys.modules, "psutil", None)
    sizes = {"SC_PHYS_PAGES": 2_000_000, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(_memory.os, "sysconf", sizes.__getitem__)
    assert free_on_machine(tmp_path / "none") == 4_096_000_000
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable: 3 kB\n")
    assert free_on_machine(tmp_path / "meminfo") == 3072
    monkeypatch.setattr(_memory.os, "sysconf_names", {})  # Windows
    assert free_on_machine(tmp_path / "none") is None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of Linux")
def test_this_process_has_some_memory():
    assert 0 < _memory.available_memory() <= free_on_machine()

"""Each tool's report as it prints it: what is read is what a person reads there, in bytes."""

import json
from typing import Any

import pytest

from apportion.errors import InputError
from apportion.sources.storage.forms.detect import parse_text
from apportion.sources.storage.report import Part, Said, Size, limit, rounded, size

KIB = 1024


def found(text: str, **told: Any) -> tuple[dict[tuple[str, str], dict[str, tuple[int, int | None]]], Said]:
    said = Said("report.txt", text, **told)
    parts = [part for part in parse_text(said) if isinstance(part, Part)]
    return {
        (part.volume, part.kind): {level.name: (level.used, level.quota) for level in part.levels} for part in parts
    }, said


def sizes(text: str, **told: Any) -> dict[str, int]:
    return {one.volume: one.amount for one in parse_text(Said("report.txt", text, **told)) if isinstance(one, Size)}


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("7", 1024, 7 * 1024),
        ("7*", 1024, 7 * 1024),
        ("[7]", 1024, 7 * 1024),
        ("[7*]", 1024, 7 * 1024),
        ("1.5T", 1, 3 * 2**39),
        ("792.3M", 1024, 830786765),
        ("0k", 1, 0),
        ("2 GiB", 1, 2**31),
        ("12B", 1024, 12),
        ("512 B", 1024, 512),
        ("1,5T", 1, None),
        ("-", 1, None),
        ("6d23h", 1, None),
        ("", 1, None),
    ],
)
def test_sizes(text: str, unit: int, expected: int | None) -> None:
    assert size(text, unit) == expected


def test_the_hard_limit_goes_before_the_soft_one_and_zero_is_none() -> None:
    assert limit("200", "100", unit=KIB) == 200 * KIB
    assert limit("0", "100", unit=KIB) == 100 * KIB
    assert limit("0k", "none") is None
    assert limit("-", "0") is None


LUSTRE = """\
Disk quotas for usr alice (uid 1001):
      Filesystem  kbytes   quota   limit   grace   files   quota   limit   grace
/lustre/scratch/with/a/long/path
                 7000*    5000   10000 6d23h59m      12       0       0       -
scratch-MDT0000_UUID
                    40       -       0       -       7       -       0       -
scratch-OST0000_UUID
                  6960*      -    6960       -       -       -       -       -
Total allocated inode limit: 0, total allocated block limit: 6960
uid 1001 is using default file quota setting
Disk quotas for grp vision (gid 2001):
      Filesystem  kbytes   quota   limit   grace   files   quota   limit   grace
         /lustre  [1041408]  5242880 6291456       -     [0]       0       0       -
Some errors happened when getting quota info. Some devices may be not working or deactivated. The data in "[]" is inaccurate.
Disk quotas for prj 30001 (pid 30001):
      Filesystem  kbytes   quota   limit   grace   files   quota   limit   grace
         /lustre   124       0       0       -       1       0       0       -
"""


def test_lfs_quota_of_a_user_a_group_and_a_project() -> None:
    parts, said = found(LUSTRE)
    assert parts == {
        ("lustre/scratch/with/a/long/path", "user"): {"alice": (7000 * KIB, 10000 * KIB)},
        ("lustre", "group"): {"vision": (1041408 * KIB, 6291456 * KIB)},
        ("lustre", "project"): {"30001": (124 * KIB, None)},
    }
    assert [(problem.where, problem.code) for problem in said.problems] == [("report.txt:13", "estimated")]
    assert all(not part.whole for part in parse_text(Said("r", LUSTRE)) if isinstance(part, Part)), "one name each"


def test_lfs_quota_of_all() -> None:
    text = """\
      Filesystem   quota_prj  kbytes   quota   limit   grace   files   quota   limit   grace
/lustre/aifs/client  30001  16384000  0  20971520  -  2  0  0  -
/lustre/aifs/client  30002  16*  0  8  -  2  0  0  -
"""
    parts, said = found(text)
    assert parts == {
        ("lustre/aifs/client", "project"): {"30001": (16384000 * KIB, 20971520 * KIB), "30002": (16 * KIB, 8 * KIB)}
    }
    assert not said.problems
    assert all(part.whole for part in parse_text(Said("r", text)) if isinstance(part, Part))


def test_quota_of_linux_with_an_empty_grace_column() -> None:
    parts, said = found("""\
Disk quotas for user alice (uid 6215): 
     Filesystem   space   quota   limit   grace   files   quota   limit   grace
          /users  14340M  16384M  20480M            160k       0       0        
""")  # noqa: W291 - as it is printed
    assert parts == {("users", "user"): {"alice": (14340 * 2**20, 20480 * 2**20)}}
    assert [problem.code for problem in rounded(said)] == ["rounded-sizes"]


GPFS = """\
*** Report for USR GRP FILESET quotas on fs0
                         Block Limits                                    |                     File Limits
Name       fileset    type             KB      quota      limit   in_doubt    grace |    files   quota    limit in_doubt    grace entryType
alice      home       USR              10         20         30          5   7 days |       56       0        0       34     none e
alice      data       USR               7          0          0          0     none |        8       0        0        1     none i
vision     root       GRP            1024          0       2048          0  expired |        3       0        0        0     none e
data       root       FILESET        4096       8192       8192        128     none |        3       0        0        0     none e
"""
COLONS = """\
*** Report for USR FILESET quotas on fs0
mmrepquota::HEADER:version:reserved:reserved:filesystemName:quotaType:id:name:blockUsage:blockQuota:blockLimit:blockInDoubt:blockGrace:\
filesUsage:filesQuota:filesLimit:filesInDoubt:filesGrace:remarks:quota:defQuota:fid:filesetname:
mmrepquota::0:1:::fs0:USR:1001:alice:10:20:30:5:none:1:0:0:0:none:i:on:off:0:home:
mmrepquota::0:1:::fs0:USR:1001:alice:7:0:0:0:none:1:0:0:0:none:i:on:off:1:data:
mmrepquota::0:1:::fs0:FILESET:1:pro%3Aject:4096:8192:8192:0:none:1:0:0:0:none:e:on:off:::
mmrepquota::0:1:::fs0:ODD:1:x:4096:8192:8192:0:none:1:0:0:0:none:e:on:off:::
"""


def test_mmrepquota_adds_up_the_filesets_of_a_user() -> None:
    parts, said = found(GPFS)
    assert parts == {
        ("fs0", "user"): {"alice": (17 * KIB, 30 * KIB)},
        ("fs0", "group"): {"vision": (1024 * KIB, 2048 * KIB)},
        ("fs0", "fileset"): {"data": (4096 * KIB, 8192 * KIB)},
    }
    assert not said.problems


def test_mmrepquota_with_colons_by_the_names_of_its_header() -> None:
    parts, said = found(COLONS)
    assert parts[("fs0", "user")] == {"alice": (17 * KIB, 30 * KIB)}
    assert parts[("fs0", "fileset")] == {"pro:ject": (4096 * KIB, 8192 * KIB)}
    assert [problem.where for problem in said.problems] == ["report.txt:6"]


def test_mmrepquota_in_another_unit() -> None:
    text = GPFS.replace("  KB  ", "  GB  ")
    assert found(text)[0][("fs0", "user")] == {"alice": (17 * 2**30, 30 * 2**30)}


def test_repquota() -> None:
    parts, said = found("""\
*** Report for user quotas on device /dev/sda1
Block grace time: 7days; Inode grace time: 7days
                        Block limits                File limits
User            used    soft    hard  grace    used  soft  hard  grace
----------------------------------------------------------------------
root      --      20       0       0              2     0     0       
alice     +- 1052672 1048576 2097152  6days     100     0     0       
#1007     --       4       0       8              1     0     0       
broken line here
""")  # noqa: W291
    assert parts == {
        ("dev/sda1", "user"): {
            "root": (20 * KIB, None),
            "alice": (1052672 * KIB, 2097152 * KIB),
            "#1007": (4 * KIB, 8 * KIB),
        }
    }
    assert [problem.where for problem in said.problems] == ["report.txt:9"]


def test_xfs_quota_of_users_and_projects() -> None:
    parts, said = found("""\
User quota on /users (/dev/sdb1)
                               Blocks                     
User ID          Used       Soft       Hard    Warn/Grace     
---------- -------------------------------------------------- 
root                0          0          0     00 [--------]
alice         1048576    2097152    3145728     00 [6 days]

Project quota on /data (/dev/sdc1)
                               Blocks                     
Project ID       Used       Soft       Hard    Warn/Grace     
---------- -------------------------------------------------- 
vision           4096          0       8192     00 [--------]
""")  # noqa: W291
    assert parts == {
        ("users", "user"): {"root": (0, None), "alice": (2**30, 3 * 2**30)},
        ("data", "project"): {"vision": (4096 * KIB, 8192 * KIB)},
    }
    assert not said.problems


def test_df_with_a_wrapped_device_and_lfs_df_by_its_summary() -> None:
    assert sizes("""\
Filesystem           1024-blocks      Used Available Capacity Mounted on
/dev/mapper/a-very-long-name-of-a-volume
                         1000000    400000    600000      40% /srv/my data
tmpfs                       2048         0      2048       0% /run
""") == {"srv/my data": 1000000 * KIB, "run": 2048 * KIB}
    assert sizes("Filesystem 1B-blocks Used Available Use% Mounted on\n/dev/a 1000 1 999 1% /\n") == {"root": 1000}
    assert sizes("""\
UUID                   1K-blocks        Used   Available Use% Mounted on
users-MDT0000_UUID        815800        3100      810600   1% /users[MDT:0]
users-OST0000_UUID       2600000      660000     2000000  25% /users[OST:0]

filesystem_summary:      2600000      660000     2000000  25% /users
""") == {"users": 2600000 * KIB}


def test_rbd_du_with_snapshots_as_text_and_as_json() -> None:
    text = """\
warning: fast-diff map is not enabled for vm-2. operation may be slow.
NAME        PROVISIONED  USED
vm-1@daily       10 GiB    1 GiB
vm-1             10 GiB  512 MiB
vm-2             20 GiB      0 B
<TOTAL>          30 GiB  1.5 GiB
"""
    expected = {("rbd", "image"): {"vm-1": (2**30 + 2**29, 10 * 2**30), "vm-2": (0, 20 * 2**30)}}
    parts, said = found(text, volume="rbd")
    assert parts == expected
    assert not said.problems
    images = [
        {"name": "vm-1", "snapshot": "daily", "provisioned_size": 10 * 2**30, "used_size": 2**30},
        {"name": "vm-1", "provisioned_size": 10 * 2**30, "used_size": 2**29},
        {"name": "vm-2", "provisioned_size": 20 * 2**30, "used_size": 0},
    ]
    assert found(json.dumps({"images": images, "total_used_size": 1}), volume="rbd")[0] == expected
    with pytest.raises(InputError, match="does not say of which volume"):
        found(text)


CEPH = """\
--- RAW STORAGE ---
CLASS     SIZE    AVAIL     USED  RAW USED  %RAW USED
hdd    202 GiB  200 GiB  2.0 GiB   2.0 GiB       1.00
TOTAL  202 GiB  200 GiB  2.0 GiB   2.0 GiB       1.00

--- POOLS ---
POOL     ID  PGS   STORED   (DATA)   (OMAP)  OBJECTS     USED   (DATA)   (OMAP)  %USED  MAX AVAIL  QUOTA OBJECTS  QUOTA BYTES  DIRTY  USED COMPR  UNDER COMPR
.mgr      1    1  577 KiB  577 KiB      0 B        2  1.7 MiB  1.7 MiB      0 B      0     63 GiB            N/A          N/A    N/A         0 B          0 B
cephfs2   2   32    1 GiB    1 GiB      0 B    1.23k    3 GiB    3 GiB      0 B   1.50     63 GiB            N/A        5 GiB    N/A         0 B          0 B
"""


def test_ceph_df_counts_pools_with_their_copies() -> None:
    parts, said = found(CEPH)
    assert parts == {("ceph", "pool"): {".mgr": (round(1.7 * 2**20), None), "cephfs2": (3 * 2**30, None)}}
    assert sizes(CEPH) == {"ceph": 202 * 2**30}
    assert not said.problems
    document = {
        "stats": {"total_bytes": 900},
        "pools": [{"name": "p", "stats": {"stored": 1, "bytes_used": 3, "quota_bytes": 5}}],
    }
    assert found(json.dumps(document))[0] == {("ceph", "pool"): {"p": (3, None)}}
    assert sizes(json.dumps(document)) == {"ceph": 900}


def test_attributes_of_cephfs_directories() -> None:
    parts, said = found(
        """\
# file: volumes/vision
ceph.dir.rbytes="1000"
ceph.quota.max_bytes="5000"

# file: volumes/vision/inner
ceph.dir.rbytes="400"
ceph.quota.max_bytes="0"

""",
        volume="cephfs",
    )
    assert parts == {("cephfs", "directory"): {"volumes/vision": (600, 4600), "volumes/vision/inner": (400, None)}}
    assert not said.problems


def test_zfs_userspace_with_and_without_object_columns() -> None:
    parts, said = found("POSIX User\talice\t1000\t5000\nPOSIX User\tbob\t7\tnone\t4\tnone\n", volume="tank/users")
    assert parts == {("tank/users", "user"): {"alice": (1000, 5000), "bob": (7, None)}}
    assert found("Project\t42\t9\t0\n", volume="tank")[0] == {("tank", "project"): {"42": (9, None)}}
    assert not said.problems


def test_a_parent_of_datasets_holds_what_its_children_do_not() -> None:
    text = "tank\t1000\t0\ntank/users\t700\t900\ntank/users/alice\t500\t600\ntank/users/bob\t150\tnone\n"
    parts, said = found(text)
    assert parts == {
        ("tank", "dataset"): {
            "tank": (300, None),
            "tank/users": (50, 150),
            "tank/users/alice": (500, 600),
            "tank/users/bob": (150, None),
        }
    }
    assert sum(used for used, _ in parts[("tank", "dataset")].values()) == 1000
    assert not said.problems


def test_du_in_kib_and_in_bytes() -> None:
    text = "40\t/data/vision/raw\n100\t/data/vision\n20\t/data/my team\n"
    parts, _ = found(text, volume="nfs")
    assert parts == {
        ("nfs", "directory"): {
            "/data/vision": (60 * KIB, None),
            "/data/vision/raw": (40 * KIB, None),
            "/data/my team": (20 * KIB, None),
        }
    }
    assert found(text, volume="nfs", unit=1)[0][("nfs", "directory")]["/data/vision"] == (60, None)


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "empty-file"), ("lfs: command not found\n", "unknown-form"), ('{"images": [{', "corrupt-file"), ('{"a": 1}', "unknown-form"),
     ('{"images": [{"name": "a"}]}', "unknown-form")],
)  # fmt: skip
def test_what_is_no_report_is_refused(text: str, code: str) -> None:
    with pytest.raises(InputError) as refused:
        found(text, volume="v")
    assert refused.value.code == code

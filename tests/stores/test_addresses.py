"""What a path in a store names; what must not stand in it; wildcards, held against those of files."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.errors import ProjectError
from apportion.sources.outside.stores.address import Address, address, is_remote, matches


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("s3://bills/a/b.csv", Address("s3", "bills", "a/b.csv")),
        ("s3a://bills", Address("s3", "bills", "")),
        ("gs://my_bills.example/x/**/*.parquet", Address("gs", "my_bills.example", "x/**/*.parquet")),
        ("az://exports/daily/", Address("az", "exports", "daily/")),
        ("abfss://exports@acme.dfs.core.windows.net/daily/x.csv", Address("az", "exports", "daily/x.csv", "acme")),
        ("https://acme.blob.core.windows.net/exports/a%20b.csv", Address("az", "exports", "a b.csv", "acme")),
    ],
)
def test_every_way_to_write_an_address(path: str, found: Address) -> None:
    assert is_remote(path)
    assert address(path, "here") == found


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("ftp://bills/x.csv", "invalid-setting"),
        ("file:///etc/passwd", "invalid-setting"),
        ("s3://", "invalid-setting"),
        ("s3://../x", "invalid-setting"),
        ("s3://bills//x.csv", "invalid-setting"),
        ("s3://bills/a/../x.csv", "invalid-setting"),
        ("https://example.org/exports/x.csv", "invalid-setting"),
        ("https://169.254.169.254/latest/x.csv", "invalid-setting"),
        ("abfss://c@evil.example/x.csv", "invalid-setting"),
        ("s3://AKID:hidden@bills/x.csv", "secret-in-settings"),
        ("https://acme.blob.core.windows.net/c/x.csv?sv=1&sig=hidden", "secret-in-settings"),
        ("https://user:hidden@acme.blob.core.windows.net/c/x.csv", "secret-in-settings"),
    ],
)
def test_what_names_no_object_or_carries_a_secret_is_refused(path: str, code: str) -> None:
    with pytest.raises(ProjectError) as refused:
        address(path, "here")
    assert refused.value.code == code
    assert "hidden" not in str(refused.value)


def test_only_folders_without_wildcard_are_listed() -> None:
    assert Address("s3", "b", "a/b/2026-*/x.csv").prefix == "a/b"
    assert Address("s3", "b", "*.csv").prefix == ""


PART = st.sampled_from(["a", "b", "ab", "a.csv", "b.csv", "x[1].csv"])
PATTERN = st.sampled_from(["*", "a*", "?", "*.csv", "[ab]", "[!a]*", "x[[]1].csv", "**", "a", "b.csv"])


@given(
    keys=st.sets(st.lists(PART, min_size=1, max_size=4).map(tuple), min_size=1, max_size=8),
    pattern=st.lists(PATTERN, min_size=1, max_size=4),
)
def test_wildcards_mean_what_they_mean_among_files(
    keys: set[tuple[str, ...]], pattern: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    files = {key for key in keys if not any(other != key and other[: len(key)] == key for other in keys)}
    folder = tmp_path_factory.mktemp("tree")
    for key in files:
        folder.joinpath(*key).parent.mkdir(parents=True, exist_ok=True)
        folder.joinpath(*key).touch()
    wanted = "/".join(pattern)
    if wanted.endswith("**"):  # files under it: pathlib of Python 3.11 means folders, that of 3.13 both
        truth = {path for path in folder.glob(wanted.removesuffix("**") + "**/*") if path.is_file()}
    else:
        truth = {path for path in folder.glob(wanted) if path.is_file()}
    assert {folder.joinpath(*key) for key in files if matches("/".join(key), wanted)} == truth


def test_settings_are_those_of_the_store(tmp_path: Path) -> None:
    from apportion.sources.outside.stores.objects import Store
    from apportion.sources.settings import Stanza

    for settings, code in (
        ({"path": "gs://b/x.csv", "region": "eu"}, "invalid-setting"),
        ({"path": "s3://b/x.csv", "sas_token": "env:X"}, "invalid-setting"),
        ({"path": "s3://b/x.csv", "access_key": "env:PATH"}, "missing-setting"),
        ({"path": "s3://b/x.csv", "access_key": "AKID", "secret_key": "hidden"}, "secret-in-settings"),
        ({"path": "s3://b/x.csv", "endpoint": "https://user:hidden@example.org"}, "secret-in-settings"),
        ({"path": "s3://b/x.csv", "endpoint": "minio"}, "invalid-setting"),
        ({"path": "s3://b/x.csv", "ca_file": str(tmp_path / "none.pem")}, "invalid-setting"),
        ({"path": "gs://b/x.csv", "service_account": "none.json"}, "invalid-setting"),
        ({"path": "s3://b/x.csv", "anonymous": "yes"}, "invalid-setting"),
    ):
        with pytest.raises(ProjectError) as refused:
            Store.of(Stanza(settings, "source 'it'"), tmp_path)
        assert refused.value.code == code, settings
        assert "hidden" not in str(refused.value)

"""A Prometheus answer to series. The long lists of samples go through numpy; text becomes the same binary numbers that Prometheus stores."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from apportion.sources.prometheus.samples import Series

BEGIN, VALUES, END = b'{"metric":', b',"values":[[', b"]]"
BRACKETS = b'[]"'


def matrix(body: bytes) -> Iterator[Series]:
    """The series of a range vector. ValueError where the answer is none."""
    if VALUES not in body or body.count(b'"values"') != body.count(VALUES):
        yield from from_document(json.loads(body))
        return
    at = 0
    while (metric := body.find(BEGIN, at)) >= 0:
        values = body.find(VALUES, metric)  # quotes inside a label are escaped, so this is no part of one
        end = body.find(END, values)
        if values < 0 or end < 0:
            raise ValueError("a series without samples")
        labels = json.loads(body[metric + len(BEGIN) : values])
        numbers = np.fromstring(body[values + len(VALUES) : end].translate(None, BRACKETS), sep=",")
        yield series(labels, numbers.reshape(-1, 2))
        at = end


def from_document(document: Any) -> Iterator[Series]:
    """The same from parsed JSON: a range vector, or an instant one as one sample each."""
    found = document["data"]
    if found["resultType"] not in ("matrix", "vector"):
        raise ValueError(f"a {found['resultType']}")
    for entry in found["result"]:
        values = entry.get("values") or ([entry["value"]] if "value" in entry else [])  # native histograms have neither
        yield series(entry["metric"], np.array([[float(at), float(value)] for at, value in values]).reshape(-1, 2))


def series(labels: dict[str, str], numbers: np.ndarray) -> Series:
    """Times come as seconds with up to three decimals."""
    times = np.rint(numbers[:, 0] * 1000).astype(np.int64) // 1000
    return Series(labels, times, numbers[:, 1])

"""GKE cost allocation: the export splits the rows of a cluster's nodes by namespace and workload, by what pods request.

The parts add up to the cluster's cost, so nothing is counted twice and nothing may be left out. What no pod requested, what GKE itself
takes, and what could not be told stand there as names of namespaces. The tag `gke.bucket` says which a line is:

    allocated         of a namespace; AllocatedResourceId is CLUSTER/NAMESPACE/TYPE/WORKLOAD, without the last two where no workload is named
    unallocated       kube:unallocated: what pods could have requested
    system-overhead   kube:system-overhead
    unknown           goog-k8s-unknown
    unsupported-sku   goog-k8s-unsupported-sku
    blank             a cluster's row with an empty namespace

All have the AllocatedMethodId `GKE cost allocation`; those but the first have no AllocatedResourceId, as FOCUS writes what nobody got.
"""

import pyarrow as pa
import pyarrow.compute as pc

from apportion.sources.google.fields import Records
from apportion.sources.google.labels import value_of

METHOD = "GKE cost allocation"
CLUSTER, NAMESPACE = "goog-k8s-cluster-name", "k8s-namespace"
TYPE, WORKLOAD = "k8s-workload-type", "k8s-workload-name"
BUCKETS = {
    "kube:unallocated": "unallocated",
    "kube:system-overhead": "system-overhead",
    "goog-k8s-unknown": "unknown",
    "goog-k8s-unsupported-sku": "unsupported-sku",
    "": "blank",
}
TAG = "gke.bucket"


def split(own: Records, count: int) -> dict[str, pa.Array]:
    """The Allocated columns, and the bucket as `gke.bucket`; nothing where the export has no cost allocation."""
    namespace = value_of(own, NAMESPACE, count)
    if namespace.null_count == count:
        return {}
    place = pc.index_in(namespace, value_set=pa.array(list(BUCKETS)))
    named = pa.array(list(BUCKETS.values())).take(place)
    bucket = pc.if_else(namespace.is_valid(), pc.fill_null(named, "allocated"), pa.scalar(None, pa.string()))
    got = pc.fill_null(pc.equal(bucket, "allocated"), fill_value=False)
    workload = filled(value_of(own, WORKLOAD, count))
    kind = pc.fill_null(filled(value_of(own, TYPE, count)), "workload")
    inside = pc.fill_null(pc.binary_join_element_wise("/", kind, "/", workload, ""), "")
    cluster = pc.fill_null(filled(value_of(own, CLUSTER, count)), "?")
    name = pc.binary_join_element_wise(namespace, pc.fill_null(pc.binary_join_element_wise("/", workload, ""), ""), "")
    nothing = pa.scalar(None, pa.string())
    return {
        TAG: bucket,
        "AllocatedMethodId": pc.if_else(bucket.is_valid(), METHOD, nothing),
        "AllocatedResourceId": pc.if_else(
            got, pc.binary_join_element_wise(cluster, "/", namespace, inside, ""), nothing
        ),
        "AllocatedResourceName": pc.if_else(got, name, nothing),
    }


def filled(values: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(values, ""), None, values)

"""The Kubernetes API: what metrics do not carry. Labels and annotations as they are spelled, owners, queues, quotas, nodes and DRA claims.

Read-only, in pages, through the official client; or from objects that `kubectl get -o json` saved. Quantities are left to Prometheus unless
`usage` and `capacity` say otherwise. The API has no past: ask at least every hour.
"""

from apportion.sources.kubernetes.ask import read
from apportion.sources.kubernetes.probe import probe
from apportion.sources.live import Live

STANZA = """\
[[sources]]
name = "cluster"
kind = "kubernetes"
cluster = "CHOOSE-A-NAME"           # part of every pod's id; the same as in your other sources of this cluster
# kubeconfig = "~/.kube/config"     # unless this runs in a pod, or your own kubeconfig serves
# context = "training"
# annotations = ["example.com/*"]   # all labels come anyway
# usage = "claims"                  # GPUs held through DRA, which metrics do not carry; true: all that pods request
# reservations = ["kueue"]          # or ["quota"]
# since = "2026-11-01"              # the day you begin: the API has no past
"""

# Nothing comes late, so nothing is read twice: a second look knows less.
SOURCE = Live(read=read, probe=probe, stanza=STANZA, overlap_s=0)

#!/bin/sh
# Slurm's Prolog on GPU nodes, run by slurmd as root: notes whose job came, for the agent, and starts the agent where it stopped.
#
# No job is ever failed or held up by it: it ends with 0 whatever happens, after APPORTION_WAIT seconds (5 unless set) at the latest.
# The note is a file named by the job's number, with its user's id and the cluster: /run/apportion/jobs/4711 says `1001 lab`.
if [ "$1" != now ]; then
    timeout -k 1 "${APPORTION_WAIT:-5}" "$0" now >/dev/null 2>&1
    exit 0
fi

jobs=${APPORTION_JOBS:-/run/apportion/jobs}
umask 022
case "$SLURM_JOB_ID,$SLURM_JOB_UID" in
,* | *, | *[!0-9,]*) ;; # not called by Slurm
*)
    mkdir -p "$jobs" &&
        printf '%s %s\n' "$SLURM_JOB_UID" "$SLURM_CLUSTER_NAME" >"$jobs/.$SLURM_JOB_ID" &&
        mv "$jobs/.$SLURM_JOB_ID" "$jobs/$SLURM_JOB_ID"
    ;;
esac
systemctl is-active --quiet apportion-agent || systemctl --no-block start apportion-agent

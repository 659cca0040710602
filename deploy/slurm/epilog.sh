#!/bin/sh
# Slurm's Epilog on GPU nodes, run by slurmd as root: takes away the note that prolog.sh made. It ends with 0 whatever happens, and soon, as
# slurmd drains a node whose epilog fails.
case "$SLURM_JOB_ID" in
'' | *[!0-9]*) ;; # not called by Slurm
*) timeout -k 1 "${APPORTION_WAIT:-5}" rm -f "${APPORTION_JOBS:-/run/apportion/jobs}/$SLURM_JOB_ID" >/dev/null 2>&1 ;;
esac
exit 0

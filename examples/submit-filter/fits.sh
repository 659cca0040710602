#!/bin/sh
# Says whether a job fits in what is left of its team's quotas: fits.sh TEAM GPUS MINUTES
#
# 0: submit it. 4: it does not fit; what is left stands on stderr. When Apportion cannot answer (no project, a team that it does not know, no answer
# within APPORTION_WAIT seconds) the job is let through and the reason is said, so that a fault here never stops the cluster. APPORTION_STRICT=1 holds it.
team=$1 gpus=$2 minutes=$3
case "$team$gpus$minutes" in *[!A-Za-z0-9._-]*) echo "fits.sh TEAM GPUS MINUTES" >&2; exit 2 ;; esac
case "$gpus,$minutes" in ,* | *, | *[!0-9,]*) echo "fits.sh TEAM GPUS MINUTES: GPUS and MINUTES are whole numbers" >&2; exit 2 ;; esac

said=$(timeout "${APPORTION_WAIT:-5}" apportion quota show "$team" --need "$((gpus * minutes))/60" --quiet 2>&1)
code=$?
[ "$code" -eq 0 ] && exit 0
echo "$said" | head -n 1 >&2
[ "$code" -eq 4 ] && exit 4
[ "${APPORTION_STRICT:-0}" = 1 ] && exit 1
echo "apportion did not answer (exit code $code): the job is let through" >&2
exit 0

{{- define "apportion.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ int64 .Values.user }}
runAsGroup: {{ int64 .Values.group }}
fsGroup: {{ int64 .Values.group }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "apportion.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* Where a pod may run. Given: the values of its component. */}}
{{- define "apportion.placing" -}}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .topologySpreadConstraints }}
topologySpreadConstraints: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{/* Where a pod that opens the books may run. Given: (list $ the values of its component). */}}
{{- define "apportion.affinity" -}}
{{- $root := index . 0 -}}
{{- $own := (index . 1).affinity -}}
{{- if $own }}
affinity: {{- toYaml $own | nindent 2 }}
{{- else if and (include "apportion.isAlone" $root) $root.Values.server.enabled }}
affinity: # the volume is mounted by one node, the server's
  podAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels: {{- include "apportion.selector" (list $root "server") | nindent 12 }}
{{- end }}
{{- end -}}

{{- define "apportion.pull" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The kubelet calls by the pod's address, which is no name of the server's; with `link` it listens on loopback alone. */}}
{{- define "apportion.ask" -}}
{{- $root := index . 0 -}}
{{- $path := index . 1 -}}
{{- if eq $root.Values.web.login "link" -}}
exec:
  command: [python, -c, "import urllib.request as ask; ask.urlopen('http://127.0.0.1:{{ int $root.Values.server.port }}{{ $path }}', timeout=8)"]
{{- else -}}
httpGet:
  path: {{ $path }}
  port: http
  httpHeaders: [{name: Host, value: localhost}]
{{- end -}}
{{- end -}}

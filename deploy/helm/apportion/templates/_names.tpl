{{- define "apportion.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* 40 letters leave room for what is added to a name: a CronJob's may have 52. */}}
{{- define "apportion.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "apportion.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "apportion.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* What a selector goes by; never changes. Given: (list $ "server"). */}}
{{- define "apportion.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "apportion.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name | trunc 63 | trimSuffix "-" }}
{{- with index . 1 }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{- define "apportion.labels" -}}
{{- $root := index . 0 -}}
{{ include "apportion.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "apportion.account" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "apportion.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "apportion.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/* Cluster-wide names carry the namespace. */}}
{{- define "apportion.reader" -}}
{{- printf "%s-%s-reader" .Release.Namespace (include "apportion.fullname" .) | trunc 63 | trimSuffix "-" -}}
{{- end -}}

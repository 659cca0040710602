{{/* apportion.toml. A JSON string or list of strings is one of TOML, too. */}}
{{- define "apportion.toml" -}}
# Written by the chart from its values.
[project]
name = {{ default .Release.Name .Values.projectName | toJson }}
{{- $books := .Values.books }}
{{- if or $books.postgresql.url $books.warehouse.url $books.names.existingSecret }}

[books]
{{- with $books.postgresql.url }}
url = {{ toJson . }}
{{- end }}
{{- with $books.warehouse.url }}
warehouse = {{ toJson . }}
{{- end }}
{{- if $books.names.existingSecret }}
names_key = "/keys/names.key"
{{- end }}
{{- end }}

[engine]
threads = {{ int .Values.engine.threads }}
memory = {{ toJson .Values.engine.memory }}
spill = "/tmp/spill"
{{ include "apportion.toml.web" . }}
{{- with .Values.settings }}

# From `settings` of the values.
{{ . }}
{{- end }}
{{- end -}}

{{- define "apportion.toml.web" -}}
{{- $web := .Values.web }}
[web]
login = {{ toJson $web.login }}
{{- with $web.address }}
address = {{ toJson . }}
{{- end }}
session_hours = {{ int $web.sessionHours }}
{{- if eq $web.login "oidc" }}

[web.oidc]
issuer = {{ toJson $web.oidc.issuer }}
client_id = {{ toJson $web.oidc.clientId }}
{{- if $web.oidc.existingSecret }}
client_secret = "env:APPORTION_CLIENT_SECRET"
{{- end }}
groups_claim = {{ toJson $web.oidc.groupsClaim }}
name_claim = {{ toJson $web.oidc.nameClaim }}
scopes = {{ toJson $web.oidc.scopes }}
{{- end }}
{{- if $web.proxy.trusted }}

[web.proxy]
trusted = {{ toJson $web.proxy.trusted }}
user_header = {{ toJson $web.proxy.userHeader }}
groups_header = {{ toJson $web.proxy.groupsHeader }}
{{- end }}
{{- if $web.groups }}

[web.groups]
{{- range $name, $group := $web.groups }}
{{ toJson $name }} = { role = {{ default "viewer" $group.role | toJson }}, teams = {{ default list $group.teams | toJson }} }
{{- end }}
{{- end }}
{{- end -}}

{{/* The record or the evidence lies on a volume. */}}
{{- define "apportion.isLocal" -}}
{{- if not (and .Values.books.postgresql.url .Values.books.warehouse.url) }}true{{ end -}}
{{- end -}}

{{/* Only one node can have the books at a time. */}}
{{- define "apportion.isAlone" -}}
{{- $books := .Values.books -}}
{{- if not (and $books.postgresql.url (or $books.warehouse.url (eq $books.volume.accessMode "ReadWriteMany"))) }}true{{ end -}}
{{- end -}}

{{/* What reaches the books. */}}
{{- define "apportion.env.books" -}}
- {name: APPORTION_PROJECT, value: /project}
- {name: HOME, value: /tmp}
- {name: TMPDIR, value: /tmp}
- {name: APPORTION_LOG, value: {{ .Values.logFormat }}}
{{- with .Values.books.postgresql }}
{{- if and .url .existingSecret }}
- name: PGPASSWORD
  valueFrom: {secretKeyRef: {name: {{ .existingSecret }}, key: {{ .passwordKey }}}}
{{- end }}
{{- end }}
{{- with .Values.books.warehouse }}
{{- if and .url .existingSecret }}
{{- range $key := list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" }}
- name: {{ $key }}
  valueFrom: {secretKeyRef: {name: {{ $.Values.books.warehouse.existingSecret }}, key: {{ $key }}}}
{{- end }}
{{- end }}
{{- with .region }}
- {name: AWS_REGION, value: {{ . | quote }}}
- {name: AWS_DEFAULT_REGION, value: {{ . | quote }}}
{{- end }}
{{- with .endpoint }}
- {name: AWS_ENDPOINT_URL_S3, value: {{ . | quote }}}
{{- end }}
{{- end }}
{{- range $name, $value := .Values.env }}
- {name: {{ $name }}, value: {{ $value | quote }}}
{{- end }}
{{- end -}}

{{- define "apportion.env" -}}
{{ include "apportion.env.books" . }}
{{- range .Values.secrets }}
- name: {{ .env }}
  valueFrom: {secretKeyRef: {name: {{ .secret }}, key: {{ .key }}}}
{{- end }}
{{- end -}}

{{/* The project's folder is a volume; its two files are laid over it from the ConfigMap. */}}
{{- define "apportion.mounts.books" -}}
- {name: project, mountPath: /project}
- {name: config, mountPath: /project/apportion.toml, subPath: apportion.toml, readOnly: true}
- {name: config, mountPath: /project/policy.yaml, subPath: policy.yaml, readOnly: true}
- {name: tmp, mountPath: /tmp}
{{- if .Values.certificates.existingSecret }}
- {name: certificates, mountPath: /certificates, readOnly: true}
{{- end }}
{{- end -}}

{{- define "apportion.mounts.names" -}}
{{- if .Values.books.names.existingSecret }}
- {name: names, mountPath: /keys, readOnly: true}
{{- end }}
{{- end -}}

{{- define "apportion.mounts" -}}
{{ include "apportion.mounts.books" . }}
{{- include "apportion.mounts.names" . }}
{{- if and .Values.agent.enabled .Values.agent.spool.existingClaim }}
- {name: spool, mountPath: /spool, readOnly: true}
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "apportion.volumes.books" -}}
- name: project
{{- if include "apportion.isLocal" . }}
  persistentVolumeClaim: {claimName: {{ default (include "apportion.fullname" .) .Values.books.volume.existingClaim }}}
{{- else }}
  emptyDir: {sizeLimit: 1Gi}
{{- end }}
- name: config
  configMap: {name: {{ include "apportion.fullname" . }}}
- name: tmp
  emptyDir: {sizeLimit: {{ .Values.scratch.size }}}
{{- with .Values.certificates.existingSecret }}
- name: certificates
  secret: {secretName: {{ . }}, defaultMode: 0440}
{{- end }}
{{- end -}}

{{- define "apportion.volumes.names" -}}
{{- with .Values.books.names }}
{{- if .existingSecret }}
- name: names
  secret: {secretName: {{ .existingSecret }}, defaultMode: 0440, items: [{key: {{ .key }}, path: names.key}]}
{{- end }}
{{- end }}
{{- end -}}

{{- define "apportion.volumes" -}}
{{ include "apportion.volumes.books" . }}
{{- include "apportion.volumes.names" . }}
{{- if and .Values.agent.enabled .Values.agent.spool.existingClaim }}
- name: spool
  persistentVolumeClaim: {claimName: {{ .Values.agent.spool.existingClaim }}, readOnly: true}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

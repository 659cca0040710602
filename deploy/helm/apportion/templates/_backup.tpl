{{/* Pods that copy the books, or fill them from a copy. They see the books and the copies, and no secret of a source. */}}

{{/* All that these pods have in common. */}}
{{- define "apportion.backup.spec" -}}
{{- $backup := .Values.backup -}}
restartPolicy: Never
serviceAccountName: {{ include "apportion.account" . }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext: {{- include "apportion.podSecurity" . | nindent 2 }}
{{- include "apportion.pull" . }}
{{- include "apportion.placing" $backup }}
{{- include "apportion.affinity" (list . $backup) }}
{{- end -}}

{{- define "apportion.backup.container" -}}
image: {{ include "apportion.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
workingDir: /project
env: {{- include "apportion.env.books" . | nindent 2 }}
securityContext: {{- include "apportion.containerSecurity" . | nindent 2 }}
resources: {{- toYaml .Values.backup.resources | nindent 2 }}
{{- end -}}

{{- define "apportion.backup.volume" -}}
- name: backup
  persistentVolumeClaim: {claimName: {{ .Values.backup.existingClaim }}}
{{- end -}}

{{- define "apportion.backup.metadata" -}}
labels: {{- include "apportion.labels" (list . "backup") | nindent 2 }}
{{- with .Values.backup.podAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Makes one copy and removes those that are too many. */}}
{{- define "apportion.backup.job" -}}
backoffLimit: 0 # the next one makes what this one could not
activeDeadlineSeconds: {{ int .Values.backup.activeDeadlineSeconds }}
template:
  metadata: {{- include "apportion.backup.metadata" . | nindent 4 }}
  spec:
    {{- include "apportion.backup.spec" . | nindent 4 }}
    containers:
      - name: backup
        {{- include "apportion.backup.container" . | nindent 8 }}
        args: [backup, /backup, --keep, {{ int .Values.backup.keep | quote }}]
        volumeMounts:
          {{- include "apportion.mounts.books" . | nindent 10 }}
          - {name: backup, mountPath: /backup}
    volumes:
      {{- include "apportion.volumes.books" . | nindent 6 }}
      {{- include "apportion.backup.volume" . | nindent 6 }}
{{- end -}}

{{/* Fills empty books, then verifies them: the Job is complete only where both went well. */}}
{{- define "apportion.backup.restore" -}}
backoffLimit: 0
activeDeadlineSeconds: {{ int .Values.backup.activeDeadlineSeconds }}
template:
  metadata: {{- include "apportion.backup.metadata" . | nindent 4 }}
  spec:
    {{- include "apportion.backup.spec" . | nindent 4 }}
    initContainers:
      - name: restore
        {{- include "apportion.backup.container" . | nindent 8 }}
        args: [backup, {{ printf "/backup/%s" .Values.backup.restore | quote }}, --restore]
        volumeMounts:
          {{- include "apportion.mounts.books" . | nindent 10 }}
          {{- include "apportion.mounts.names" . | trim | nindent 10 }}
          - {name: backup, mountPath: /backup, readOnly: true}
    containers:
      - name: verify
        {{- include "apportion.backup.container" . | nindent 8 }}
        args: [verify]
        volumeMounts:
          {{- include "apportion.mounts.books" . | nindent 10 }}
          {{- include "apportion.mounts.names" . | trim | nindent 10 }}
    volumes:
      {{- include "apportion.volumes.books" . | nindent 6 }}
      {{- include "apportion.volumes.names" . | trim | nindent 6 }}
      {{- include "apportion.backup.volume" . | nindent 6 }}
{{- end -}}

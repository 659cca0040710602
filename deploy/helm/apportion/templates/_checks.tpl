{{/* What the schema cannot say: values that contradict each other are refused in a sentence. */}}
{{- define "apportion.checks" -}}
{{- $books := .Values.books -}}
{{- if not .Values.policy -}}
{{- fail "policy is empty: give your policy.yaml with --set-file policy=policy.yaml" -}}
{{- end -}}
{{- $owned := regexFind "(?m)^[ \\t]*\\[(project|books|engine|web)[].]" .Values.settings -}}
{{- if $owned -}}
{{- fail (printf "settings has [%s], which the chart writes: take it out, and use projectName, books, engine and web of the values" (regexFind "[a-z]+" $owned)) -}}
{{- end -}}
{{- if regexMatch "://[^/@]*:[^/@]*@" $books.postgresql.url -}}
{{- fail "books.postgresql.url has a password in it: take it out, put it into a Secret and name that in books.postgresql.existingSecret" -}}
{{- end -}}
{{- if and $books.postgresql.url (not $books.postgresql.existingSecret) (not $books.postgresql.passwordless) -}}
{{- fail "books.postgresql.existingSecret is empty: name the Secret that has the password (or set books.postgresql.passwordless=true where none is needed)" -}}
{{- end -}}
{{- if and (regexMatch "[?&]sslmode=verify-(ca|full)" $books.postgresql.url) (not (contains "sslrootcert=" $books.postgresql.url)) -}}
{{- fail "books.postgresql.url has sslmode=verify-... and names no authority to verify by: add sslrootcert=/certificates/ca.crt with a Secret in certificates.existingSecret (or sslrootcert=system for a public one)" -}}
{{- end -}}
{{- if and (contains "sslrootcert=/certificates/" $books.postgresql.url) (not .Values.certificates.existingSecret) -}}
{{- fail "books.postgresql.url has sslrootcert=/certificates/..., and certificates.existingSecret is empty: name the Secret with that file" -}}
{{- end -}}
{{- include "apportion.checks.network" . -}}
{{- if gt (int .Values.server.replicas) 1 -}}
{{- if not $books.postgresql.url -}}
{{- fail (printf "server.replicas is %d, and SQLite serves one: set books.postgresql.url, or server.replicas=1" (int .Values.server.replicas)) -}}
{{- end -}}
{{- if and (not $books.warehouse.url) (ne $books.volume.accessMode "ReadWriteMany") -}}
{{- fail (printf "server.replicas is %d, and the evidence lies on a volume that one node mounts: set books.warehouse.url, or books.volume.accessMode=ReadWriteMany" (int .Values.server.replicas)) -}}
{{- end -}}
{{- if eq .Values.web.login "link" -}}
{{- fail "server.replicas is more than 1, and web.login=link is for one person at one pod: set web.login to oidc or proxy" -}}
{{- end -}}
{{- end -}}
{{- include "apportion.checks.web" . -}}
{{- include "apportion.checks.backup" . -}}
{{- if .Values.agent.enabled -}}
{{- if not .Values.agent.cluster -}}
{{- fail "agent.cluster is empty: name this cluster as your other sources do" -}}
{{- end -}}
{{- if eq (empty .Values.agent.spool.existingClaim) (empty .Values.agent.spool.hostPath) -}}
{{- fail "agent.spool needs one of two: existingClaim (ReadWriteMany, which sync reads at /spool), or hostPath (a folder of each node that you collect)" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "apportion.checks.backup" -}}
{{- $backup := .Values.backup -}}
{{- $volume := .Values.books.volume -}}
{{- if or $backup.enabled $backup.restore -}}
{{- if not $backup.existingClaim -}}
{{- fail "backup.existingClaim is empty: name the claim that the copies of the books lie on" -}}
{{- end -}}
{{- if and (include "apportion.isLocal" .) (eq $backup.existingClaim (default (include "apportion.fullname" .) $volume.existingClaim)) -}}
{{- fail (printf "backup.existingClaim is %s, which the books lie on, so that both would be lost together: name another claim" $backup.existingClaim) -}}
{{- end -}}
{{- end -}}
{{- if $backup.restore -}}
{{- if or .Values.server.enabled .Values.sync.enabled -}}
{{- fail "backup.restore fills empty books, and the server and sync would make books first: set server.enabled=false and sync.enabled=false until it is done" -}}
{{- end -}}
{{- end -}}
{{- if and (include "apportion.isLocal" .) (eq $volume.accessMode "ReadWriteOncePod") .Values.server.enabled (or .Values.sync.enabled $backup.enabled) -}}
{{- fail "books.volume.accessMode=ReadWriteOncePod lets one pod have the books, and the server keeps them from sync and backup: set ReadWriteOnce" -}}
{{- end -}}
{{- end -}}

{{/* A source that no rule of egress lets out would fail in every round, long after the installation. */}}
{{- define "apportion.checks.network" -}}
{{- $network := .Values.networkPolicy -}}
{{- if $network.enabled -}}
{{- $open := $network.https | ternary (list "443") list -}}
{{- $anyPort := false -}}
{{- range $network.egress -}}
{{- if not .ports -}}{{- $anyPort = true -}}{{- end -}}
{{- range .ports -}}
{{- if or (not .port) .endPort -}}{{- $anyPort = true -}}{{- end -}}
{{- $open = append $open (toString .port) -}}
{{- end -}}
{{- end -}}
{{- range regexFindAll "(?m)^[ \t]*url[ \t]*=[ \t]*[\"']https?://[^\"']+" .Values.settings -1 -}}
{{- $url := regexFind "https?://.+" . -}}
{{- $port := include "apportion.port" (list $url (hasPrefix "https://" $url | ternary 443 80)) -}}
{{- if not (or $anyPort (has $port $open)) -}}
{{- fail (printf "settings has the url %s, and no rule of networkPolicy.egress lets anybody out to port %s: add {to: [...], ports: [{port: %s}]}" $url $port $port) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.serviceMonitor.enabled .Values.server.enabled (not $network.metricsFrom) -}}
{{- fail "networkPolicy.metricsFrom is empty, so that the ServiceMonitor's Prometheus could not reach /metrics: name its namespace (or set networkPolicy.enabled=false)" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "apportion.checks.web" -}}
{{- $web := .Values.web -}}
{{- if eq $web.login "link" -}}
{{- if $web.address -}}
{{- fail "web.address is set, and web.login=link is for one person through kubectl port-forward: set web.login to oidc or proxy" -}}
{{- end -}}
{{- if or .Values.ingress.enabled .Values.serviceMonitor.enabled -}}
{{- fail "ingress and serviceMonitor need a Service, and web.login=link has none: set web.login to oidc or proxy" -}}
{{- end -}}
{{- else if .Values.server.enabled -}}
{{- if not $web.address -}}
{{- fail (printf "web.address is empty: with web.login=%s, say under which address people open the pages (https://...)" $web.login) -}}
{{- end -}}
{{- if and (eq $web.login "oidc") (or (not $web.oidc.issuer) (not $web.oidc.clientId)) -}}
{{- fail "web.login=oidc needs web.oidc.issuer and web.oidc.clientId" -}}
{{- end -}}
{{- if and (eq $web.login "proxy") (not $web.proxy.trusted) -}}
{{- fail "web.login=proxy needs web.proxy.trusted: the addresses that may say who somebody is" -}}
{{- end -}}
{{- if and .Values.networkPolicy.enabled (not .Values.networkPolicy.from) -}}
{{- fail "networkPolicy.from is empty, so that nobody could open the pages: name your ingress controller (or set networkPolicy.enabled=false)" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.serviceMonitor.enabled (not .Values.serviceMonitor.existingSecret) -}}
{{- fail "serviceMonitor.existingSecret is empty: name the Secret with the token that may read /metrics" -}}
{{- end -}}
{{- end -}}

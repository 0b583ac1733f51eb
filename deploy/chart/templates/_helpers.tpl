{{- /* Names are fixed: custom resources and controllers exist once per cluster, and so does a release of sless. */ -}}

{{- define "sless.labels" -}}
app.kubernetes.io/name: sless
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: sless
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- /* Component label of the pods that hold a role; in mode all one Deployment is all of them. */ -}}
{{- define "sless.component" -}}
{{- if eq .root.Values.mode "all" }}gateway{{ else }}{{ .role }}{{ end }}
{{- end }}

{{- define "sless.selector" -}}
app.kubernetes.io/name: sless
app.kubernetes.io/component: {{ include "sless.component" . }}
{{- end }}

{{- define "sless.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- /* Sources are on a volume that one node mounts at a time. */ -}}
{{- define "sless.objectsOnOneNode" -}}
{{- if and (not .Values.objects.s3.bucket) (eq .Values.objects.persistence.type "claim") (not (include "sless.objectsShared" .)) }}true{{ end }}
{{- end }}

{{- define "sless.serviceAccount" -}}
{{- if eq .root.Values.mode "all" }}sless{{ else }}sless-{{ .role }}{{ end }}
{{- end }}

{{- /* The volume of the sources is shared by several pods. */ -}}
{{- define "sless.objectsShared" -}}
{{- if or (eq .Values.mode "roles") (gt (int .Values.all.replicas) 1) }}true{{ end }}
{{- end }}

{{- define "sless.checkValues" -}}
{{- $p := .Values.objects.persistence }}
{{- if and (include "sless.objectsShared" .) (not .Values.objects.s3.bucket) }}
{{- if eq $p.type "emptyDir" }}
{{- fail "objects.persistence.type emptyDir is one pod's own, and controller and api share the sources of functions: set objects.s3.bucket, or use mode all with one replica, or a claim with accessMode ReadWriteMany" }}
{{- else if and (eq $p.type "claim") (not $p.existingClaim) (ne $p.accessMode "ReadWriteMany") }}
{{- fail "controller and api share the sources of functions: set objects.s3.bucket, or objects.persistence.accessMode ReadWriteMany (or existingClaim), or use mode all with one replica" }}
{{- end }}
{{- end }}
{{- if and (not .Values.objects.s3.bucket) (eq $p.type "hostPath") (not $p.hostPath) }}
{{- fail "objects.persistence.hostPath names no folder" }}
{{- end }}
{{- if and .Values.builds.image (not (and .Values.objects.s3.bucket .Values.registry.host)) }}
{{- fail "builds.image needs objects.s3.bucket, from which builds read their files, and registry.host, to which images go" }}
{{- end }}
{{- if hasPrefix "sless-fn-" .Release.Namespace }}
{{- fail "the namespace of the release may not begin with sless-fn-: those are where functions run" }}
{{- end }}
{{- $builds := .Values.builds }}
{{- if or (eq $builds.namespace .Release.Namespace) (hasPrefix "kube-" $builds.namespace) (hasPrefix "sless-fn-" $builds.namespace) }}
{{- fail (printf "builds.namespace %s is not for builds alone: name one that is neither the release's nor begins with kube- or sless-fn-" $builds.namespace) }}
{{- end }}
{{- if gt (int $builds.limits.memoryRequestMB) (int $builds.limits.memoryMB) }}
{{- fail "builds.limits.memoryRequestMB is more than memoryMB, the limit: no build could start" }}
{{- end }}
{{- if gt (int $builds.limits.cpuRequestMilli) (int $builds.limits.cpuMilli) }}
{{- fail "builds.limits.cpuRequestMilli is more than cpuMilli, the limit: no build could start" }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.externalURL) }}
{{- fail "ingress.enabled needs externalURL: its host and path are what is routed" }}
{{- end }}
{{- if and .Values.ingress.enabled (not (regexMatch "^https?://[a-z0-9.-]*[a-z][a-z0-9.-]*(:[0-9]+)?(/|$)" .Values.externalURL)) }}
{{- fail "ingress.enabled needs an externalURL with a host name in lower case: an Ingress routes no address" }}
{{- end }}
{{- if and .Values.externalURL .Values.triggerIngress.host }}
{{- fail "externalURL and triggerIngress.host exclude each other: with the former the path tells the function, with the latter the host" }}
{{- end }}
{{- end }}

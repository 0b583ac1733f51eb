{{- /*
Binds roles to the service account of a sless role.
  root; role: controller | api | gateway; clusterRoles, roles: names
*/ -}}
{{- define "sless.bindings" -}}
{{- $root := .root }}
{{- $account := include "sless.serviceAccount" . }}
{{- $role := .role }}
{{- range .clusterRoles }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ eq . (printf "sless-%s" $role) | ternary . (printf "sless-%s-%s" $role (trimPrefix "sless-" .)) }}
  labels:
    {{- include "sless.labels" $root | nindent 4 }}
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ . }} }
subjects:
  - { kind: ServiceAccount, name: {{ $account }}, namespace: {{ $root.Release.Namespace }} }
{{- end }}
{{- range .roles }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ . }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "sless.labels" $root | nindent 4 }}
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ . }} }
subjects:
  - { kind: ServiceAccount, name: {{ $account }}, namespace: {{ $root.Release.Namespace }} }
{{- end }}
{{- end }}

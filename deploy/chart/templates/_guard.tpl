{{- /* User name of the account of a role, as a CEL text. root; role: controller | api */ -}}
{{- define "sless.username" -}}
{{- printf "system:serviceaccount:%s:%s" .root.Release.Namespace (include "sless.serviceAccount" .) | toJson }}
{{- end }}

{{- /*
RBAC cannot say in which of all namespaces, and of which types, objects may be written: a ValidatingAdmissionPolicy says
it of the accounts of sless, so that a token of theirs is not worth the whole cluster. Nobody else is looked at.
  root; name; rules: list of { apiGroups, resources }; expression: CEL, what is allowed; message;
  home, labels: CEL, of the namespace; default: of that in which the object is
*/ -}}
{{- define "sless.guard" -}}
{{- $root := .root }}
{{- $api := include "sless.username" (dict "root" $root "role" "api") }}
{{- $controller := include "sless.username" (dict "root" $root "role" "controller") }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{ .name }}
  labels:
    {{- include "sless.labels" $root | nindent 4 }}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
      {{- range .rules }}
      - apiGroups: {{ toJson .apiGroups }}
        apiVersions: ["*"]
        resources: {{ toJson .resources }}
        operations: [CREATE, UPDATE, DELETE]
      {{- end }}
  matchConditions:
    - name: accounts-of-sless
      expression: {{ printf "request.userInfo.username in [%s]" (list $api $controller | uniq | join ", ") | quote }}
  variables:
    - name: isApi
      expression: {{ printf "request.userInfo.username == %s" $api | quote }}
    - name: isController
      expression: {{ printf "request.userInfo.username == %s" $controller | quote }}
    - name: home
      expression: {{ .home | default "request.namespace" | quote }}
    - name: labels
      expression: {{ .labels | default "namespaceObject.metadata.?labels.orValue({})" | quote }}
    - name: isOurs
      expression: variables.labels[?"app.kubernetes.io/managed-by"].orValue("") == "sless"
    - name: isSystem
      expression: variables.home.startsWith("kube-") || variables.home == {{ toJson $root.Release.Namespace }}
    - name: isDeploy
      expression: variables.home.startsWith("sless-fn-")
    - name: isBuild
      expression: variables.home == {{ toJson $root.Values.builds.namespace }}
    # Where workloads run. What is left in a namespace that lost its labels may still go.
    - name: isForWorkloads
      expression: >-
        !variables.isSystem && (variables.isBuild || variables.isDeploy && (request.operation == "DELETE" ||
        variables.isOurs && variables.labels[?"sless.kube5s.ru/tenant"].orValue("") == variables.home.substring(9)))
    - name: isForUsers
      expression: "!variables.isSystem && !variables.isDeploy && !variables.isBuild"
  validations:
    - reason: Forbidden
      message: {{ .message | quote }}
      expression: >-
        {{- .expression | trim | nindent 8 }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ .name }}
  labels:
    {{- include "sless.labels" $root | nindent 4 }}
spec:
  policyName: {{ .name }}
  validationActions: [Deny]
{{- end }}

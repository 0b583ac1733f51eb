{{- /*
A role as a Deployment with its PodDisruptionBudget.
  root: the chart's context; role: all | controller | api | gateway, also the verb that the image is started with
*/ -}}
{{- define "sless.role" -}}
{{- $root := .root }}
{{- $role := .role }}
{{- $values := index $root.Values $role }}
{{- $objects := has $role (list "all" "controller" "api") }}
{{- $serves := has $role (list "all" "gateway") }}
{{- $leads := has $role (list "all" "controller") }}
{{- $asks := has $role (list "all" "api") }}
{{- $name := eq $role "all" | ternary "sless" (printf "sless-%s" $role) }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "sless.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ include "sless.component" . }}
spec:
  replicas: {{ $values.replicas }}
  revisionHistoryLimit: 3
  selector:
    matchLabels:
      {{- include "sless.selector" . | nindent 6 }}
  strategy:
    {{- if and (eq $role "all") (include "sless.objectsOnOneNode" $root) }}
    # A volume that one node mounts at a time.
    type: Recreate
    {{- else }}
    type: RollingUpdate
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
    {{- end }}
  template:
    metadata:
      labels:
        {{- include "sless.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ include "sless.component" . }}
      annotations:
        checksum/settings: {{ include "sless.settings" $root | sha256sum }}
        {{- with $values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ include "sless.serviceAccount" . }}
      enableServiceLinks: false
      terminationGracePeriodSeconds: {{ $values.terminationGracePeriodSeconds }}
      {{- with $root.Values.image.pullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      securityContext:
        runAsNonRoot: true
        runAsUser: 65532
        runAsGroup: 65532
        fsGroup: 65532
        fsGroupChangePolicy: OnRootMismatch
        seccompProfile: { type: RuntimeDefault }
      containers:
        - name: sless
          image: {{ include "sless.image" $root | quote }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args: [{{ eq $role "all" | ternary "serve" $role }}]
          envFrom:
            - configMapRef: { name: sless-settings }
            {{- with and $objects $root.Values.objects.s3.secret }}
            - secretRef: { name: {{ . }} }
            {{- end }}
          env:
            - name: POD_NAMESPACE
              valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
            - name: POD_NAME
              valueFrom: { fieldRef: { fieldPath: metadata.name } }
            {{- if has $role (list "all" "controller" "api") }}
            - name: GATEWAY_TOKEN_FILE
              value: /var/run/secrets/sless.kube5s.ru/gateway/token
            {{- end }}
            {{- if $asks }}
            - name: CONTROLLER_TOKEN_FILE
              value: /var/run/secrets/sless.kube5s.ru/controller/token
            {{- end }}
            {{- with $values.env }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          ports:
            - { name: http, containerPort: 9090 }
            {{- if $serves }}
            - { name: internal, containerPort: 9091 }
            {{- end }}
            {{- if $leads }}
            - { name: leader, containerPort: 9092 }
            {{- end }}
          startupProbe:
            httpGet: { path: /healthz, port: http }
            periodSeconds: 1
            failureThreshold: 60
          livenessProbe:
            httpGet: { path: /healthz, port: http }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            httpGet: { path: /readyz, port: http }
            periodSeconds: 5
            timeoutSeconds: 5
            failureThreshold: 2
          {{- if $serves }}
          lifecycle:
            # Endpoints forget the pod before it stops listening.
            preStop: { sleep: { seconds: 5 } }
          {{- end }}
          resources:
            {{- toYaml $values.resources | nindent 12 }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: { drop: [ALL] }
          volumeMounts:
            - { name: tmp, mountPath: /tmp }
            {{- if $objects }}
            - { name: data, mountPath: /var/lib/sless }
            {{- if not $root.Values.objects.s3.bucket }}
            - { name: objects, mountPath: /var/lib/sless/objects }
            {{- end }}
            - { name: gateway-token, mountPath: /var/run/secrets/sless.kube5s.ru/gateway, readOnly: true }
            {{- end }}
            {{- if $asks }}
            - { name: controller-token, mountPath: /var/run/secrets/sless.kube5s.ru/controller, readOnly: true }
            {{- end }}
      volumes:
        - name: tmp
          emptyDir: {}
        {{- if $objects }}
        # Mirrors of repositories and uploads under way: made anew where they are missing.
        - name: data
          emptyDir: {}
        {{- if not $root.Values.objects.s3.bucket }}
        - name: objects
          {{- include "sless.objectsVolume" $root | nindent 10 }}
        {{- end }}
        - name: gateway-token
          projected:
            sources:
              - serviceAccountToken: { audience: sless-gateway, expirationSeconds: 3600, path: token }
        {{- end }}
        {{- if $asks }}
        - name: controller-token
          projected:
            sources:
              - serviceAccountToken: { audience: sless-controller, expirationSeconds: 3600, path: token }
        {{- end }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "sless.selector" . | nindent 14 }}
          matchLabelKeys: [pod-template-hash]
      {{- with $values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
{{- if $root.Values.podDisruptionBudget.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "sless.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ include "sless.component" . }}
spec:
  # Never blocks a drain for good, also with a single replica.
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "sless.selector" . | nindent 6 }}
{{- end }}
{{- end }}

{{- define "sless.objectsVolume" -}}
{{- with .Values.objects.persistence -}}
{{- if eq .type "claim" -}}
persistentVolumeClaim: { claimName: {{ .existingClaim | default "sless-objects" }} }
{{- else if eq .type "hostPath" -}}
hostPath: { path: {{ .hostPath | quote }}, type: DirectoryOrCreate }
{{- else -}}
emptyDir: {}
{{- end }}
{{- end }}
{{- end }}

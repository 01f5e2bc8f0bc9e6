{{- define "catraca.name" -}}
{{- $name := ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) (contains .Chart.Name .Release.Name) -}}
{{ $name | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "catraca.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "catraca.labels" -}}
{{ include "catraca.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "catraca.image" -}}
"{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
{{- end }}

{{- define "catraca.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "catraca.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "catraca.env" -}}
- name: DRAIN_DELAY_SECONDS
  value: {{ .Values.drainDelaySeconds | quote }}
- name: DRAIN_SECONDS
  value: {{ .Values.drainSeconds | quote }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- range .Values.secret.keys }}
- name: {{ . }}_FILE
  value: /run/secrets/catraca/{{ . }}
{{- end }}
{{- if .Values.config }}
- name: CATRACA_CONFIG
  value: /etc/catraca/catraca.config.json
{{- end }}
{{- end }}

{{- define "catraca.mounts" -}}
- { name: tmp, mountPath: /tmp }
- { name: secrets, mountPath: /run/secrets/catraca, readOnly: true }
{{- if .Values.config }}
- { name: config, mountPath: /etc/catraca, readOnly: true }
{{- end }}
{{- end }}

{{- define "catraca.volumes" -}}
- name: tmp
  emptyDir: {}
- name: secrets
  secret:
    secretName: {{ .Values.secret.name }}
    defaultMode: 0440
    items:
      {{- range .Values.secret.keys }}
      - { key: {{ . }}, path: {{ . }} }
      {{- end }}
{{- if .Values.config }}
- name: config
  configMap:
    name: {{ include "catraca.name" . }}
{{- end }}
{{- end }}

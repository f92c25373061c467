{{- define "memtree.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* Room for "-worker" and the like below the 63 characters that a name may have. */}}
{{- define "memtree.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "memtree.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "memtree.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "memtree.selector" -}}
app.kubernetes.io/name: {{ include "memtree.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "memtree.labels" -}}
{{ include "memtree.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "memtree.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "memtree.secret" -}}
{{- if .Values.existingSecret }}
{{- .Values.existingSecret }}
{{- else }}
{{- if not (and .Values.secrets.store .Values.secrets.queue) }}
{{- fail "set existingSecret, or secrets.store (postgresql://...) and secrets.queue (redis://...): many processes share them" }}
{{- end }}
{{- include "memtree.fullname" . }}
{{- end }}
{{- end }}

{{- define "memtree.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- .Values.serviceAccount.name | default (include "memtree.fullname" .) }}
{{- else }}
{{- .Values.serviceAccount.name | default "default" }}
{{- end }}
{{- end }}

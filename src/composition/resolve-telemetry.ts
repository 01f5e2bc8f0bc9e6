import type { MetricsExportSettings } from '../tracing/open-metrics-export.ts'
import type { TracingSettings } from '../tracing/open-tracing.ts'
import type { Environment } from './environment.ts'

const ENDPOINT = 'http://localhost:4318'
const EXPORTERS = ['none', 'otlp', 'console']
const SAMPLER = /^(?:parentbased_)?(always_on|always_off|traceidratio)$/

export interface Telemetry {
  /** Undefined: off, and none of OpenTelemetry's code is loaded. */
  readonly tracing: TracingSettings | undefined
  readonly metricsExport: MetricsExportSettings | undefined
}

/** Traces and metrics for a collector, by the standard variables of OpenTelemetry. */
export function resolveTelemetry(environment: Environment, faults: string[]): Telemetry {
  return {
    tracing: resolveTracing(environment, faults),
    metricsExport: resolveMetricsExport(environment, faults),
  }
}

function resolveTracing(environment: Environment, faults: string[]): TracingSettings | undefined {
  const endpoint = environment.OTEL_EXPORTER_OTLP_ENDPOINT || undefined
  const exporter = environment.OTEL_TRACES_EXPORTER || (endpoint ? 'otlp' : 'none')
  const sampler = SAMPLER.exec(environment.OTEL_TRACES_SAMPLER || 'always_on')?.[1]
  const isDisabled = environment.OTEL_SDK_DISABLED === 'true'
  const serviceName = environment.OTEL_SERVICE_NAME || 'catraca'
  const ratio = Number(environment.OTEL_TRACES_SAMPLER_ARG || '1')
  if (endpoint !== undefined && !isHttpAddress(endpoint))
    faults.push('OTEL_EXPORTER_OTLP_ENDPOINT: must be an address such as http://localhost:4318')
  if (!EXPORTERS.includes(exporter))
    faults.push(`OTEL_TRACES_EXPORTER: must be one of ${EXPORTERS.join(', ')}`)
  if (sampler === undefined)
    faults.push('OTEL_TRACES_SAMPLER: must be always_on, always_off or traceidratio')
  if (!(ratio >= 0 && ratio <= 1))
    faults.push('OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1, such as 0.1')
  if (exporter === 'none' || isDisabled) return undefined
  return {
    exporter: exporter === 'console' ? 'console' : 'otlp',
    endpoint: endpoint ?? ENDPOINT,
    ratio: sampler === 'always_off' ? 0 : sampler === 'traceidratio' ? ratio : 1,
    serviceName,
  }
}

/** Metrics to the same collector: only if they are asked for, because a collector of traces may take none. */
function resolveMetricsExport(
  environment: Environment,
  faults: string[],
): MetricsExportSettings | undefined {
  const exporter = environment.OTEL_METRICS_EXPORTER || 'none'
  const everyMs = environment.OTEL_METRIC_EXPORT_INTERVAL || '60000'
  if (exporter !== 'none' && exporter !== 'otlp')
    faults.push('OTEL_METRICS_EXPORTER: must be otlp or none')
  if (!/^\d{4,8}$/.test(everyMs))
    faults.push('OTEL_METRIC_EXPORT_INTERVAL: must be milliseconds, from 1000 to 99999999')
  const headers = readHeaders(environment.OTEL_EXPORTER_OTLP_HEADERS || '')
  if (headers === undefined)
    faults.push('OTEL_EXPORTER_OTLP_HEADERS: must be pairs such as name=value, with commas')
  if (exporter !== 'otlp' || environment.OTEL_SDK_DISABLED === 'true') return undefined
  return {
    endpoint: environment.OTEL_EXPORTER_OTLP_ENDPOINT || ENDPOINT,
    headers: headers ?? {},
    everyMs: Number(everyMs),
    serviceName: environment.OTEL_SERVICE_NAME || 'catraca',
  }
}

/** Values are percent-encoded (W3C Baggage, as OpenTelemetry says). Undefined for anything else: a fault names no value. */
function readHeaders(text: string): Record<string, string> | undefined {
  const headers = new Headers()
  try {
    for (const pair of text.split(',').filter((each) => each.trim() !== '')) {
      const [, name = '', value = ''] = /^([^=]+)=(.*)$/.exec(pair) ?? []
      headers.append(name.trim(), decodeURIComponent(value.trim()))
    }
  } catch {
    return undefined
  }
  return Object.fromEntries(headers)
}

function isHttpAddress(value: string): boolean {
  return /^https?:$/.test(URL.parse(value)?.protocol ?? '')
}

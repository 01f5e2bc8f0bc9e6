import type { MetricsExportSettings } from '../../gateway/tracing/open-metrics-export.ts'
import type { TracingSettings } from '../../gateway/tracing/open-tracing.ts'
import type { EnvironmentReader, Environment } from './environment-reader.ts'

const EXPORTERS = ['none', 'otlp', 'console']
const SAMPLER = /^(?:parentbased_)?(always_on|always_off|traceidratio)$/

export interface Telemetry {
  /** Undefined: off, and none of OpenTelemetry's code is loaded. */
  readonly tracing: TracingSettings | undefined
  readonly metricsExport: MetricsExportSettings | undefined
}

/** Resolves traces and metrics for a collector, by the standard variables of OpenTelemetry. */
export function resolveTelemetry(
  environment: Environment,
  read: EnvironmentReader,
  faults: string[],
): Telemetry {
  const endpoint = environment.OTEL_EXPORTER_OTLP_ENDPOINT || undefined
  if (endpoint !== undefined && !isHttpAddress(endpoint))
    faults.push('OTEL_EXPORTER_OTLP_ENDPOINT: must be an address such as http://localhost:4318')
  const collector = {
    endpoint: endpoint ?? 'http://localhost:4318',
    serviceName: environment.OTEL_SERVICE_NAME || 'catraca',
  }
  const exporter = environment.OTEL_TRACES_EXPORTER || (endpoint ? 'otlp' : 'none')
  const tracing = resolveTracing(environment, exporter, collector, faults)
  const metricsExport = resolveMetricsExport(environment, read, collector, faults)
  return environment.OTEL_SDK_DISABLED === 'true'
    ? { tracing: undefined, metricsExport: undefined }
    : { tracing, metricsExport }
}

interface Collector {
  readonly endpoint: string
  readonly serviceName: string
}

function resolveTracing(
  environment: Environment,
  exporter: string,
  collector: Collector,
  faults: string[],
): TracingSettings | undefined {
  const sampler = SAMPLER.exec(environment.OTEL_TRACES_SAMPLER || 'always_on')?.[1]
  const ratio = Number(environment.OTEL_TRACES_SAMPLER_ARG || '1')
  if (!EXPORTERS.includes(exporter))
    faults.push(`OTEL_TRACES_EXPORTER: must be one of ${EXPORTERS.join(', ')}`)
  if (sampler === undefined)
    faults.push('OTEL_TRACES_SAMPLER: must be always_on, always_off or traceidratio')
  if (!(ratio >= 0 && ratio <= 1))
    faults.push('OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1, such as 0.1')
  if (exporter === 'none') return undefined
  return {
    ...collector,
    exporter: exporter === 'console' ? 'console' : 'otlp',
    ratio: sampler === 'always_off' ? 0 : sampler === 'traceidratio' ? ratio : 1,
  }
}

/** Metrics to the same collector: only if they are asked for, because a collector of traces may take none. */
function resolveMetricsExport(
  environment: Environment,
  read: EnvironmentReader,
  collector: Collector,
  faults: string[],
): MetricsExportSettings | undefined {
  const exporter = read.oneOf('OTEL_METRICS_EXPORTER', ['none', 'otlp'], 'none')
  const everyMs = read.whole('OTEL_METRIC_EXPORT_INTERVAL', 60_000, 1_000, 99_999_999)
  const headers = readHeaders(environment.OTEL_EXPORTER_OTLP_HEADERS || '')
  if (headers === undefined)
    faults.push('OTEL_EXPORTER_OTLP_HEADERS: must be pairs such as name=value, with commas')
  if (exporter === 'none') return undefined
  const { username, password } = URL.parse(collector.endpoint) ?? { username: '', password: '' }
  // `fetch` would refuse the address, and name it in the log.
  if (username || password)
    faults.push(
      'OTEL_EXPORTER_OTLP_ENDPOINT: must have no password; give it in OTEL_EXPORTER_OTLP_HEADERS',
    )
  return { ...collector, headers: headers ?? {}, everyMs }
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

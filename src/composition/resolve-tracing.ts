import type { TracingSettings } from '../tracing/open-tracing.ts'
import type { Environment } from './environment.ts'

const EXPORTERS = ['none', 'otlp', 'console']
const SAMPLER = /^(?:parentbased_)?(always_on|always_off|traceidratio)$/

/** Traces, by the standard variables of OpenTelemetry; undefined: off, and none of its code is loaded. */
export function resolveTracing(
  environment: Environment,
  faults: string[],
): TracingSettings | undefined {
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
    endpoint: endpoint ?? 'http://localhost:4318',
    ratio: sampler === 'always_off' ? 0 : sampler === 'traceidratio' ? ratio : 1,
    serviceName,
  }
}

function isHttpAddress(value: string): boolean {
  return /^https?:$/.test(URL.parse(value)?.protocol ?? '')
}

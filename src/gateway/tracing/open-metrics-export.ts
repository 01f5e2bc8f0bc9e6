/** Sends the metrics to the operator's collector (OTLP over HTTP, as JSON), beside `/metrics` for Prometheus. */
import { toOtlpMetrics } from './to-otlp-metrics.ts'

export interface MetricsExportSettings {
  /** The address of the collector, without `/v1/metrics`. */
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  readonly everyMs: number
  readonly serviceName: string
}

/** A collector that is silent for longer has failed; a stop waits so long at most. */
const SEND_MS_MAX = 2_000

/** Rejects if the collector does not take them. The next text has all counters again. */
export type SendMetrics = (text: string) => Promise<void>

export function openMetricsExport(
  { endpoint, headers, serviceName }: MetricsExportSettings,
  version: string,
): SendMetrics {
  const url = `${endpoint.replace(/\/$/, '')}/v1/metrics`
  const source = { serviceName, version, startedAtMs: Date.now() }
  return async (text) => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(toOtlpMetrics(text, source, Date.now())),
      // The headers may have a secret of the operator, which is for this address alone.
      redirect: 'error',
      signal: AbortSignal.timeout(SEND_MS_MAX),
    })
    await answer.body?.cancel()
    if (!answer.ok) throw new Error(`the collector answers ${answer.status}`)
  }
}

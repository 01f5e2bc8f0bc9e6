import type { Log } from '../platform/lib/log.ts'
import { openMetricsExport } from '../gateway/tracing/open-metrics-export.ts'
import { every } from './workers/every.ts'
import type { Config } from './config/config.ts'
import type { Closing } from './create-closing.ts'
import { releaseOf } from './release-of.ts'

/**
 * Sends the metrics of the whole server while it runs; nothing without a setting. As for Prometheus, the changes since
 * the last time are lost at a stop: when the parts close, the numbers of the workers are gone.
 */
export function exportMetrics(
  config: Config,
  closing: Closing,
  log: Log,
  read: () => Promise<string>,
): void {
  if (config.metricsExport === undefined) return
  const send = openMetricsExport(config.metricsExport, releaseOf(config).version)
  const { everyMs } = config.metricsExport
  const timer = every(everyMs, 'export_metrics', log, async () => send(await read()))
  closing.add('metrics export', { close: () => timer.stop() })
}

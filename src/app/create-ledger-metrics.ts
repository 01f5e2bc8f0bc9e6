import { Counter, type Registry } from 'prom-client'
import type { LaneObserver } from '../money/ledger/lane/lane.ts'
import { createHotHistogram } from '../platform/lib/hot-metrics.ts'
import { ADDED_SECONDS, type Hot } from './hot.ts'

export function createLedgerMetrics(registers: Registry[]): Hot<LaneObserver> {
  const batchSize = createHotHistogram({
    name: 'catraca_ledger_batch_size',
    help: 'Works in a ledger batch.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
  })
  const batchSeconds = createHotHistogram({
    name: 'catraca_ledger_batch_seconds',
    help: 'Time of a ledger batch, commit included.',
    buckets: ADDED_SECONDS,
  })
  const gone = new Counter({
    registers,
    name: 'catraca_resolutions_without_hold_total',
    help: 'Resolutions whose hold was resolved before.',
  })
  return {
    metrics: [batchSize, batchSeconds],
    observer: {
      batch(size, durationMs) {
        batchSize.observe(size)
        batchSeconds.observe(durationMs / 1000)
      },
      gone: (count) => gone.inc(count),
    },
  }
}

import type { MergeRule } from '../platform/lib/merge-metrics.ts'

/** Metrics that say the same in every process, or something of each: all others are sums over the processes. */
export const MERGE_RULES: Readonly<Record<string, MergeRule>> = {
  catraca_spool_set_aside: 'max',
  catraca_fx_rate_age_seconds: 'max',
  catraca_route_breaker_state: 'max',
  catraca_reconciliation_open_discrepancies: 'max',
  catraca_price_differences: 'max',
  catraca_oldest_call_seconds: 'max',
  catraca_heartbeat_age_seconds: 'max',
  catraca_lease_held: 'min',
  catraca_replica_lag_seconds: 'max',
  catraca_replica_read: 'min',
  catraca_build_info: 'max',
  nodejs_eventloop_lag_seconds: 'max',
  nodejs_eventloop_lag_min_seconds: 'min',
  nodejs_eventloop_lag_max_seconds: 'max',
  nodejs_eventloop_lag_mean_seconds: 'max',
  nodejs_eventloop_lag_stddev_seconds: 'max',
  nodejs_eventloop_lag_p50_seconds: 'max',
  nodejs_eventloop_lag_p90_seconds: 'max',
  nodejs_eventloop_lag_p99_seconds: 'max',
  nodejs_version_info: 'max',
  process_max_fds: 'min',
  process_start_time_seconds: 'min',
}

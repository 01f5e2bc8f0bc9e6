/** Networks that Chromium emulates (`Network.emulateNetworkConditions`): each request waits and shares the rate. */
export interface Network {
  readonly latencyMs: number
  readonly downBitsPerSecond: number
  readonly upBitsPerSecond: number
}

export const NETWORKS = {
  /** Lighthouse's mobile "slow 4G", from which it computes its figures. */
  'slow-4g': { latencyMs: 150, downBitsPerSecond: 1_600_000, upBitsPerSecond: 750_000 },
  /**
   * The same, as Lighthouse throttles the browser itself (`--throttling-method=devtools`): 3.75 times the latency
   * makes up for the round trips of opening a connection, which Chromium does not delay.
   */
  'slow-4g-devtools': {
    latencyMs: 562.5,
    downBitsPerSecond: 1_440_000,
    upBitsPerSecond: 675_000,
  },
} as const satisfies Record<string, Network>

export type NetworkName = keyof typeof NETWORKS

/** The metrics of the hot path, which render their own lines, and the observer that counts them. */
export interface Hot<Observer> {
  readonly observer: Observer
  readonly metrics: readonly { text(): string }[]
}

/** Buckets for times that the gateway itself takes. */
export const ADDED_SECONDS = [
  0.00025, 0.0005, 0.00075, 0.001, 0.0015, 0.002, 0.003, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1,
]

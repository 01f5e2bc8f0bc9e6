/** How a process that answers requests stops. */
export interface Drain {
  /** For so long everything is still served, while the readiness says no, so that balancers send no more. */
  readonly delayMs: number
  /** The most time that its running calls have after that, in milliseconds. */
  readonly withinMs: number
  /** A connection without a request is closed once it was quiet for so long: a request may be on its way. */
  readonly idleMs: number
}

/** How a process that answers requests stops. */
export interface Drain {
  /** The most time that its running calls have, in milliseconds. */
  readonly withinMs: number
  /** For so long after the last request its connections stay open, so that their clients learn by an answer to leave. */
  readonly idleMs: number
}

/** A job of pg-boss, run by one node at a time. */
export interface Job {
  readonly cron: string
  readonly run: () => Promise<unknown>
  /** In seconds: the pause before a retry, and the longest run. */
  readonly queue?: { readonly retryDelay: number; readonly expireInSeconds: number }
}

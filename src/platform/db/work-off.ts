export interface WorkOff<Row> {
  /** Returns at most `limit` rows; none when nothing is due. */
  claim(limit: number): Promise<readonly Row[]>
  work(row: Row): Promise<unknown>
  /**
   * Handles the failure of one row, so that the other rows continue. Without it the run ends at the first failure, and
   * rejects.
   */
  onFailure?(row: Row, error: unknown): void
  /** Rows of one claim: the work on a row must begin within its lease. */
  readonly claimMax: number
  /** Rows that are processed concurrently. */
  readonly atOnce: number
  /** The maximum number of claimed rows for the whole run. */
  readonly runMax?: number
}

/** Claims and processes rows until nothing is due or a limit is reached. Returns the number of claimed rows. */
export async function workOff<Row>(options: WorkOff<Row>): Promise<number> {
  const { atOnce, claimMax, runMax = Infinity } = options
  const running = new Set<Promise<void>>()
  const failures: unknown[] = []
  let claimed = 0

  const waitForPlace = async (): Promise<void> => {
    while (running.size >= atOnce) await Promise.race(running)
  }
  const start = (row: Row): void => {
    const work = options
      .work(row)
      .then(
        () => {},
        (error: unknown) => {
          if (options.onFailure) options.onFailure(row, error)
          else failures.push(error)
        },
      )
      .finally(() => running.delete(work))
    running.add(work)
  }

  try {
    for (;;) {
      await waitForPlace()
      const limit = Math.min(claimMax, runMax - claimed)
      if (limit <= 0 || failures.length > 0) break
      const rows = await options.claim(limit)
      if (rows.length === 0) break
      claimed += rows.length
      for (const row of rows) {
        await waitForPlace()
        start(row)
      }
    }
  } finally {
    await Promise.all(running)
  }
  if (failures.length > 0) throw failures[0]
  return claimed
}

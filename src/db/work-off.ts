export interface WorkOff<Row> {
  /** At most so many rows; none where nothing is due. */
  claim(limit: number): Promise<readonly Row[]>
  work(row: Row): Promise<unknown>
  /** So that the failure of one row holds up no other. Without it the run ends at the first failure, and rejects. */
  onFailure?(row: Row, error: unknown): void
  /** Rows that one claim takes: those that wait for a place must get it within their lease. */
  readonly claimMax: number
  /** Rows that are worked on side by side. */
  readonly atOnce: number
  /** Rows that are claimed in all. */
  readonly runMax?: number
  /** Asked before each claim: once it is true, only the rows that are claimed already are worked on. */
  isOver?(): boolean
}

/** Claims rows and works on them until nothing is due or a bound is reached. Returns how many it claimed. */
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
      if (limit <= 0 || failures.length > 0 || options.isOver?.()) break
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

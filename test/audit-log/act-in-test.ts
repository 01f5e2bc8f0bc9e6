export interface ActInTest {
  readonly action: string
  /** A table that the act writes; `audit_log` if it writes no other one. */
  readonly table: string
  /** Every run fails and is rolled back, so the act can be run again. */
  readonly run: () => Promise<unknown>
}

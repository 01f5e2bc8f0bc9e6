/** The clock of a node, set by libfaketime while the node runs; the time that only goes forward stays true. */
import { globSync, renameSync, writeFileSync } from 'node:fs'

export interface FakeClock {
  /** Of the node and of its workers. */
  readonly env: Readonly<Record<string, string>>
  /** So many seconds before or after the true time, within a second. */
  set(offsetSeconds: number): void
}

/** Undefined where libfaketime is not installed: then no clock is set, and the report says so. */
export function createFakeClock(file: string): FakeClock | undefined {
  const [library] = globSync('/usr/lib/**/faketime/libfaketimeMT.so.1')
  if (library === undefined) return undefined
  const clock: FakeClock = {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      DONT_FAKE_MONOTONIC: '1',
      // A process that is killed would leave it behind.
      FAKETIME_DISABLE_SHM: '1',
    },
    set(offsetSeconds) {
      // As a whole: a process that reads half of it would jump to the true time.
      writeFileSync(`${file}.new`, `${offsetSeconds < 0 ? '' : '+'}${offsetSeconds}\n`)
      renameSync(`${file}.new`, file)
    },
  }
  clock.set(0)
  return clock
}

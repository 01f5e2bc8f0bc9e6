/** The clock of a node, set by libfaketime while the node runs; its monotonic clock stays true. */
import { existsSync, globSync, renameSync, rmSync, writeFileSync } from 'node:fs'

export interface FakeClock {
  /** The environment of the node and of its workers. */
  readonly env: Readonly<Record<string, string>>
  /** So many seconds before or after the true time, within a second. */
  set(offsetSeconds: number): void
  /** Removes the shared memory of killed processes. */
  close(): void
}

/** Their names end with the number of the process. */
const LEFT_BEHIND = ['/dev/shm/faketime_shm_*', '/dev/shm/sem.faketime_sem_*']

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
    },
    set(offsetSeconds) {
      // As a whole: a process that reads half of it would jump to the true time.
      writeFileSync(`${file}.new`, `${offsetSeconds < 0 ? '' : '+'}${offsetSeconds}\n`)
      renameSync(`${file}.new`, file)
    },
    close() {
      for (const path of globSync(LEFT_BEHIND))
        if (!existsSync(`/proc/${path.split('_').at(-1)}`)) rmSync(path, { force: true })
    },
  }
  clock.set(0)
  return clock
}

import { appendFileSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

interface Used {
  readonly path: string
  readonly cpuSeconds: number
}

/** Adds what a test file used to the record of the run, `TEST_CPU_FILE`. */
export function recordCpu(path: string, cpuSeconds: number | undefined): void {
  const record = process.env.TEST_CPU_FILE
  if (record === undefined || cpuSeconds === undefined) return
  appendFileSync(record, `${JSON.stringify({ path, cpuSeconds } satisfies Used)}\n`)
}

/** Seconds by the file's path from `root`. */
export function readRecordedCpu(record: string, root: string): Map<string, number> {
  const seconds = new Map<string, number>()
  for (const line of readFileSync(record, 'utf8').split('\n').filter(Boolean)) {
    const { path, cpuSeconds } = JSON.parse(line) as Used
    seconds.set(relative(root, path), cpuSeconds)
  }
  return seconds
}

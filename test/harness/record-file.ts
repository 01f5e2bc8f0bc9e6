import { appendFileSync, readFileSync } from 'node:fs'

export interface RecordedFile {
  readonly path: string
  /** Undefined where the system does not say. */
  readonly cpuSeconds: number | undefined
  /** How many of its tests ran; undefined if the file had a process of its own, whose tests `node:test` counts. */
  readonly tests?: number
}

/** Adds a test file that ended to the record of the run, `TEST_RECORD_FILE`. */
export function recordFile(file: RecordedFile): void {
  const record = process.env.TEST_RECORD_FILE
  if (record !== undefined) appendFileSync(record, `${JSON.stringify(file)}\n`)
}

export function readRecordedFiles(record: string): RecordedFile[] {
  return readFileSync(record, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as RecordedFile)
}

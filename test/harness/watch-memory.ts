/** The memory of a server, sampled in its process. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const SAMPLE_MS_MAX = 20_000

export interface WatchedMemory {
  /** The environment with which the server must start. */
  readonly env: Readonly<Record<string, string>>
  /** Bytes, in the order of the samples. */
  samples(): number[]
  /** Waits for a sample that begins after the call, and returns it. */
  sampleNow(): Promise<number>
}

export function watchMemory(): WatchedMemory {
  const folder = mkdtempSync(join(tmpdir(), 'catraca-memory-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'samples')
  writeFileSync(file, '')
  const samples = (): number[] => readFileSync(file, 'utf8').split('\n').slice(0, -1).map(Number)
  return {
    env: {
      RECORD_MEMORY_FILE: file,
      NODE_OPTIONS: `--import=${import.meta.resolve('./record-memory.ts')}`,
    },
    samples,
    async sampleNow() {
      // The next sample may have begun before the call.
      const place = samples().length + 1
      for (const deadline = Date.now() + SAMPLE_MS_MAX; ; await sleep(10)) {
        const sample = samples()[place]
        if (sample !== undefined) return sample
        assert.ok(Date.now() < deadline, 'the server took no sample of its memory')
      }
    },
  }
}

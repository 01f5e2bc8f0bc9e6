/**
 * A server of the tests imports this before its program (`watch-memory.ts`). It appends the bytes on V8's heap and
 * beside it, in buffers, to `RECORD_MEMORY_FILE`: a line for each sample, dead objects that no collection has found yet
 * included. Resident memory is no measure: pages that the allocator keeps depend on the machine.
 */
import { appendFileSync } from 'node:fs'

const SAMPLE_EVERY_MS = 10

const { RECORD_MEMORY_FILE: file = '' } = process.env
setInterval(() => {
  const { heapUsed, external } = process.memoryUsage()
  appendFileSync(file, `${heapUsed + external}\n`)
}, SAMPLE_EVERY_MS).unref()

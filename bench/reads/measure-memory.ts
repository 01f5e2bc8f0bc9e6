/**
 * The additional memory of a server while it streams a whole export: to a reader at full speed, and to a
 * slow one, for which the server has to wait rather than buffer. Each has a separate server that has done
 * one small export before and then been idle for some seconds.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Processes } from '../processes.ts'
import type { BenchCaller } from './find-callers.ts'
import { createHttpReader, type ReadingOptions } from './http-reader.ts'
import type { MemoryRow } from './reads-results.ts'
import { startServer } from './start-server.ts'

const IDLE_MS = 5_000
const SAMPLE_MS = 100
const SLOW: ReadingOptions = { bytesPerSecond: 1_000_000, until: 30_000 }

export async function measureMemory(
  processes: Processes,
  dataDir: string,
  client: pg.Client,
  callers: { heavy: BenchCaller; ordinary: BenchCaller },
  read: { url: string; reader: 'fast' | 'slow' },
): Promise<MemoryRow> {
  const adminEmails = [callers.heavy.email, callers.ordinary.email]
  const server = await startServer(processes, { dataDir, adminEmails })
  try {
    const warm = createHttpReader(server.baseUrl, callers.ordinary, 1)
    await warm.read(read.url.split('?')[0] as string)
    warm.close()
    await sleep(IDLE_MS)
    const heavy = createHttpReader(server.baseUrl, callers.heavy, 1)
    const beforeBytes = residentBytes(server.pid)
    let peakBytes = beforeBytes
    const sampler = setInterval(() => {
      peakBytes = Math.max(peakBytes, residentBytes(server.pid))
    }, SAMPLE_MS)
    try {
      const reading = await heavy.read(read.url, read.reader === 'slow' ? SLOW : {})
      if (read.reader === 'fast' && !reading.isWhole) throw new Error(`${read.url} ended early`)
      heavy.close()
      const seconds = reading.ms / 1000
      const { rows, bytes, isWhole } = reading
      await sleep(2_000)
      const leftOver = await countBusy(client)
      return { ...read, beforeBytes, peakBytes, seconds, rows, bytes, isWhole, leftOver }
    } finally {
      clearInterval(sampler)
    }
  } finally {
    await processes.stopAll()
  }
}

/** The server's connections that are still in a transaction. */
async function countBusy(client: pg.Client): Promise<number> {
  const { rows } = await client.query(`
    select count(*)::int4 as busy from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid() and xact_start < now() - interval '1 second'`)
  return rows[0].busy
}

function residentBytes(pid: number): number {
  const match = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  if (!match) throw new Error('this system does not report the memory of a process')
  return Number(match[1]) * 1024
}

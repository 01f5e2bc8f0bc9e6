/** The state of a running server, read from outside: its metrics, its process and its database. */
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../src/platform/db/open.ts'
import { METRICS_TOKEN } from '../targets/catraca.ts'
import { readProcessUsage } from '../process-usage.ts'

export interface ServerState {
  readonly residentBytes: number
  /** After a garbage collection. */
  readonly heapBytes: number
  readonly descriptors: number
  readonly openHolds: number
  /** The table with the most dead rows. */
  readonly deadRows: { readonly table: string; readonly rows: number }
  /** How late the event loop was: p99 since the last reading. */
  readonly lagMs: number
  readonly cpuMs: number
}

export interface Watched {
  readonly url: string
  readonly pid: number
  readonly inspectorPort: number
  readonly db: Database
}

const COLLECTION_MS_MAX = 30_000

export async function readState({ url, pid, inspectorPort, db }: Watched): Promise<ServerState> {
  // Before the collection, as an operator sees it; the lag also, because the collection is none of the server's own.
  const usage = readProcessUsage(pid)
  const lagMs = valueOf(await readMetrics(url), 'nodejs_eventloop_lag_p99_seconds') * 1_000
  await collectGarbage(inspectorPort)
  const heapBytes = valueOf(await readMetrics(url), 'nodejs_heap_size_used_bytes')
  const { rows } = await sql<{ relname: string; dead: number; holds: number }>`
    select relname, n_dead_tup::int4 as dead, (select count(*)::int4 from holds) as holds
    from pg_stat_user_tables order by n_dead_tup desc limit 1`.execute(db)
  const [worst] = rows
  return {
    residentBytes: usage?.gatewayBytes ?? 0,
    cpuMs: (usage?.gatewayCpuMs ?? 0) + (usage?.databaseCpuMs ?? 0),
    heapBytes,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    openHolds: worst?.holds ?? 0,
    deadRows: { table: worst?.relname ?? '', rows: worst?.dead ?? 0 },
    lagMs,
  }
}

export async function waitWithoutHolds(db: Database, msMax: number): Promise<void> {
  const untilMs = performance.now() + msMax
  while (performance.now() < untilMs) {
    const { rows } = await sql<{ holds: number }>`
      select count(*)::int4 as holds from holds`.execute(db)
    if (rows[0]?.holds === 0) return
    await sleep(500)
  }
}

async function readMetrics(url: string): Promise<string> {
  const response = await fetch(`${url}/metrics`, {
    headers: { authorization: `Bearer ${METRICS_TOKEN}` },
  })
  return await response.text()
}

function valueOf(metrics: string, name: string): number {
  const line = metrics.split('\n').find((one) => one.startsWith(`${name} `))
  if (line === undefined) throw new Error(`/metrics has no ${name}`)
  return Number(line.slice(name.length + 1))
}

/** Through the inspector: without a collection, the heap's size says mostly when the last one was. */
async function collectGarbage(inspectorPort: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${inspectorPort}/json/list`)
  const [page] = (await response.json()) as { webSocketDebuggerUrl: string }[]
  const socket = new WebSocket(page!.webSocketDebuggerUrl)
  const done = new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () =>
      socket.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' })),
    )
    socket.addEventListener('message', () => resolve())
    socket.addEventListener('error', () => reject(new Error('the inspector does not answer')))
    setTimeout(() => reject(new Error('no collection')), COLLECTION_MS_MAX).unref()
  })
  try {
    await done
  } finally {
    socket.close()
  }
}

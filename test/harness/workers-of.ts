import type { TestNode } from './test-node.ts'

export interface WorkerProcess {
  readonly worker: number
  readonly pid: number
}

/** The workers of a node that its log reported as ready, without those that it reported as ended. */
export function workersOf({ log }: TestNode): WorkerProcess[] {
  const workers = new Map<number, number>()
  for (const line of log) {
    // Others may be cut by the death of a process.
    if (!line.startsWith('{') || !line.includes('"worker_')) continue
    const { event, worker, pid } = JSON.parse(line) as { event: string } & WorkerProcess
    if (event === 'worker_ready') workers.set(pid, worker)
    if (event === 'worker_died' || event === 'worker_ended') workers.delete(pid)
  }
  return [...workers].map(([pid, worker]) => ({ worker, pid }))
}

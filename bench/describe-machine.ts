import { execFileSync } from 'node:child_process'
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { cpus, platform, release, totalmem } from 'node:os'
import { join } from 'node:path'
import type { Machine } from './results.ts'
import { median } from './summarise-rounds.ts'

/** The properties of the machine that the figures depend on. `folder` holds the database of this run. */
export function describeMachine(folder: string): Machine {
  const all = cpus()
  return {
    processors: `${all.length} x ${all[0]?.model ?? 'unknown processor'}`,
    memoryBytes: totalmem(),
    platform: `${platform()} ${release()}`,
    node: process.version,
    commit: readCommit(),
    fdatasyncMs: measureFdatasync(join(folder, 'fdatasync')),
  }
}

function measureFdatasync(path: string): number {
  const file = openSync(path, 'w')
  const block = Buffer.alloc(4096, 1)
  const times: number[] = []
  for (let i = 0; i < 100; i += 1) {
    const startedAt = performance.now()
    writeSync(file, block)
    fdatasyncSync(file)
    times.push(performance.now() - startedAt)
  }
  closeSync(file)
  return Math.round(median(times) * 1000) / 1000
}

function readCommit(): string {
  try {
    const commit = execFileSync('git', ['describe', '--always', '--dirty'], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return commit.toString().trim()
  } catch {
    return 'unknown'
  }
}

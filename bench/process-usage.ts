/** Memory and processor time of a tree of processes, from /proc; unknown on other systems. */
import { readdirSync, readFileSync } from 'node:fs'

export interface ProcessUsage {
  /** Resident memory of the gateway's processes, without its database. */
  readonly gatewayBytes: number
  readonly gatewayCpuMs: number
  /** Zero where no PostgreSQL runs below the gateway. */
  readonly databaseCpuMs: number
}

/** A process; the start time distinguishes it from a later one with the same number. */
export interface ProcessId {
  readonly pid: number
  /** In ticks since the machine started. */
  readonly startedAt: string
}

interface ProcessStat extends ProcessId {
  readonly parentPid: number
  readonly command: string
  readonly cpuMs: number
}

/** Linux reports processor time in ticks of 10 ms on every platform Node runs on. */
const TICK_MS = 10

/** Cheap enough to be called during a measurement. Undefined if there is no such process. */
export function readProcessUsage(...rootPids: number[]): ProcessUsage | undefined {
  const all = readTree(...rootPids)
  if (all.length === 0) return undefined
  const gateway = all.filter((stat) => !isDatabase(stat))
  return {
    gatewayBytes: total(gateway, (stat) => residentBytes(stat.pid)),
    gatewayCpuMs: total(gateway, (stat) => stat.cpuMs),
    databaseCpuMs: total(all.filter(isDatabase), (stat) => stat.cpuMs),
  }
}

/**
 * Memory of the PostgreSQL below a gateway: the proportional set size, because its processes share
 * most of their memory, and a sum of resident sizes would count it once for each. Takes some
 * milliseconds for each of its processes.
 */
export function readDatabaseBytes(...rootPids: number[]): number {
  return total(readTree(...rootPids).filter(isDatabase), (stat) => proportionalBytes(stat.pid))
}

/** The processes of a gateway and its workers. */
export function readGatewayProcesses(rootPid: number): number[] {
  return readTree(rootPid).flatMap((stat) => (isDatabase(stat) ? [] : [stat.pid]))
}

/** The processes of the PostgreSQL below a gateway. */
export function readDatabaseProcesses(rootPid: number): number[] {
  return readTree(rootPid).flatMap((stat) => (isDatabase(stat) ? [stat.pid] : []))
}

/** The processes below this one, children before their children. */
export function descendantsOf(rootPid: number): ProcessId[] {
  return readTree(rootPid).filter((stat) => stat.pid !== rootPid)
}

export function isAlive({ pid, startedAt }: ProcessId): boolean {
  return readStat(pid)?.startedAt === startedAt
}

function readTree(...rootPids: number[]): ProcessStat[] {
  const all = readAll()
  const tree = all.filter((stat) => rootPids.includes(stat.pid))
  for (const parent of tree) tree.push(...all.filter((stat) => stat.parentPid === parent.pid))
  return tree
}

function readAll(): ProcessStat[] {
  let names: string[]
  try {
    names = readdirSync('/proc')
  } catch {
    return []
  }
  return names.filter((name) => /^\d+$/.test(name)).flatMap((name) => readStat(Number(name)) ?? [])
}

function readStat(pid: number): ProcessStat | undefined {
  const text = read(`/proc/${pid}/stat`)
  // The command stands in parentheses and may itself contain spaces and parentheses.
  const match = /^\d+ \((.*)\) (\S) (\d+) (.*)$/s.exec(text)
  if (match === null || match[2] === 'Z') return undefined
  // After the parent come pgrp, session, tty, tpgid, flags, four fault counts, utime and
  // stime; starttime is the 22nd field of all.
  const fields = match[4]!.split(' ')
  const ticks = Number(fields[9]) + Number(fields[10])
  return {
    pid,
    startedAt: fields[17]!,
    parentPid: Number(match[3]),
    command: match[1]!,
    cpuMs: ticks * TICK_MS,
  }
}

function isDatabase(stat: ProcessStat): boolean {
  return stat.command === 'postgres'
}

function total(stats: readonly ProcessStat[], of: (stat: ProcessStat) => number): number {
  return stats.reduce((sum, stat) => sum + of(stat), 0)
}

function residentBytes(pid: number): number {
  return kilobytes(/^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`)))
}

/** Needs permission to inspect the process; without it, returns the resident size. */
function proportionalBytes(pid: number): number {
  const match = /^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`))
  return match === null ? residentBytes(pid) : kilobytes(match)
}

function kilobytes(match: RegExpExecArray | null): number {
  return Number(match?.[1] ?? 0) * 1024
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

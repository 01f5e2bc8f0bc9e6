/**
 * The workers of a parent process: started, watched, replaced when they die, and exchanged for new ones without a pause.
 * They share one listening socket, from which the operating system gives each connection to a worker that is free to
 * accept it; the parent is not on the way of a connection.
 */
import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Drain } from '../lib/drain.ts'
import type { Log } from '../lib/log.ts'
import { createChannel, type Channel } from './channel.ts'
import { createRestartPace } from './restart-pace.ts'

export interface PoolWorker {
  /** From 1 on; its successor has the same number. */
  readonly number: number
  /** Of this process alone. */
  readonly processId: string
  readonly channel: Channel
  readonly state: 'starting' | 'ready' | 'draining'
}

export interface WorkerPool {
  /** Resolves once all are ready. Rejects with the reason of the first that fails to start. */
  start(): Promise<void>
  /**
   * Replaces each worker by a new one, one after the other. A worker ends once its calls have. Where a new one does not
   * start, its predecessor stays, and so do the rest.
   */
  restart(drain: Drain): Promise<void>
  /** Lets the running calls end, and then the workers. */
  stop(drain: Drain): Promise<void>
  /** All living workers. */
  list(): readonly PoolWorker[]
  /** Workers that died by themselves. */
  readonly deaths: number
}

export interface PoolOptions {
  readonly count: number
  readonly program: string
  readonly log: Log
  /** Of the next worker that is started. */
  environment(): Readonly<Record<string, string | undefined>>
  createId(): string
  /** The answer to a worker's first question. */
  startDataOf(worker: PoolWorker): unknown
  /** Before the worker runs: for the handlers of its messages. */
  onStart(worker: PoolWorker): void
  onReady(worker: PoolWorker, address: string): void
  /** The process has ended, for whatever reason. */
  onEnd(worker: PoolWorker): void
  /** Workers die soon after their start, and none is left. */
  onGiveUp(reason: string): void
}

/** Its message is for the operator. */
export class WorkerNotReady extends Error {}

interface Member extends PoolWorker {
  state: PoolWorker['state']
  readonly child: Worker
  /** Started by a restart: if it dies, the restart fails, and the pool does not replace it. */
  isCandidate: boolean
  readyAtMs: number | undefined
  /** Questions about its state in a row that it did not answer. */
  unanswered: number
  isAsked: boolean
  /** In use, as it said last. */
  connections: number
  /** The reason of a failed start, as it said itself. */
  reason: string | undefined
  readonly ready: PromiseWithResolvers<void>
  readonly ended: PromiseWithResolvers<void>
}

const START_MS_MAX = 90_000
/** Beyond the time for its calls, before and after their clients are disconnected. */
const END_MS_MAX = 20_000
const WATCH_EVERY_MS = 1_000
/** A worker that answers nothing for so many seconds is ended. Others fence it much earlier, see `ledger/lease.ts`. */
const UNANSWERED_MAX = 150
/** Deaths soon after the start, in a row, after which a server without a living worker ends. */
const QUICK_DEATHS_MAX = 8

export function createWorkerPool(options: PoolOptions): WorkerPool {
  const { log } = options
  const members = new Set<Member>()
  /** The workers that serve or will serve, by number. */
  const current = new Map<number, Member>()
  const pace = createRestartPace()
  const numbers = Array.from({ length: options.count }, (_, index) => index + 1)
  let deaths = 0
  let isStopping = false
  let restarting: Promise<void> | undefined
  let watch: NodeJS.Timeout | undefined

  function launch(number: number, isCandidate: boolean): Member {
    cluster.schedulingPolicy = cluster.SCHED_NONE
    cluster.setupPrimary({ exec: options.program, serialization: 'advanced' })
    const child = cluster.fork(options.environment())
    const channel = createChannel((message) => {
      if (child.isConnected()) child.process.send(message, undefined, undefined, () => {})
    })
    const member: Member = {
      number,
      processId: options.createId(),
      channel,
      child,
      state: 'starting',
      isCandidate,
      readyAtMs: undefined,
      unanswered: 0,
      isAsked: false,
      connections: 0,
      reason: undefined,
      ready: Promise.withResolvers(),
      ended: Promise.withResolvers(),
    }
    // A failure that nobody waits for is not unhandled.
    member.ready.promise.catch(() => {})
    members.add(member)
    if (!isCandidate) current.set(number, member)
    const timer = setTimeout(() => {
      member.reason = `it was not ready within ${START_MS_MAX / 1_000} s`
      child.process.kill('SIGKILL')
    }, START_MS_MAX).unref()
    channel.on('hello', () => options.startDataOf(member))
    channel.on('ready', (address) => {
      clearTimeout(timer)
      member.state = 'ready'
      member.readyAtMs = performance.now()
      log.info('worker_ready', { worker: number, pid: child.process.pid })
      options.onReady(member, String(address))
      member.ready.resolve()
    })
    channel.on('failed', (reason) => (member.reason = String(reason)))
    options.onStart(member)
    child.process.on('message', (message) => channel.receive(message))
    child.on('error', (error) => log.warn('worker_unreachable', { worker: number, error }))
    child.process.once('exit', (code, signal) => {
      clearTimeout(timer)
      ended(member, signal ?? `exit code ${code}`)
    })
    return member
  }

  function ended(member: Member, how: string): void {
    const { number, state } = member
    members.delete(member)
    member.channel.close()
    if (current.get(number) === member) current.delete(number)
    const facts = { worker: number, pid: member.child.process.pid, how }
    if (state === 'draining') log.info('worker_ended', facts)
    else {
      deaths += 1
      log.error('worker_died', { ...facts, state, reason: member.reason })
    }
    options.onEnd(member)
    member.ended.resolve()
    member.ready.reject(new WorkerNotReady(member.reason ?? `a worker ended at its start: ${how}`))
    if (state !== 'draining' && !member.isCandidate && !isStopping) replace(member, how)
  }

  function replace(dead: Member, how: string): void {
    const readyMs = dead.readyAtMs === undefined ? 0 : performance.now() - dead.readyAtMs
    const pauseMs = pace.died(readyMs)
    if (pace.quickDeaths >= QUICK_DEATHS_MAX && !list().some(({ state }) => state === 'ready')) {
      const last = dead.reason ?? how
      return options.onGiveUp(
        `${pace.quickDeaths} workers in a row died soon after their start, and none is left; the last one: ${last}`,
      )
    }
    log.warn('worker_replaced', { worker: dead.number, afterMs: pauseMs })
    setTimeout(() => {
      if (!isStopping && !current.has(dead.number)) launch(dead.number, false)
    }, pauseMs)
  }

  function drainOne(member: Member, drain: Drain): Promise<void> {
    const kill = (): void => void member.child.process.kill('SIGKILL')
    // It has no calls yet.
    if (member.state === 'starting') kill()
    else setTimeout(kill, drain.delayMs + 2 * drain.withinMs + END_MS_MAX).unref()
    member.state = 'draining'
    member.channel.post('drain', drain)
    return member.ended.promise
  }

  async function exchange(drain: Drain): Promise<void> {
    const drained: Promise<void>[] = []
    for (const number of numbers) {
      if (isStopping) break
      const before = current.get(number)
      const fresh = launch(number, true)
      try {
        await fresh.ready.promise
      } catch (error) {
        log.error('restart_failed', { worker: number, error })
        break
      }
      fresh.isCandidate = false
      // A dead predecessor may have been replaced meanwhile.
      const replaced = new Set([before, current.get(number)])
      current.set(number, fresh)
      for (const old of replaced) if (old && members.has(old)) drained.push(drainOne(old, drain))
      // It may have died between being ready and this line.
      if (!members.has(fresh)) replace(fresh, 'it died at its start')
    }
    await Promise.all(drained)
  }

  /** A worker that is stopped or caught in a loop keeps its place until it is ended. */
  function watchOnce(): void {
    const ready = list().filter(({ state }) => state === 'ready')
    const sum = ready.reduce((all, { connections }) => all + connections, 0)
    for (const member of ready) {
      if (member.isAsked) {
        member.unanswered += 1
        if (member.unanswered === 5) log.warn('worker_silent', { worker: member.number })
        if (member.unanswered >= UNANSWERED_MAX) member.child.process.kill('SIGKILL')
        continue
      }
      member.isAsked = true
      void member.channel
        .ask('state', sum / ready.length, 2 ** 31 - 1)
        .then((connections) => {
          member.connections = Number(connections)
          member.isAsked = false
          member.unanswered = 0
        })
        .catch(() => {})
    }
  }

  function list(): Member[] {
    return [...members]
  }

  return {
    async start() {
      const first = numbers.map((number) => launch(number, true))
      await Promise.all(first.map(({ ready }) => ready.promise))
      for (const member of first) {
        member.isCandidate = false
        if (members.has(member)) current.set(member.number, member)
        else replace(member, 'it died at its start')
      }
      watch = setInterval(watchOnce, WATCH_EVERY_MS)
    },
    restart(drain) {
      if (restarting) log.warn('restart_runs_already')
      restarting ??= exchange(drain).finally(() => (restarting = undefined))
      return restarting
    },
    async stop(drain) {
      isStopping = true
      clearInterval(watch)
      // A restart may launch one more meanwhile.
      while (members.size > 0) {
        await Promise.all(list().map((member) => drainOne(member, drain)))
        await sleep(10)
      }
    },
    list,
    get deaths() {
      return deaths
    },
  }
}

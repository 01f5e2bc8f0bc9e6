/**
 * Runs a schedule on the real ledgers of a world: the steps of a round are issued together, over real connections,
 * and the next round begins when those of nodes that are well are answered. Then everything heals, whatever still
 * runs ends, and the rows must be those of the reference ledger.
 */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { checkRows } from './check-rows.ts'
import { LEASE_SECONDS, type DrivenNode } from './drive-ledger.ts'
import { performMoneyStep } from './money-steps.ts'
import { createHistory, type History } from './history.ts'
import { openState, verdictText, type Operation } from './reference-ledger.ts'
import { seedCustomers, type SeededCustomer } from './seed-customers.ts'
import type { Attempt, LedgerAway, Verdict } from '../../src/ledger/attempt.ts'
import { release } from '../../src/ledger/resolution.ts'
import {
  KEYS,
  type CallStep,
  type KeyName,
  type NodeStep,
  type Round,
  type Schedule,
  type Step,
} from './steps.ts'
import { chargeOf, createAttempt, fromNanoBrl, fromPicoUsd, type World } from './world.ts'
import { passTime } from './drive-ledger.ts'

/** What a schedule did, for those who check it. */
export interface Run {
  readonly customers: readonly RunCustomer[]
  readonly calls: ReadonlyMap<number, RunCall>
}

export interface RunCustomer extends SeededCustomer {
  readonly history: History
  readonly ip: string
  /** As nodes know them. */
  readonly versions: Record<KeyName, number>
  /** Requests that were answered with their place in the window of the key. */
  readonly counted: Record<KeyName, number>
}

export interface RunCall {
  readonly customer: number
  readonly attempt: Attempt
  readonly tokens: number
  readonly node: DrivenNode
  phase: 'asked' | 'running' | 'ending' | 'over'
  /** That somebody else ends it, as long as that may be. */
  endByOthers: number | undefined
  /** Tokens of the answer that its client has. */
  delivered: number | undefined
}

/** A schedule whose answers or rows are not those of a ledger that keeps its promises. */
export class PromiseBroken extends Error {}

/** How long an answer of a node that is not well is waited for in a round. */
const GRACE_MS = 4
const ANSWER_MS_MAX = 60_000
const REPLAYS_MAX = 20

interface NodeState {
  isCut: boolean
  isDiskFull: boolean
  isSilent: boolean
  unseenSeconds: number
}

export async function runSchedule(world: World, schedule: Schedule): Promise<void> {
  const seeded = await seedCustomers(world.database.db, schedule.customers)
  const customers = seeded.map((one, index): RunCustomer => {
    const versions = Object.fromEntries(KEYS.map((name) => [name, 1])) as Record<KeyName, number>
    const counted = Object.fromEntries(KEYS.map((name) => [name, 0])) as Record<KeyName, number>
    const spec = schedule.customers[index] as Schedule['customers'][number]
    const history = createHistory(openState(spec))
    return { ...one, history, ip: `m:${one.id}`, versions, counted }
  })
  const driver = createDriver(world, customers)
  let faults: string[] = []
  for (const [index, round] of schedule.rounds.entries()) {
    faults = await driver.run(round)
    if (faults.length > 0) {
      faults.unshift(`in round ${index}:`)
      break
    }
  }
  faults.push(...(await driver.quiesce()))
  if (faults.length === 0)
    faults.push(...(await checkRows(world.database.db, { customers, calls: driver.calls })))
  if (faults.length > 0) throw new PromiseBroken(faults.join('\n'))
}

function createDriver(world: World, customers: readonly RunCustomer[]) {
  const { nodes } = world
  const { db } = world.database
  const calls = new Map<number, RunCall>()
  const states = nodes.map(
    (): NodeState => ({ isCut: false, isDiskFull: false, isSilent: false, unseenSeconds: 0 }),
  )
  /** Answers that a round waits for, and all that are outstanding. */
  let awaited: { readonly node: DrivenNode | undefined; readonly done: Promise<unknown> }[] = []
  const outstanding = new Set<Promise<unknown>>()

  const nodeAt = (place: number): DrivenNode => nodes[place % nodes.length] as DrivenNode
  const stateAt = (place: number): NodeState => states[place % nodes.length] as NodeState
  const stateOf = (node: DrivenNode): NodeState | undefined => states[nodes.indexOf(node)]
  const customerAt = (place: number): RunCustomer =>
    customers[place % customers.length] as RunCustomer

  function track(node: DrivenNode | undefined, work: Promise<unknown>): void {
    const done = work.finally(() => outstanding.delete(done))
    outstanding.add(done)
    awaited.push({ node, done })
  }

  /** Its answers are to be expected. */
  function isWell(node: DrivenNode): boolean {
    const state = stateOf(node)
    return state !== undefined && !state.isCut && !state.isDiskFull
  }

  /** An operation of a node: its answer counts as long as there is somebody to take it. */
  function observe<Answer>(
    node: DrivenNode,
    history: History,
    operation: Operation,
    ask: () => Promise<Answer>,
    read: (answer: Answer, id: number) => readonly string[] | undefined,
  ): void {
    const id = history.begin(operation)
    track(
      node,
      ask().then((answer) => {
        if (node.isCrashed) return
        const outcomes = read(answer, id)
        if (outcomes) history.answered(id, outcomes)
      }),
    )
  }

  function hold(step: CallStep & { kind: 'hold' }): void {
    if (calls.has(step.call)) return
    const node = nodeAt(step.node)
    const customer = customerAt(step.customer)
    const { key, tokens, isStream } = step
    const version = customer.versions[key]
    const attempt = createAttempt(world, {
      customerId: customer.id,
      key: { id: customer.keyIds[key], version },
      ip: customer.ip,
      tokens,
      isStream,
    })
    const call: RunCall = {
      customer: step.customer % customers.length,
      attempt,
      tokens,
      node,
      phase: 'asked',
      endByOthers: undefined,
      delivered: undefined,
    }
    calls.set(step.call, call)
    const operation = { kind: 'attempt', call: step.call, key, version, tokens } as const
    observe(node, customer.history, operation, () => node.hold(attempt), (verdict) => {
      call.phase = verdict.kind === 'held' ? 'running' : 'over'
      if (verdict.kind === 'away') {
        // It may have been held, and is released from the spool then.
        const { history } = customer
        history.begin({ kind: 'resolve', call: step.call, tokens: null, isDelivered: false })
        return undefined
      }
      customer.counted[key] += 1
      return [outcomeOf(verdict)]
    })
  }

  function end(id: number, tokens: number | null): void {
    const call = calls.get(id)
    if (!call || call.phase !== 'running' || call.node.isCrashed) return
    call.phase = 'ending'
    const { attempt, node } = call
    const used = tokens === null ? null : Math.min(tokens, call.tokens)
    const resolution = used === null ? release(attempt, 'model') : chargeOf(attempt, used)
    const { history } = customerAt(call.customer)
    const operation = (isDelivered: boolean): Operation => ({
      kind: 'resolve',
      call: id,
      tokens: used,
      isDelivered,
    })
    const isStreamed = attempt.isStream && used !== null
    observe(node, history, operation(isStreamed), () => node.settle(attempt, resolution), (resolved, place) => {
      call.phase = 'over'
      if (resolved.isDelivered && used !== null) call.delivered = used
      if (resolved.outcomes !== 'spooled') return resolved.outcomes
      history.amend(place, operation(used !== null))
      return undefined
    })
  }

  function mark({ calls: ids, seen }: CallStep & { kind: 'mark' }): void {
    const running = [...new Set(ids)]
      .map((id) => ({ id, call: calls.get(id) }))
      .filter((one): one is { id: number; call: RunCall } => isMarked(one.call))
    for (const node of new Set(running.map(({ call }) => call.node))) {
      if (node.isCrashed) continue
      const own = running.filter(({ call }) => call.node === node)
      const marks = own.map(({ call }) => ({
        id: call.attempt.id,
        outputTokensSeen: Math.min(seen, call.tokens),
      }))
      const begun = [...new Set(own.map(({ call }) => call.customer))].map((place) => {
        const { history } = customerAt(place)
        const its = own.filter(({ call }) => call.customer === place).map(({ id }) => id)
        return { history, id: history.begin({ kind: 'mark', calls: its, seen }) }
      })
      const answered = node.mark(marks).then((isKept) => {
        // Of many it is only said whether each of them was found.
        if (node.isCrashed || !(isKept || isWell(node))) return
        const outcomes = isKept ? ['marked'] : ['marked', 'missing']
        for (const { history, id } of begun) history.answered(id, outcomes)
      })
      track(node, answered)
    }
  }

  function count(step: CallStep & { kind: 'count' }): void {
    const node = nodeAt(step.node)
    const customer = customerAt(step.customer ?? 0)
    const key =
      step.customer === null
        ? undefined
        : { id: customer.keyIds[step.key], requestsPerMinute: 1_000_000 }
    track(
      node,
      node.count({ ip: customer.ip, ipLimit: 1_000_000, key }).then((verdict) => {
        if (key && verdict.kind === 'counted') customer.counted[step.key] += 1
      }),
    )
  }

  function reconcile(place: number): void {
    for (const [id, call] of calls) {
      if (call.endByOthers !== undefined) continue
      const { history } = customerAt(call.customer)
      if (isGone(call)) call.endByOthers = history.begin({ kind: 'reconcile', call: id })
    }
    const node = nodeAt(place)
    track(node, node.reconcile().catch(() => {}))
  }

  /** Its node may be taken for dead. */
  function isGone(call: RunCall): boolean {
    const owner = stateOf(call.node)
    return owner === undefined || owner.unseenSeconds > LEASE_SECONDS
  }

  async function pass(seconds: number): Promise<void> {
    const beating = nodes.filter((node, place) => !(stateAt(place).isSilent || stateAt(place).isCut))
    for (const node of nodes) {
      const state = stateOf(node) as NodeState
      state.unseenSeconds = beating.includes(node) ? 0 : state.unseenSeconds + seconds
    }
    await passTime(db, { seconds, except: beating.map(({ id }) => id) })
    await Promise.all(beating.map((node) => node.beat().catch(() => {})))
  }

  async function crash(place: number, turns: number): Promise<void> {
    const at = place % nodes.length
    const node = nodeAt(at)
    for (let left = turns; left > 0; left--) await turn()
    nodes[at] = await node.crash()
    states[at] = { isCut: false, isDiskFull: false, isSilent: false, unseenSeconds: 0 }
  }

  function nodeStep(step: NodeStep): void | Promise<void> {
    if (step.kind === 'pass') return pass(step.seconds)
    const node = nodeAt(step.node)
    const state = stateAt(step.node)
    switch (step.kind) {
      case 'silence':
      case 'return':
        state.isSilent = step.kind === 'silence'
        return
      case 'reconcile':
        return reconcile(step.node)
      case 'replay':
        return track(node, node.replay())
      case 'crash':
        return crash(step.node, step.turns)
      case 'freeze':
        state.isCut = true
        return node.proxy.freeze(step.direction)
      case 'cut':
        return cut(node, state, step)
      case 'heal':
        state.isCut = false
        return node.proxy.heal()
      case 'fill_disk':
        state.isDiskFull = true
        return node.fillDisk(step.bytes)
      case 'empty_disk':
        state.isDiskFull = false
        return node.emptyDisk()
      case 'step_clock':
        return
    }
  }

  async function cut(
    node: DrivenNode,
    state: NodeState,
    { turns, arrives }: NodeStep & { kind: 'cut' },
  ): Promise<void> {
    state.isCut = true
    for (let left = turns; left > 0; left--) await turn()
    node.proxy.cut({ arrives })
  }

  function perform(step: Step): void | Promise<void> {
    switch (step.kind) {
      case 'hold':
        return hold(step)
      case 'settle':
        return end(step.call, step.tokens)
      case 'release':
        return end(step.call, null)
      case 'mark':
        return mark(step)
      case 'count':
        return count(step)
      case 'credit':
      case 'debit':
      case 'revoke':
      case 'change_budget':
      case 'change_cap':
        return track(undefined, performMoneyStep(db, customerAt(step.customer), step))
      default:
        return nodeStep(step)
    }
  }

  /** Waits for the answers of nodes that are well; for those of the others only a moment. */
  async function answers(): Promise<string[]> {
    const wanted = awaited.filter(({ node }) => !node || isWell(node)).map(({ done }) => done)
    awaited = []
    if (outstanding.size > wanted.length) await sleep(GRACE_MS)
    const isDone = await within(ANSWER_MS_MAX, Promise.all(wanted))
    return isDone ? [] : ['a node that is well does not answer']
  }

  function explain(): string[] {
    const faults: string[] = []
    customers.forEach(({ history }, index) => {
      history.endRound()
      for (const call of calls.values()) {
        if (call.customer !== index || call.endByOthers === undefined || isGone(call)) continue
        history.withdraw(call.endByOthers)
        call.endByOthers = undefined
      }
      if (history.states.length > 0) return
      faults.push(`customer ${index}: no order of these explains their answers:`)
      faults.push(...history.lastRound.map((line) => `  ${line}`))
    })
    for (const node of nodes)
      if (node.proxy.takeDeadlocks() > 0) faults.push('a statement lost a deadlock')
    return faults
  }

  async function run({ isTogether, steps }: Round): Promise<string[]> {
    const breaking: Promise<void>[] = []
    // Whose lanes are busy while the others come in.
    if (isTogether) for (const node of nodes) if (isWell(node)) node.together(() => {})
    for (const step of steps) {
      const done = perform(step)
      if (done) breaking.push(done)
    }
    await Promise.all(breaking)
    const faults = await answers()
    return [...faults, ...explain()]
  }

  /** All is well again, what runs ends, and a minute passes. */
  async function quiesce(): Promise<string[]> {
    nodes.forEach((node, place) => {
      node.emptyDisk()
      node.proxy.heal()
      Object.assign(stateAt(place), { isCut: false, isDiskFull: false, isSilent: false })
    })
    if (!(await within(ANSWER_MS_MAX, Promise.all(outstanding))))
      return ['what was asked is not answered although all is well']
    awaited = []
    for (const [id, call] of calls) if (call.phase === 'running') end(id, call.tokens)
    await answers()
    await pass(61)
    for (let replays = 0; nodes.some((node) => node.spoolLength > 0); replays++) {
      if (replays === REPLAYS_MAX) return ['the spool does not empty although all is well']
      await Promise.all(nodes.map((node) => node.replay()))
      if (replays > 0) await sleep(50)
    }
    nodes.forEach((_, place) => reconcile(place))
    await answers()
    return explain()
  }

  return { run, quiesce, calls }
}

/** Until its end is answered, as `RunningCalls` has it. */
function isMarked(call: RunCall | undefined): boolean {
  return call?.phase === 'running' || call?.phase === 'ending'
}

function outcomeOf(verdict: Exclude<Verdict | LedgerAway, LedgerAway>): string {
  if (verdict.kind === 'stale_key') return 'stale_key'
  const nano = (amount: bigint | null) => (amount === null ? null : fromNanoBrl(amount))
  return verdictText({
    kind: verdict.kind,
    balance: nano(verdict.balanceNanoBrl),
    held: nano(verdict.heldNanoBrl),
    budgetLeft: verdict.budgetLeftPicoUsd === null ? null : fromPicoUsd(verdict.budgetLeftPicoUsd),
    teamLeft: nano(verdict.teamLeftNanoBrl),
  })
}

/** False where it takes longer. */
async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  const late = new AbortController()
  const isLate = sleep(ms, false, { signal: late.signal }).catch(() => false)
  try {
    return await Promise.race([work.then(() => true), isLate])
  } finally {
    late.abort()
  }
}

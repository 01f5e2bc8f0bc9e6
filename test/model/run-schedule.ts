/**
 * Runs a schedule on the real ledgers of a world. The steps of a round are issued together, over real connections,
 * and the next round begins when the healthy nodes have answered theirs. In the end everything heals, running calls
 * end, and the rows must be those of the reference ledger.
 */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { checkRows } from './check-rows.ts'
import { LEASE_SECONDS, listReconciled, passTime, type DrivenNode } from './drive-ledger.ts'
import { performMoneyStep } from './money-steps.ts'
import { createHistory, type History } from './history.ts'
import { openState, verdictText, type Operation } from './reference-ledger.ts'
import { seedCustomers, type SeededCustomer } from './seed-customers.ts'
import type { Attempt, Verdict } from '../../src/money/ledger/attempt.ts'
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

/** The result of a schedule, for the checks. */
export interface Run {
  readonly customers: readonly RunCustomer[]
  readonly calls: ReadonlyMap<number, RunCall>
}

export interface RunCustomer extends SeededCustomer {
  readonly history: History
  readonly taskLimit: number
  readonly ip: string
  /** The keys as nodes know them. */
  readonly versions: Record<KeyName, number>
  /** The number of requests that were answered with their place in the window of the key. */
  readonly counted: Record<KeyName, number>
  /** The minutes of these requests by the database's clock: seconds since 1970. */
  readonly minutes: Set<number>
}

export interface RunCall {
  readonly customer: number
  readonly attempt: Attempt
  readonly tokens: number
  readonly node: DrivenNode
  phase: 'asked' | 'running' | 'ending' | 'over'
  /** The end that its node asked of the ledger. */
  asked: { readonly tokens: number | null; readonly isFinal: boolean } | undefined
  /** Output tokens in checkpoints: the highest sent, and the highest stored before this round and now. */
  seen: { sent: number; kept: number; keptNow: number }
  /** Another node resolved its hold. */
  isReconciled: boolean
  /** The tokens of the answer that its client has. */
  delivered: number | undefined
  /** The ledger accepted the delivered charge, which must survive every crash. */
  isDurable: boolean
}

/** A schedule whose answers or rows break a promise of the ledger. */
export class PromiseBroken extends Error {}

/** How long a round waits for the answer of an unhealthy node. */
const GRACE_MS = 4
const ANSWER_MS_MAX = 60_000
/** Like the timer of a node, which looks for orphaned holds four times a minute. */
const RECONCILE_SECONDS = 15
const RECONCILES = 4
/** The pause of a lane after a failed connection. */
const CONNECT_PAUSE_MS = 250
/** The longest interval between heartbeats that counts as unbroken contact with the database. */
const STEP_SECONDS = 7

interface NodeState {
  isCut: boolean
  isDiskFull: boolean
  isSilent: boolean
  unseenSeconds: number
}

export async function runSchedule(world: World, schedule: Schedule): Promise<void> {
  const seeded = await seedCustomers(world.prepared, schedule.customers)
  const customers = seeded.map((one, index): RunCustomer => {
    const versions = Object.fromEntries(KEYS.map((name) => [name, 1])) as Record<KeyName, number>
    const counted = Object.fromEntries(KEYS.map((name) => [name, 0])) as Record<KeyName, number>
    const spec = schedule.customers[index] as Schedule['customers'][number]
    const history = createHistory(openState(spec))
    const ip = `m:${one.id}`
    return { ...one, history, taskLimit: spec.task, ip, versions, counted, minutes: new Set() }
  })
  // Real time passes too: without renewals a lease would end that the schedule does not end.
  await Promise.all(world.nodes.map((node) => node.beat()))
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
    faults.push(...(await checkRows(world.prepared, { customers, calls: driver.calls })))
  if (faults.length > 0) faults.push(...driver.reconcileErrors)
  if (faults.length > 0) throw new PromiseBroken(faults.join('\n'))
}

function createDriver(world: World, customers: readonly RunCustomer[]) {
  const { nodes } = world
  const { db } = world.database
  const calls = new Map<number, RunCall>()
  const states = nodes.map((): NodeState => ({
    isCut: false,
    isDiskFull: false,
    isSilent: false,
    unseenSeconds: 0,
  }))
  /** The answers that a round waits for, and all outstanding answers. */
  let awaited: { readonly node: DrivenNode | undefined; readonly done: Promise<unknown> }[] = []
  const outstanding = new Map<Promise<unknown>, DrivenNode | undefined>()
  let hasReconciled = false
  let hasBeenCut = false
  /** Calls whose holds other nodes might resolve at some time. */
  const reconcilable = new Set<RunCall>()
  const reconcileErrors: string[] = []

  const nodeAt = (place: number): DrivenNode => nodes[place % nodes.length] as DrivenNode
  const stateAt = (place: number): NodeState => states[place % nodes.length] as NodeState
  const stateOf = (node: DrivenNode): NodeState | undefined => states[nodes.indexOf(node)]
  const customerAt = (place: number): RunCustomer =>
    customers[place % customers.length] as RunCustomer

  function track(node: DrivenNode | undefined, work: Promise<unknown>): void {
    const done = work.finally(() => outstanding.delete(done))
    // A connection that times out may fail it before the round waits for it; that must not end the other worlds.
    done.catch(() => {})
    outstanding.set(done, node)
    awaited.push({ node, done })
  }

  /** Without the answers of dead processes. */
  function listOutstanding(): Promise<unknown>[] {
    return [...outstanding].flatMap(([done, node]) => (node?.isCrashed ? [] : [done]))
  }

  /** The nodes whose lanes get work in these steps. */
  function nodesOf(steps: readonly Step[]): Set<DrivenNode> {
    const used = steps.flatMap((step): (DrivenNode | undefined)[] => {
      if ('node' in step) return [nodeAt(step.node)]
      if ('calls' in step) return step.calls.map((id) => calls.get(id)?.node)
      return 'call' in step ? [calls.get(step.call)?.node] : []
    })
    return new Set(used.filter((node) => node !== undefined))
  }

  /** Whether its answers can be expected. */
  function isWell(node: DrivenNode): boolean {
    const state = stateOf(node)
    return state !== undefined && !state.isCut && !state.isDiskFull
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
      taskLimit: key === 'task' ? customer.taskLimit : undefined,
    })
    const call: RunCall = {
      customer: step.customer % customers.length,
      attempt,
      tokens,
      node,
      phase: 'asked',
      asked: undefined,
      seen: { sent: 0, kept: 0, keptNow: 0 },
      isReconciled: false,
      delivered: undefined,
      isDurable: false,
    }
    calls.set(step.call, call)
    const { history } = customer
    const id = history.begin({ kind: 'attempt', call: step.call, key, version, tokens })
    const answered = node.hold(attempt).then((verdict) => {
      if (node.isCrashed) return history.lost(id)
      call.phase = verdict.kind === 'held' ? 'running' : 'over'
      // The hold may exist: then its node finds a hold without a running call.
      if (verdict.kind === 'unavailable') return history.lost(id)
      noteCounted(customer, key, verdict)
      history.answered(id, [outcomeOf(verdict)])
    })
    track(node, answered)
  }

  function end(id: number, wanted: number | null): void {
    const call = calls.get(id)
    if (!call || call.phase !== 'running' || call.node.isCrashed) return
    call.phase = 'ending'
    const { attempt, node } = call
    const tokens = wanted === null ? null : Math.max(Math.min(wanted, call.tokens), call.seen.sent)
    const { history } = customerAt(call.customer)
    const operation = (answer: { tokens: number | null; isFinal: boolean }) => resolve(id, answer)
    let place = 0
    const ended = node.end(attempt, tokens, chargeOf, (answer) => {
      call.asked = answer
      place = history.begin(operation(answer))
    })
    const answered = ended.then((end) => {
      call.delivered = end.delivered
      if (node.isCrashed) return history.lost(place)
      call.phase = 'over'
      call.isDurable = end.outcomes !== undefined || end.isSpooled
      if (end.outcomes) history.answered(place, end.outcomes)
      else history.lost(place, operation(end))
      // A charge whose answer was refused may be committed all the same; it is reversed once the database is
      // available.
      if (end.isRefused) history.lost(history.begin(operation({ tokens: null, isFinal: true })))
    })
    track(node, answered)
  }

  /**
   * The node of these calls has died while it ended them. A charge whose answer was not delivered may be in its spool,
   * as final, or may have been taken back there.
   */
  function noteUndecided(node: DrivenNode): void {
    for (const [id, { node: own, phase, asked, customer }] of calls) {
      if (own !== node || phase !== 'ending' || !asked || asked.isFinal || asked.tokens === null)
        continue
      const { history } = customerAt(customer)
      for (const tokens of [asked.tokens, null])
        history.lost(history.begin(resolve(id, { tokens, isFinal: true })))
    }
  }

  function checkpoint({ calls: ids, seen }: CallStep & { kind: 'checkpoint' }): void {
    const running = [...new Set(ids)]
      .map((id) => calls.get(id))
      .filter((call): call is RunCall => call !== undefined && isCheckpointed(call))
    for (const node of new Set(running.map((call) => call.node))) {
      if (node.isCrashed) continue
      const checkpoints = running
        .filter((call) => call.node === node)
        .map((call) => {
          // Output before the end of an answer exists for streams only.
          const sent = call.attempt.isStream ? Math.min(seen, call.tokens) : 0
          if (call.phase === 'ending') return { attempt: call.attempt, seen: call.seen.sent, call }
          call.seen.sent = Math.max(call.seen.sent, sent)
          return { attempt: call.attempt, seen: sent, call }
        })
      const answered = node.checkpoint(checkpoints).then((kept) => {
        for (const { attempt, seen: sent, call } of checkpoints)
          // Another node may have read the hold before this checkpoint was written.
          if (kept.includes(attempt.id) && !mayBeReconciled(call))
            call.seen.keptNow = Math.max(call.seen.keptNow, sent)
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
        if (key && verdict.kind === 'counted') noteCounted(customer, step.key, verdict)
      }),
    )
  }

  function reconcile(place: number): void {
    const node = nodeAt(place)
    hasReconciled = true
    noteReconcilable()
    track(
      node,
      node.reconcile().catch((error: unknown) => {
        reconcileErrors.push(String(error))
      }),
    )
  }

  /** Also while time passes: a reconciliation of the same round may read the clock later. */
  function noteReconcilable(): void {
    for (const call of calls.values()) if (mayBeReconciled(call)) reconcilable.add(call)
  }

  /** The node appears dead, was fenced, or does not know the call. */
  function mayBeReconciled(call: RunCall): boolean {
    return isLost(call) || call.phase === 'asked' || call.phase === 'over'
  }

  /** The node appears dead, or was fenced. */
  function isLost({ node, attempt }: RunCall): boolean {
    const owner = stateOf(node)
    return owner === undefined || owner.unseenSeconds > LEASE_SECONDS || node.isOver(attempt)
  }

  /** Records the holds that other nodes resolved in this round, and checks that they were allowed to. */
  async function noteReconciled(): Promise<string[]> {
    if (!hasReconciled) return []
    const faults: string[] = []
    const open = new Map(
      [...calls].flatMap(([id, call]) =>
        call.isReconciled ? [] : [[call.attempt.id, { id, call }] as const],
      ),
    )
    for (const event of await listReconciled(world.prepared, [...open.keys()])) {
      const { id, call } = open.get(event.id) as { id: number; call: RunCall }
      call.isReconciled = true
      const tokens = fromNanoBrl(event.billedNanoBrl)
      const { history } = customerAt(call.customer)
      const operation = {
        kind: 'resolve',
        call: id,
        tokens: tokens || null,
        isFinal: false,
      } as const
      history.answered(history.begin(operation), ['done'])
      // A frozen reconciliation continues when it is healed, also with holds that were taken after it began, some of
      // them by a node that does not know yet that it was fenced.
      if (!reconcilable.has(call) && !isLost(call))
        faults.push(`the hold of call ${id} was resolved by others although its node is alive`)
      if (tokens < call.seen.kept || tokens > call.seen.sent)
        faults.push(
          `call ${id} was charged ${tokens} for a lost node, its checkpoints say ${call.seen.kept} to ${call.seen.sent}`,
        )
    }
    return faults
  }

  async function pass(seconds: number): Promise<void> {
    const isBeating = (node: DrivenNode): boolean => {
      const state = stateOf(node)
      return state !== undefined && !state.isSilent && !state.isCut
    }
    for (let left = seconds; left > 0; left -= STEP_SECONDS) {
      const some = Math.min(left, STEP_SECONDS)
      const beating = nodes.filter(isBeating)
      for (const node of nodes) {
        const state = stateOf(node) as NodeState
        state.unseenSeconds = beating.includes(node) ? 0 : state.unseenSeconds + some
        node.clock.pass(some)
      }
      noteReconcilable()
      await passTime(db, { seconds: some, except: beating.map((node) => node.id()) })
      await Promise.all(beating.map((node) => node.beat()))
    }
  }

  async function crash(place: number, turns: number): Promise<void> {
    const at = place % nodes.length
    const node = nodeAt(at)
    for (let left = turns; left > 0; left--) await turn()
    if (node.isCrashed) return
    nodes[at] = await node.crash()
    noteUndecided(node)
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
        if (state.isSilent || state.isCut) return
        // Until the heartbeat ends, another node may be faster.
        return track(
          node,
          node.beat().then(() => {
            state.unseenSeconds = 0
          }),
        )
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
        return node.clock.step(step.seconds)
    }
  }

  async function cut(
    node: DrivenNode,
    state: NodeState,
    { turns, arrives }: NodeStep & { kind: 'cut' },
  ): Promise<void> {
    state.isCut = true
    hasBeenCut = true
    for (let left = turns; left > 0; left--) await turn()
    // Unless it was healed meanwhile.
    if (state.isCut && !node.isCrashed) node.proxy.cut({ arrives })
  }

  function perform(step: Step): void | Promise<void> {
    switch (step.kind) {
      case 'hold':
        return hold(step)
      case 'settle':
        return end(step.call, step.tokens)
      case 'release':
        return end(step.call, null)
      case 'checkpoint':
        return checkpoint(step)
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

  /** Waits for the answers of healthy nodes, and only briefly for those of the others. */
  async function answers(): Promise<string[]> {
    const wanted = awaited.filter(({ node }) => !node || isWell(node)).map(({ done }) => done)
    awaited = []
    if (listOutstanding().length > wanted.length) await sleep(GRACE_MS)
    const isDone = await within(ANSWER_MS_MAX, Promise.all(wanted))
    return isDone ? [] : ['a node that is well does not answer']
  }

  function explain(): string[] {
    const faults: string[] = []
    customers.forEach(({ history }, index) => {
      history.endRound()
      if (history.states.length > 0) return
      faults.push(`customer ${index}: no order of these explains their answers:`)
      faults.push(...history.lastRound.map((line) => `  ${line}`))
    })
    if (world.sessions.takeDeadlocks() > 0) faults.push('a statement lost a deadlock')
    return faults
  }

  async function run({ isTogether, steps }: Round): Promise<string[]> {
    const breaking: Promise<void>[] = []
    // The lanes are busy while these calls arrive.
    if (isTogether) for (const node of nodesOf(steps)) if (isWell(node)) node.occupyLanes()
    for (const step of steps) {
      const done = perform(step)
      if (done) breaking.push(done)
    }
    await Promise.all(breaking)
    const faults = await answers()
    faults.push(...(await noteReconciled()))
    for (const { seen } of calls.values()) seen.kept = seen.keptNow
    return [...faults, ...explain()]
  }

  /** Heals everything, ends the running calls, and lets a minute pass. */
  async function quiesce(): Promise<string[]> {
    nodes.forEach((node, place) => {
      node.emptyDisk()
      node.proxy.heal()
      Object.assign(stateAt(place), { isCut: false, isDiskFull: false, isSilent: false })
    })
    if (!(await within(ANSWER_MS_MAX, Promise.all(listOutstanding()))))
      return ['what was asked is not answered although all is well']
    awaited = []
    for (const [id, call] of calls) if (call.phase === 'running') end(id, call.tokens)
    await answers()
    // A reconciliation that was frozen has ended now.
    const faults = await noteReconciled()
    // No driven clock shortens this wait.
    if (hasBeenCut) await sleep(CONNECT_PAUSE_MS)
    for (let turns = 0; turns < RECONCILES && (await isAnythingLeft()); turns++) {
      await pass(RECONCILE_SECONDS)
      nodes.forEach((_, place) => reconcile(place))
      faults.push(...(await answers()), ...(await noteReconciled()))
    }
    for (const node of nodes)
      if (node.spoolLength > 0) faults.push('the spool does not empty although all is well')
    return [...faults, ...explain()]
  }

  /** Holds or spooled rows that the timers of the nodes have to resolve. */
  async function isAnythingLeft(): Promise<boolean> {
    if (nodes.some((node) => node.spoolLength > 0)) return true
    const hold = await db.selectFrom('holds').select('id').limit(1).executeTakeFirst()
    return hold !== undefined
  }

  return { run, quiesce, calls, reconcileErrors }
}

function resolve(
  call: number,
  { tokens, isFinal }: { readonly tokens: number | null; readonly isFinal: boolean },
): Operation {
  return { kind: 'resolve', call, tokens, isFinal }
}

/** Until its end is answered, as in `RunningCalls`. */
function isCheckpointed({ phase }: RunCall): boolean {
  return phase === 'running' || phase === 'ending'
}

function noteCounted(customer: RunCustomer, key: KeyName, { at }: Verdict): void {
  customer.counted[key] += 1
  customer.minutes.add(Math.floor(at.getTime() / 60_000) * 60)
}

function outcomeOf(verdict: Verdict): string {
  if (verdict.kind === 'stale_key') return 'stale_key'
  const nano = (amount: bigint | null) => (amount === null ? null : fromNanoBrl(amount))
  return verdictText({
    kind: verdict.kind,
    balance: nano(verdict.balanceNanoBrl),
    held: nano(verdict.heldNanoBrl),
    budgetLeft: verdict.budgetLeftPicoUsd === null ? null : fromPicoUsd(verdict.budgetLeftPicoUsd),
    teamLeft: nano(verdict.teamLeftNanoBrl),
    taskLeft: nano(verdict.cap?.leftNanoBrl ?? null),
  })
}

/** False if it takes longer. */
async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const isLate = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false)
  })
  try {
    return await Promise.race([work.then(() => true), isLate])
  } finally {
    clearTimeout(timer)
  }
}

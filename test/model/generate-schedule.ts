/**
 * Schedules, by fast-check: lives of calls and events beside them, each at a round, biased towards contention
 * (few customers, room for few holds, equal times). They shrink to the calls and events that matter.
 */
import fc from '../harness/fast-check.ts'
import { NODES } from './world.ts'
import {
  KEYS,
  type CustomerSpec,
  type Direction,
  type Round,
  type Schedule,
  type Step,
} from './steps.ts'

/** The parts of schedules and their weights; a vocabulary without some parts concentrates on the rest. */
export interface Vocabulary {
  /** Several customers in one batch. */
  readonly customersMax: number
  readonly keyless: number
  readonly checkpoints: boolean
  readonly money: number
  readonly keys: number
  readonly silences: number
  readonly crashes: number
  readonly partitions: number
  readonly disks: number
  readonly clocks: number
  /** All calls begin at once, on one node, and end at the moment of their checkpoints. */
  readonly isStorm: boolean
}

export const EVERYTHING: Vocabulary = {
  customersMax: 3,
  keyless: 2,
  checkpoints: true,
  money: 3,
  keys: 2,
  silences: 2,
  crashes: 1,
  partitions: 2,
  disks: 1,
  clocks: 1,
  isStorm: false,
}

/** Calls, and nothing beside them. */
export const NOTHING: Vocabulary = {
  customersMax: 3,
  keyless: 0,
  checkpoints: false,
  money: 0,
  keys: 0,
  silences: 0,
  crashes: 0,
  partitions: 0,
  disks: 0,
  clocks: 0,
  isStorm: false,
}

const ROUNDS_MAX = 6
const CALLS_MAX = 10

interface Life {
  readonly begins: number
  readonly hold: Omit<Step & { kind: 'hold' }, 'kind' | 'call' | 'node'>
  /** Undefined: the node that most of them are on. */
  readonly node: number | undefined
  readonly checkpoints: readonly {
    readonly after: number
    readonly seen: number
    readonly more: boolean
  }[]
  readonly end: {
    readonly after: number
    readonly kind: 'settle' | 'release' | 'none'
    readonly tokens: number
  }
}

interface Event {
  readonly at: number
  readonly steps: readonly { readonly after: number; readonly step: Step }[]
}

const node = fc.nat({ max: NODES - 1 })
const round = fc.nat({ max: ROUNDS_MAX - 1 })
const key = fc.oneof(
  { weight: 5, arbitrary: fc.constant('plain' as const) },
  { weight: 3, arbitrary: fc.constantFrom(...KEYS) },
)
const turns = fc.nat({ max: 6 })

const customerSpec: fc.Arbitrary<CustomerSpec> = fc.record({
  balance: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 20, max: 60 })),
  budget: fc.integer({ min: 1, max: 15 }),
  cap: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 15 })),
})

function life(vocabulary: Vocabulary): fc.Arbitrary<Life> {
  return fc.record({
    begins: round,
    node: fc.option(node, { nil: undefined, freq: 2 }),
    hold: fc.record({
      customer: fc.nat({ max: vocabulary.customersMax - 1 }),
      key,
      tokens: fc.oneof(fc.constantFrom(4, 5), fc.integer({ min: 1, max: 8 })),
      isStream: fc.boolean(),
    }),
    checkpoints: fc.array(
      fc.record({
        after: fc.integer({ min: 1, max: 3 }),
        seen: fc.nat({ max: 4 }),
        more: fc.boolean(),
      }),
      { maxLength: vocabulary.checkpoints ? 2 : 0 },
    ),
    end: fc.record({
      after: fc.integer({ min: 1, max: 4 }),
      kind: fc.constantFrom('settle', 'settle', 'settle', 'release', 'none'),
      tokens: fc.nat({ max: 8 }),
    }),
  })
}

/** An event, alone or with the steps that usually follow it. */
function event(vocabulary: Vocabulary): fc.Arbitrary<Event> {
  const { keyless, money, keys, silences, crashes, partitions, disks, clocks } = vocabulary
  const customer = fc.nat({ max: vocabulary.customersMax - 1 })
  const tokens = fc.integer({ min: 1, max: 12 })
  const one = (step: fc.Arbitrary<Step>): fc.Arbitrary<Event['steps']> =>
    step.map((only) => [{ after: 0, step: only }])
  const kinds: { weight: number; arbitrary: fc.Arbitrary<Event['steps']> }[] = [
    {
      weight: keyless,
      arbitrary: one(
        fc.record({
          kind: fc.constant('count'),
          node,
          customer: fc.option(customer, { nil: null }),
          key,
        }),
      ),
    },
    {
      weight: money,
      arbitrary: one(
        fc.record({
          kind: fc.constantFrom('credit', 'debit'),
          customer,
          tokens,
          reference: fc.nat({ max: 3 }),
        }),
      ),
    },
    {
      weight: keys,
      arbitrary: one(
        fc.oneof(
          fc.record({ kind: fc.constant('revoke' as const), customer, key }),
          fc.record({ kind: fc.constant('change_budget' as const), customer, tokens }),
          fc.record({
            kind: fc.constant('change_cap' as const),
            customer,
            tokens: fc.option(tokens),
          }),
        ),
      ),
    },
    { weight: vocabulary.checkpoints ? 2 : 0, arbitrary: rush() },
    { weight: silences, arbitrary: silence() },
    {
      weight: crashes,
      arbitrary: fc
        .tuple(node, turns)
        .map(([place, wait]) => [{ after: 0, step: { kind: 'crash', node: place, turns: wait } }]),
    },
    {
      weight: crashes,
      arbitrary: one(fc.record({ kind: fc.constantFrom('reconcile', 'replay'), node })),
    },
    { weight: partitions, arbitrary: partition() },
    { weight: disks, arbitrary: fullDisk() },
    { weight: clocks, arbitrary: clockStep() },
  ]
  return fc.record({ at: round, steps: fc.oneof(...kinds.filter(({ weight }) => weight > 0)) })
}

/** Many calls end at the moment of a checkpoint of them. */
function rush(): fc.Arbitrary<Event['steps']> {
  const calls = fc.shuffledSubarray([...Array(CALLS_MAX).keys()], { minLength: 4 })
  return fc
    .record({ checkpointed: calls, ended: calls, tokens: fc.nat({ max: 8 }) })
    .map(({ checkpointed, ended, tokens }) => [
      { after: 0, step: { kind: 'checkpoint', calls: checkpointed, seen: tokens } },
      ...ended.map((call) => ({ after: 0, step: { kind: 'settle' as const, call, tokens } })),
    ])
}

/** A node sends no heartbeat, time passes, another one looks. */
function silence(): fc.Arbitrary<Event['steps']> {
  return fc
    .record({
      place: node,
      other: node,
      seconds: fc.constantFrom(7, 25, 70),
      returns: fc.nat({ max: 3 }),
    })
    .map(({ place, other, seconds, returns }) => [
      { after: 0, step: { kind: 'silence', node: place } },
      { after: 1, step: { kind: 'pass', seconds } },
      { after: 2, step: { kind: 'reconcile', node: other } },
      { after: 2 + returns, step: { kind: 'return', node: place } },
    ])
}

function partition(): fc.Arbitrary<Event['steps']> {
  const freeze = fc.constantFrom<Direction>('to_server', 'to_client', 'both').map((direction) => ({
    kind: 'freeze' as const,
    direction,
  }))
  const cut = fc.record({ kind: fc.constant('cut' as const), arrives: fc.boolean(), turns })
  return fc
    .record({
      place: node,
      how: fc.oneof(freeze, cut),
      later: fc.option(cut),
      seconds: fc.option(fc.constantFrom(7, 25)),
      heals: fc.integer({ min: 1, max: 3 }),
    })
    .map(({ place, how, later, seconds, heals }) => [
      { after: 0, step: { ...how, node: place } },
      ...(seconds === null ? [] : [{ after: 1, step: { kind: 'pass' as const, seconds } }]),
      ...(later === null ? [] : [{ after: 1, step: { ...later, node: place } }]),
      { after: heals, step: { kind: 'heal', node: place } },
    ])
}

/** Somebody sets the clock of a machine, by less and by more than a lease, forwards and back. */
function clockStep(): fc.Arbitrary<Event['steps']> {
  return fc
    .record({
      place: node,
      seconds: fc.constantFrom(-86_400, -70, -15, 15, 25, 70, 86_400),
      returns: fc.option(fc.integer({ min: 1, max: 3 })),
    })
    .map(({ place, seconds, returns }) => [
      { after: 0, step: { kind: 'step_clock', node: place, seconds } },
      ...(returns === null
        ? []
        : [
            {
              after: returns,
              step: { kind: 'step_clock' as const, node: place, seconds: -seconds },
            },
          ]),
    ])
}

/** A node has neither its database nor room on its disk; then it has room again. */
function fullDisk(): fc.Arbitrary<Event['steps']> {
  return fc
    .record({
      place: node,
      bytes: fc.nat({ max: 700 }),
      empties: fc.integer({ min: 1, max: 2 }),
      turns,
    })
    .map(({ place, bytes, empties, turns: wait }) => [
      { after: 0, step: { kind: 'fill_disk', node: place, bytes } },
      { after: 0, step: { kind: 'cut', node: place, arrives: true, turns: wait } },
      { after: empties, step: { kind: 'empty_disk', node: place } },
      { after: empties + 1, step: { kind: 'heal', node: place } },
    ])
}

export function schedules(vocabulary: Vocabulary = EVERYTHING): fc.Arbitrary<Schedule> {
  const { customersMax, isStorm } = vocabulary
  const lives = fc.array(life(vocabulary), {
    minLength: isStorm ? CALLS_MAX : 1,
    maxLength: CALLS_MAX,
  })
  return fc
    .record({
      // In a storm one whose lanes run beside each other.
      home: isStorm ? fc.constantFrom(1, 2) : node,
      customers: fc.array(customerSpec, {
        minLength: isStorm ? customersMax : 1,
        maxLength: customersMax,
      }),
      lives: isStorm ? lives.map((all) => all.map(inStorm)) : lives,
      events: fc.array(event(vocabulary), { minLength: isStorm ? 1 : 0, maxLength: 6 }),
      together: fc.array(isStorm ? fc.constant(true) : fc.boolean(), {
        minLength: ROUNDS_MAX + 6,
        maxLength: ROUNDS_MAX + 6,
      }),
    })
    .map(({ home, customers, lives: its, events, together }) => ({
      customers: isStorm ? customers.map((spec) => ({ ...spec, balance: 60 })) : customers,
      rounds: layOut(home, its, events, together),
    }))
}

function inStorm({ hold, checkpoints }: Life): Life {
  const end = { after: 1, kind: 'none', tokens: 1 } as const
  return {
    begins: 0,
    node: undefined,
    hold: { ...hold, key: 'plain', tokens: 2 },
    checkpoints,
    end,
  }
}

function layOut(
  home: number,
  lives: readonly Life[],
  events: readonly Event[],
  together: readonly boolean[],
): Round[] {
  const rounds: Step[][] = together.map(() => [])
  const put = (at: number, step: Step): void =>
    void rounds[Math.min(at, rounds.length - 1)]?.push(step)
  const checkpoints = new Map<number, { calls: number[]; seen: number }>()
  lives.forEach(({ begins, hold, node: at, end, checkpoints: its }, call) => {
    put(begins, { kind: 'hold', call, node: at ?? home, ...hold })
    for (const { after, seen } of its) {
      const at = begins + after
      const checkpoint = checkpoints.get(at) ?? { calls: [], seen }
      checkpoint.calls.push(call)
      checkpoints.set(at, checkpoint)
    }
    if (end.kind === 'settle') put(begins + end.after, { kind: 'settle', call, tokens: end.tokens })
    if (end.kind === 'release') put(begins + end.after, { kind: 'release', call })
  })
  // As the timer of a node does it: all that are due together.
  for (const [at, checkpoint] of checkpoints) put(at, { kind: 'checkpoint', ...checkpoint })
  for (const { at, steps } of events) for (const { after, step } of steps) put(at + after, step)
  return rounds.flatMap((steps, index) =>
    steps.length === 0 ? [] : [{ isTogether: together[index] ?? false, steps }],
  )
}

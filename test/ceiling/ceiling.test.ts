// deep: every kind of request with every field
/**
 * The ceiling cannot be exceeded: requests of every kind, with every field, go through a real node to a
 * provider that bills the most that its rules allow. Neither the charge nor the provider's bill ever exceeds
 * the hold, the recorded cost equals the provider's bill, and no field is sent that the list of fields does
 * not know.
 *
 * Each request is sent twice: with an ample balance, and with a fraction of the first hold as the balance, so
 * that prompts are counted and limits lowered. Failures are reported by cause, each with the smallest request
 * that shows it.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import fc from '../harness/fast-check.ts'
import { effort, seedOr } from '../harness/effort.ts'
import { createTestDatabase, type TestDatabase } from '../harness/test-database.ts'
import { startLocalNode, type LocalNode } from '../harness/local-node.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import {
  AMPLE_NANO_BRL,
  createAskGateway,
  createSlots,
  setBalances,
  settledSince,
  type AskGateway,
  type Slot,
} from './ask-gateway.ts'
import { chat, type GeneratedRequest } from './generate-chats.ts'
import { messagesRequest } from './generate-native-messages.ts'
import { responsesRequest } from './generate-native-responses.ts'
import { edits, embeddings, images, sounds } from './generate-media.ts'
import { moderations, reranks, speeches } from './generate-text-units.ts'
import { startHostileUpstream, type HostileUpstream, type Received } from './hostile-upstream.ts'
import { jsonText } from './json-text.ts'
import { featuresOf, isExplained, judge, type Cause, type Fault } from './judge.ts'
import { CEILING_ENV, configFor } from './gateway-config.ts'
import { EARLIER_FINDINGS } from './earlier-findings.ts'
import { smallerBodies } from './smaller-bodies.ts'

const BATCH = 48
const CAUSES_MAX = Number(process.env.CEILING_CAUSES ?? 12)
const SEED = seedOr(22)
/** A file to which every cause is appended as soon as it is found. */
const LOG_FILE = process.env.CEILING_LOG
const say = (text: string): void => {
  if (LOG_FILE) appendFileSync(LOG_FILE, text)
}
/** Failures whose report matches are not reported, so that others behind them are found. */
const SKIPPED = process.env.CEILING_SKIP ? new RegExp(process.env.CEILING_SKIP) : undefined

interface Case {
  readonly request: GeneratedRequest
  /** In thousandths of the first call's hold. */
  readonly share: number
}

const someCase: fc.Arbitrary<Case> = fc.record({
  request: fc.oneof(
    { weight: 7, arbitrary: chat },
    { weight: 3, arbitrary: messagesRequest },
    { weight: 3, arbitrary: responsesRequest },
    { weight: 1, arbitrary: embeddings },
    { weight: 1, arbitrary: images },
    { weight: 1, arbitrary: edits },
    { weight: 1, arbitrary: sounds },
    { weight: 1, arbitrary: reranks },
    { weight: 1, arbitrary: speeches },
    { weight: 1, arbitrary: moderations },
  ),
  share: fc.integer({ min: 10, max: 1_000 }),
})

let database: TestDatabase
let upstream: HostileUpstream
let file: ConfigFile
let node: LocalNode
let slots: Slot[]
let askGateway: AskGateway

before(async () => {
  database = await createTestDatabase()
  upstream = await startHostileUpstream()
  file = await writeConfigFile(configFor(upstream.url))
  node = await startLocalNode({
    databaseUrl: database.databaseUrl,
    env: { ...CEILING_ENV, CATRACA_CONFIG: file.path, LOG_LEVEL: LOG_FILE ? 'warn' : 'error' },
  })
  slots = await createSlots(database, BATCH)
  askGateway = createAskGateway(node.baseUrl)
})

after(async () => {
  await askGateway.close()
  await node.stop()
  await node.remove()
  await upstream.close()
  await file.remove()
  await database.drop()
})

interface Failure {
  readonly request: GeneratedRequest
  readonly isTight: boolean
  readonly fault: Fault
}

const tally = {
  sent: 0,
  answered: 0,
  charged: 0,
  tight: 0,
  /** Calls for which the provider billed searches of the web. */
  searched: 0,
  refused: new Map<string, number>(),
}

async function run(cases: readonly Case[]): Promise<Failure[]> {
  const failures: Failure[] = []
  const held = await round(
    cases.map(({ request }) => ({ request, balance: AMPLE_NANO_BRL })),
    false,
    failures,
  )
  const again = cases.flatMap(({ request, share }, index) => {
    const amount = held[index]
    return amount === undefined ? [] : [{ request, balance: (amount * BigInt(share)) / 1_000n }]
  })
  if (again.length > 0) await round(again, true, failures)
  return failures
}

async function round(
  asked: readonly { request: GeneratedRequest; balance: bigint }[],
  isTight: boolean,
  failures: Failure[],
): Promise<(bigint | undefined)[]> {
  const used = slots.slice(0, asked.length)
  await setBalances(
    database,
    asked.map(({ balance }, index) => [used[index] as Slot, balance]),
  )
  const since = new Date(Date.now() - 2_000)
  const ids = asked.map(() => randomUUID())
  const answers = await Promise.all(
    asked.map(({ request }, index) =>
      askGateway(used[index] as Slot, request, ids[index] as string),
    ),
  )
  const settled = await settledSince(database, used, since)
  return asked.map(({ request }, index) => {
    const { status, text } = answers[index] as { status: number; text: string }
    const events = settled.get(ids[index] as string) ?? []
    tally.sent += 1
    if (isTight) tally.tight += 1
    if (status === 200) tally.answered += 1
    else count(request, status, text)
    tally.charged += events.filter(({ outcome }) => outcome === 'charged').length
    const { faults, unknown } = judge(events, take)
    for (const field of unknown) noteField(request, field)
    // A field with its own price breaks the other rules too; it is reported once, by its name.
    if (unknown.length === 0) for (const fault of faults) failures.push({ request, isTight, fault })
    if (status === 200 && events.length === 0)
      failures.push({
        request,
        isTight,
        fault: { what: 'a call is not settled', detail: text.slice(0, 200) },
      })
    return events[0]?.outcome === 'charged' ? events[0].heldNanoBrl : undefined
  })
}

function take(callId: string): Received[] {
  const received = upstream.take(callId)
  if (received.some(({ bill }) => bill.searches > 0)) tally.searched += 1
  return received
}

/** The fields that were sent although no list knows them, each with one request that had it. */
const fields = new Map<string, GeneratedRequest>()

function noteField(request: GeneratedRequest, field: string): void {
  const place = `${request.kind} to ${request.model.upstreamId}: ${field}`
  const known = fields.get(place)
  if (!known || jsonText(known.body).length > jsonText(request.body).length)
    fields.set(place, request)
}

function count({ kind, model }: GeneratedRequest, status: number, text: string): void {
  const why = /"message":"([^"]{0,90})/.exec(text)?.[1] ?? ''
  const key = `${status} ${kind} ${model.upstreamId}: ${why}`
  tally.refused.set(key, (tally.refused.get(key) ?? 0) + 1)
}

/** The smallest requests, one for each cause, until none or too many are left. */
async function findCauses(batches: number): Promise<string[]> {
  const causes: Cause[] = []
  const reports: string[] = []
  const isNew = (each: Failure): boolean =>
    !isExplained(each.fault, each.request, each.isTight, causes) && !SKIPPED?.test(textOf(each))
  let found: { failure: Failure; share: number } | undefined
  const property = fc.asyncProperty(
    fc.array(someCase, { minLength: 1, maxLength: BATCH, size: 'max' }),
    async (cases) => {
      const failure = (await run(cases)).find(isNew)
      if (!failure) return
      const share = cases.find(({ request }) => request === failure.request)?.share as number
      found = { failure, share }
      throw new Error(failure.fault.what)
    },
  )
  for (let seed = SEED; causes.length < CAUSES_MAX; seed += 1) {
    found = undefined
    await fc.check(property, { seed, numRuns: batches, endOnFailure: true })
    if (!found) break
    const smallest = await shrink(
      (found as { failure: Failure }).failure,
      (found as { share: number }).share,
    )
    const { request, isTight, fault } = smallest
    causes.push({
      kind: request.kind,
      upstream: request.model.id,
      what: fault.what,
      isTight,
      features: featuresOf(request),
    })
    const report = textOf(smallest).slice(0, 1_800)
    reports.push(report)
    say(`\n${causes.length}. ${report}\n`)
  }
  return reports
}

const SHRINK_MS_MAX = 20_000

/** The smallest request with the same fault that a few seconds of shrinking find. */
async function shrink(failure: Failure, share: number): Promise<Failure> {
  let smallest = failure
  for (const until = Date.now() + SHRINK_MS_MAX; Date.now() < until;) {
    const bodies = smallerBodies(smallest.request.body)
    let next: Failure | undefined
    for (let at = 0; at < bodies.length && !next && Date.now() < until; at += BATCH) {
      const cases = bodies
        .slice(at, at + BATCH)
        .map((body) => ({ request: { ...smallest.request, body }, share }))
      const again = (await run(cases)).filter(
        ({ fault, isTight }) => fault.what === failure.fault.what && isTight === failure.isTight,
      )
      // The first failure is the smallest.
      next = again[0]
    }
    if (!next) return smallest
    smallest = next
  }
  return smallest
}

function textOf({ request, isTight, fault }: Failure): string {
  const tight = isTight ? ', with little money' : ''
  const { kind, model, body } = request
  return `${kind} to ${model.id}${tight}: ${fault.what}: ${fault.detail}\n  ${jsonText(body)}`
}

test('no call is charged more than its hold, and no field without a known price is sent', async () => {
  const reports = await findCauses(
    Number(process.env.CEILING_BATCHES ?? effort({ ordinary: 90, full: 3_600 })),
  )
  say(`${describeTally()}\n${describeLog()}\n`)
  assert.deepEqual(upstream.failures, [])
  const unlisted = [...fields]
  const sent = unlisted.map(([place, { body }]) => `${place}: ${jsonText(body).slice(0, 300)}`)
  assert.deepEqual(reports, [], `seed ${SEED}: TEST_SEED=${SEED}\n${reports.join('\n')}`)
  assert.deepEqual(
    unlisted.map(([place]) => place),
    [],
    `fields that no list knows are sent\n${sent.join('\n')}`,
  )
  // A generator whose requests are all refused, or never search, would prove nothing.
  assert.ok(tally.charged > (tally.sent - tally.tight) / 2, describeTally())
  assert.ok(tally.searched > 5, describeTally())
})

for (const { name, requests } of EARLIER_FINDINGS) {
  test(name, async () => {
    const failures = await run(requests.map((request) => ({ request, share: 1_000 })))
    assert.deepEqual(failures.map(textOf), [])
  })
}

function describeTally(): string {
  const { sent, answered, charged, tight, searched, refused } = tally
  const lines = [...refused].sort(([, a], [, b]) => b - a).slice(0, 25)
  return [
    `seed ${SEED}: ${sent} requests, ${tight} of them with little money, ${answered} answered, ${charged} charged, ${searched} with searches`,
    ...lines.map(([key, times]) => `${times} x ${key}`),
  ].join('\n')
}

/** Why the adapters refused requests that the gateway accepted. */
function describeLog(): string {
  const details = new Map<string, number>()
  for (const line of node.log) {
    const upstreamId = /"upstreamId":"(\w+)/.exec(line)?.[1]
    const detail = /"detail":"([^"]{0,120})/.exec(line)?.[1]
    const key = `${upstreamId}: ${detail}`
    if (detail) details.set(key, (details.get(key) ?? 0) + 1)
  }
  const lines = [...details].sort(([, a], [, b]) => b - a).slice(0, 25)
  return lines.map(([key, times]) => `${times} x ${key}`).join('\n')
}

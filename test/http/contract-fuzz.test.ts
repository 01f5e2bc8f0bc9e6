// deep: generated requests of every operation
/**
 * Generated requests, valid and invalid, for every operation of `/v1/openapi.json`, over real sockets to one
 * server: no 5xx, and no answer that deviates from its description. The seed, which the test's name contains and
 * `TEST_SEED` sets, determines the requests.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask } from '../harness/ask.ts'
import fc from '../harness/fast-check.ts'
import { Pool } from 'undici'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { recordFindings } from '../../src/money/reconciliation/discrepancies.ts'
import { effort, seedOr } from '../harness/effort.ts'
import { createActor, createDisposableActor } from './contract-fuzz/actors.ts'
import type { Actor } from './contract-fuzz/pools.ts'
import { judge, type Answer } from './contract-fuzz/judge.ts'
import { plansFor, type Plan } from './contract-fuzz/request-plans.ts'
import { asCurl, createRequest, type RawRequest } from './contract-fuzz/raw-request.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  createAnswerCheck,
  operationsOf,
  readOpenApi,
  type OpenApi,
  type Operation,
} from '../harness/operations.ts'

const SEED = seedOr(20_261_121)
const REQUESTS = effort({ ordinary: 1_200, full: 50_000 })
const EACH_MIN = effort({ ordinary: 8, full: 300 })
/** Operations that take long: they get the fewest requests. */
const EXPENSIVE = new Set([
  'POST /chat/completions',
  'POST /embeddings',
  'POST /rerank',
  'POST /moderations',
  'POST /images/generations',
  'POST /images/edits',
  'POST /audio/speech',
  'POST /videos',
  'POST /audio/transcriptions',
  'POST /audio/translations',
  'POST /me/prompts/{id}/run',
  'PUT /me/preferences',
  'POST /topups',
  'GET /me/export',
  'DELETE /me',
])
/** They revoke or pause the calling key, or let its customer store no responses any more. */
const ENDING = new Set([
  'DELETE /me',
  'POST /api-keys/bulk-revoke',
  'POST /me/panic',
  'PUT /me/preferences',
])
/** It would stop the model calls of all others with a 503; `operator-pauses.test.ts` is about it. */
const STOPPING = 'POST /admin/service/pause'
/** Undone at once, so that the customers can call models. */
const SUSPENDING = 'POST /admin/customers/{id}/suspend'
/** It reads all rows of a customer, so mostly customers with few rows call it. */
const EXPORT = 'GET /me/export'
/** Parts of addresses that say who calls, not about which resource. */
const NO_RESOURCES = new Set(['', 'me', 'admin'])
const CLIENTS = 8
const ACTORS = 4
const CHUNK = 50
const FAILURES_SHOWN = 20
const FAILURES_MAX = 500
/**
 * Some operations need rows that other requests use up, such as a refund that nobody has decided on. Whether one of
 * these requests finds such a row depends on the order in which the eight clients are served, so a few operations may
 * go without a success here. `open-api.test.ts` has a fixed request for each documented status.
 */
const WITHOUT_SUCCESS_MAX = 5
const MORE_TURNS = 32
const EACH_MORE = 5
/** The first actors; a request of one of them is approved by the other. */
const ADMINS = 2
const OTHER_ADMIN = 'nul@exemplo.com.br'
const ADMIN_EMAILS = `fuzz-0@exemplo.com.br,fuzz-1@exemplo.com.br,${OTHER_ADMIN}`

let gateway: TestGateway
let pool: Pool
let document: OpenApi

before(async () => {
  gateway = await startGateway({
    ADMIN_EMAILS,
    REFUND_REVIEW_ABOVE_BRL: '0',
    ADMIN_APPROVAL_ABOVE_BRL: '1',
  })
  document = await readOpenApi(gateway.node.baseUrl)
  pool = new Pool(new URL(gateway.node.baseUrl).origin, { connections: CLIENTS, pipelining: 1 })
})

after(async () => {
  await pool?.close()
  await gateway?.stop()
})

interface Course {
  readonly operation: Operation
  readonly plans: Iterator<Plan>
  readonly count: number
  readonly statuses: Map<number, number>
}

test(`${REQUESTS} generated requests over all operations, by seed ${SEED}`, async () => {
  const actors: Actor[] = []
  for (let at = 0; at < ACTORS; at++)
    actors.push(await createActor(gateway, `fuzz-${at}@exemplo.com.br`, at < ADMINS))
  await seedDifferences(gateway)
  const courses = coursesOf(document)
  const failures = await sendAll(courses, actors)
  // Operations that have not succeeded yet get extra turns, together with those that create the rows that they need.
  for (let turn = 0; turn < MORE_TURNS; turn++) {
    const undone = courses.filter(isUndone)
    if (undone.length <= WITHOUT_SUCCESS_MAX) break
    // A deletion that has succeeded would only take the rows away.
    const more = courses.filter(
      (one) =>
        (isUndone(one) || one.operation.method !== 'DELETE') &&
        undone.some((other) => areRelated(one, other)),
    )
    failures.push(
      ...(await sendAll(
        more.map((one) => ({ ...one, count: EACH_MORE })),
        actors,
      )),
    )
  }

  const complaints = gateway.node.log.filter((line) => line.includes('"level":"error"'))
  assert.deepEqual(
    [...failures.slice(0, FAILURES_SHOWN), ...complaints.slice(0, FAILURES_SHOWN)],
    [],
    `${failures.length} failures`,
  )
  assertEachIsTried(courses)
  assert.equal((await pool.request({ method: 'GET', path: '/v1/healthz' })).statusCode, 200)
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})

test('a NUL in an address finds nothing, and is no fault of the server', async () => {
  const { secret, operatorSecret } = await createActor(gateway, OTHER_ADMIN, true)
  for (const { name, method, path } of operationsOf(document).values()) {
    const place = path.replaceAll(/\{\w+\}/g, '%00')
    if (place === path) continue
    for (const credential of [secret, operatorSecret]) {
      const answer = await ask(gateway.node.baseUrl, place, {
        method,
        secret: credential,
        ...(method === 'GET' ? {} : { body: {} }),
      })
      assert.ok(answer.status >= 400 && answer.status < 500, `${name}: ${answer.status}`)
    }
  }
})

/** No request creates them. */
async function seedDifferences({ database }: TestGateway): Promise<void> {
  const finding = { kind: 'payment_without_top_up', oursNanoBrl: 0n, theirsNanoBrl: 1n } as const
  for (const name of ['pay_1', 'pay_2'])
    await recordFindings(
      database.db,
      { subject: `payment:asaas:${name}`, processor: 'none', processorPaymentId: name },
      [finding],
      createLog('silent', () => {}),
    )
}

function coursesOf(document: OpenApi): Course[] {
  const operations = [...operationsOf(document).values()].filter(({ name }) => name !== STOPPING)
  const expensive = operations.filter(({ name }) => EXPENSIVE.has(name)).length
  const share = Math.ceil((REQUESTS - expensive * EACH_MIN) / (operations.length - expensive))
  return operations.map((operation, at) => ({
    operation,
    count: EXPENSIVE.has(operation.name) ? EACH_MIN : Math.max(EACH_MIN, share),
    plans: plansOf(operation, SEED + at),
    statuses: new Map(),
  }))
}

function* plansOf(operation: Operation, seed: number): Generator<Plan, never> {
  const described = Object.keys(document.paths[operation.path] ?? {}).map((key) =>
    key.toUpperCase(),
  )
  const plans = plansFor(operation, described)
  for (let chunk = 0; ; chunk++)
    yield* fc.sample(plans, { numRuns: CHUNK, seed: seed + chunk * 1_000 })
}

/** The operations take turns, so that each can use the rows that the others created. */
function* turnsOf(courses: readonly Course[]): Generator<Course> {
  const rounds = Math.max(...courses.map(({ count }) => count))
  for (let round = 0; round < rounds; round++) {
    for (const course of courses) {
      // Operations with fewer requests are spread over the whole run.
      const { count } = course
      if (Math.floor(((round + 1) * count) / rounds) > Math.floor((round * count) / rounds))
        yield course
    }
  }
}

async function sendAll(courses: readonly Course[], actors: readonly Actor[]): Promise<string[]> {
  const failures: string[] = []
  const turns = turnsOf(courses)
  const faultOf = createAnswerCheck()
  const spare: Actor[] = []
  async function client(): Promise<void> {
    for (const course of turns) {
      // A dead server would refuse all other requests too.
      if (failures.length >= FAILURES_MAX) return
      const { operation, plans, statuses } = course
      const plan = plans.next().value
      const { nth } = plan.caller
      const turn = Math.floor(nth / actors.length)
      const isEnding = ENDING.has(operation.name)
      const isSpare = isEnding || (operation.name === EXPORT && turn % 8 > 0)
      const actor = isSpare
        ? (spare.pop() ??
          (await createDisposableActor(gateway, `fim-${createId()}@exemplo.com.br`)))
        : pick(actorsFor(operation, actors, turn), nth)
      const others = actors.filter((one) => one !== actor)
      const sent = createRequest(operation, plan, actor, others)
      const answer = await send(sent).catch(noAnswer)
      const { status, text, headers } = answer
      const isJson = /^application\/json(?:;|$)/.test(String(headers['content-type']))
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      const fault = judge(operation, sent, answer, faultOf)
      if (fault) failures.push(`${fault}\n${asCurl(sent)}`)
      const isDone = status >= 200 && status < 300
      if (isDone && operation.name === SUSPENDING)
        await send({ ...sent, path: sent.path.replace(/suspend$/, 'reinstate') })
      if (isSpare && !(isEnding && isDone)) spare.push(actor)
      // Reading every list again would find little more.
      const isNews = operation.method !== 'GET' || turn % 4 === 0
      if (isDone && isNews && plan.caller.kind === 'key')
        for (const one of isOfAdmins(operation) ? actors.slice(0, ADMINS) : [actor])
          addToPools(one, operation, sent, isJson ? text : '')
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return failures
}

function isOfAdmins({ path }: Operation): boolean {
  return path.startsWith('/admin/')
}

/** All other callers get 403, which needs few requests. */
function actorsFor(operation: Operation, actors: readonly Actor[], turn: number): readonly Actor[] {
  return isOfAdmins(operation) && turn % 8 > 0 ? actors.slice(0, ADMINS) : actors
}

function pick(actors: readonly Actor[], nth: number): Actor {
  return actors[nth % actors.length] as Actor
}

function addToPools({ pools }: Actor, operation: Operation, sent: RawRequest, text: string): void {
  const { path } = operation
  if (sent.method === 'DELETE') pools.forget(path.slice(0, path.lastIndexOf('/')), sent.place)
  else if (text.startsWith('{')) pools.addFrom(path, sent.place, JSON.parse(text))
}

/** The failure is reported with its request, like any other. */
function noAnswer(error: Error): Answer {
  return { status: 0, headers: {}, text: `no answer: ${error.message}` }
}

async function send({ method, path, headers, body }: RawRequest): Promise<Answer> {
  const answer = await pool.request({
    method,
    path: `/v1${path}`,
    headers,
    body: body ?? null,
  })
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
}

/** One of their resources is the same, as in `/me/teams/{id}/invitations` and `/me/invitations/{id}/accept`. */
function areRelated(one: Course, other: Course): boolean {
  const resources = resourcesOf(other.operation)
  return one === other || resourcesOf(one.operation).some((part) => resources.includes(part))
}

function resourcesOf({ path }: Operation): string[] {
  return path.split('/').filter((part) => !NO_RESOURCES.has(part) && !part.startsWith('{'))
}

/**
 * No request here makes what they need: published prices (`test/catalog/price-updates.test.ts`), a new account with a
 * name and a verified e-mail (`trial-credit.test.ts`), a batch that runs long enough (`batches.test.ts`).
 */
const WITHOUT_ROWS =
  /^POST \/(?:admin\/price-updates\/.*|me\/trial-credit|(?:messages\/)?batches\/\{id\}\/cancel)$/

function isUndone({ operation, statuses }: Course): boolean {
  if (WITHOUT_ROWS.test(operation.name)) return false
  return countOf(statuses, (status) => status < 400) === 0
}

function countOf(statuses: Course['statuses'], isIt: (status: number) => boolean): number {
  return [...statuses].reduce((sum, [status, count]) => sum + (isIt(status) ? count : 0), 0)
}

function assertEachIsTried(courses: readonly Course[]): void {
  const summaries = courses.map((course) => ({ course, summary: summaryOf(course) }))
  if (process.env.FUZZ_REPORTS) for (const { summary } of summaries) console.log(summary)
  for (const { course, summary } of summaries)
    assert.ok(countOf(course.statuses, () => true) >= EACH_MIN, summary)
  const undone = summaries.filter(({ course }) => isUndone(course))
  assert.ok(undone.length <= WITHOUT_SUCCESS_MAX, undone.map(({ summary }) => summary).join('\n'))
}

function summaryOf({ operation, statuses }: Course): string {
  return `${operation.name}: ${JSON.stringify(Object.fromEntries(statuses))}`
}

/** A server process with a database of its own, and what tests ask of both. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { auditMoney } from '../../src/payments/audit-money.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { startTestNode, type TestNode } from '../harness/test-node.ts'

export interface GatewayUnderTest {
  readonly database: TestDatabase
  readonly node: TestNode
  /** Of a customer with BRL 10,000. */
  readonly secret: string
  readonly customerId: string
  stop(): Promise<void>
}

export async function startGateway(env: Record<string, string> = {}): Promise<GatewayUnderTest> {
  const database = await createTestDatabase()
  try {
    const node = await startTestNode({ databaseUrl: database.databaseUrl, env })
    const { secret, customerId } = await seedCustomer(database.db, { balanceBrl: '10000' })
    return {
      database,
      node,
      secret,
      customerId,
      async stop() {
        await node.stop()
        await node.remove()
        await database.drop()
      },
    }
  } catch (error) {
    await database.drop()
    throw error
  }
}

export interface Asked {
  readonly requestId: string
  readonly askedAtMs: number
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed text, where it is JSON. */
  readonly json: any
}

export interface Ask {
  readonly secret?: string | undefined
  readonly headers?: Record<string, string>
  readonly method?: string
  readonly body?: unknown
}

/** Asks under a request id of its own. A `body` that is a text or bytes goes as it is. */
export async function ask(baseUrl: string, path: string, options: Ask = {}): Promise<Asked> {
  const requestId = randomUUID()
  const askedAtMs = Date.now()
  const { secret, headers, body, method = body === undefined ? 'GET' : 'POST' } = options
  const answer = await fetch(`${baseUrl}${path}`, {
    method,
    headers: {
      'x-svc-request-id': requestId,
      ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: asBody(body) }),
  })
  const text = await answer.text()
  const { status } = answer
  return { requestId, askedAtMs, status, headers: answer.headers, text, json: parse(text) }
}

export function askChat(
  baseUrl: string,
  secret: string | undefined,
  body: unknown,
  headers?: Record<string, string>,
): Promise<Asked> {
  return ask(baseUrl, '/chat/completions', { secret, body, ...(headers ? { headers } : {}) })
}

function asBody(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return body
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A request that is sound. */
export function sound(model = 'sandbox-chat', more: object = {}): Record<string, unknown> {
  return { model, messages: [{ role: 'user', content: 'Olá, catraca!' }], ...more }
}

const HEADER_UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The headers that the specification puts on every answer. */
export function assertHeaders(
  answer: Pick<Asked, 'headers' | 'status'> & { readonly askedAtMs?: number },
  requestId?: string,
): void {
  const { headers, askedAtMs = Date.now() } = answer
  const id = headers.get('x-svc-request-id') ?? ''
  assert.match(id, HEADER_UUID)
  assert.equal(headers.get('x-request-id'), id)
  if (requestId !== undefined) assert.equal(id, requestId, "the client's own id comes back")
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => {
    const text = headers.get(`x-ratelimit-${name}`) ?? ''
    assert.match(text, /^\d+$/, `x-ratelimit-${name}`)
    return Number(text)
  }) as [number, number, number]
  assert.ok(limit > 0 && remaining >= 0 && remaining <= limit, `${remaining} of ${limit} remain`)
  // The minute it was counted in may be over when a slow answer arrives.
  assert.ok(reset > askedAtMs / 1000 - 2, `reset at ${reset}, asked at ${askedAtMs} ms`)
  assert.ok(reset < Date.now() / 1000 + 62, `resets at ${reset}, told at ${Date.now()} ms`)
  if (answer.status === 429) assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/)
}

/** Words of the sandbox's fictitious provider, and what servers and frameworks say of themselves. */
const TRACES =
  /zephyr|zph-|org-|gpu-node|traceback|shard-|overloaded|preempted|req_sandbox|fp_sandbox|openai|processing-ms|fastify|undici|node_modules|127\.0\.0\.1|ECONN(?:REFUSED|RESET|ABORTED)|nginx|<html|\bat .*\.ts:\d/i

export function assertNoTrace(answer: Pick<Asked, 'headers' | 'text'>): void {
  const found = TRACES.exec(answer.text)?.[0]
  assert.equal(found, undefined, `"${found}" shows in ${answer.text.slice(0, 300)}`)
  for (const [name, value] of answer.headers) {
    assert.doesNotMatch(`${name}: ${value}`, TRACES)
    assert.ok(!['server', 'x-powered-by', 'via'].includes(name), `header ${name} names a program`)
  }
}

const PORTUGUESE =
  /\b(o|a|os|um|de|do|da|das|deve|em|para|por|ou|uma|desta|deste|na|no|que|obrigatório)\b/i
const ENGLISH =
  /\b(the|must|should|invalid|error|missing|is|of|your|not|with|request|unexpected)\b/i

/** A refusal as a customer may see it, with all that the specification says of one. */
export function assertRefusal(answer: Asked, status: number, type: string, code = type): void {
  assert.equal(answer.status, status, answer.text.slice(0, 300))
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json\b/)
  assert.deepEqual(Object.keys(answer.json), ['error'])
  const { error } = answer.json
  assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'type'])
  assert.equal(error.type, type)
  assert.equal(error.code, code)
  assert.match(error.message, PORTUGUESE)
  // Names of models, fields, headers and paths are not words of the message.
  const words = String(error.message).replaceAll(/"[^"]*"|\S*[-_/:]\S*/g, '')
  assert.doesNotMatch(words, ENGLISH)
  assertNoTrace(answer)
  assertHeaders(answer, answer.requestId)
}

/** The data of each event of a stream's text. */
export function eventsOf(text: string): string[] {
  return text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => {
      assert.ok(event.startsWith('data: '), `an event is "${event.slice(0, 80)}"`)
      return event.slice('data: '.length)
    })
}

/** The amount as the answer's own text has it: a parsed number could have lost digits. */
export function billedIn(text: string): string | undefined {
  return /"cost_billed_brl":([0-9.eE+-]+)/.exec(text)?.[1]
}

export async function untilNoHoldIsOpen(database: TestDatabase, withinMs = 15_000): Promise<void> {
  for (const deadline = Date.now() + withinMs; ; await sleep(50)) {
    const open = await database.db.selectFrom('holds').select(['id', 'model_id']).execute()
    if (open.length === 0) return
    assert.ok(Date.now() < deadline, `open holds: ${JSON.stringify(open.slice(0, 5))}`)
  }
}

export async function assertAudit(database: TestDatabase): Promise<void> {
  const report = await auditMoney(database.db)
  assert.deepEqual(
    report.checks.filter((check) => !check.ok),
    [],
  )
}

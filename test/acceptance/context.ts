import { randomUUID } from 'node:crypto'
import { Checks, type Shape } from './checks.ts'
import { createClient, type Answer, type Ask, type Asking } from './client.ts'
import { signInOperator } from './sign-in.ts'
import type { Server } from './start-server.ts'

export interface Context {
  readonly checks: Checks
  readonly server: Server
  /**
   * As the customer of the printed key, with a key that manages the account. This customer is an administrator here, and
   * operates the service in a login session.
   */
  readonly ask: Ask
  /** As a customer whom the operator created, with a balance of BRL 30. */
  readonly other: Ask
  readonly otherKey: string
  /** As the operator does, on the command line and by an adjustment. */
  createCustomer(
    name: string,
    brl: number,
    ...limits: string[]
  ): Promise<{ id: string; key: string }>
  /** Another key of the customer, made on the command line. */
  createKey(customerId: string, ...limits: string[]): Promise<string>
  credit(customerId: string, brl: number): Promise<void>
  /** Without a key. */
  readonly stranger: Ask
  /** From another address, so that the limit of requests per address does not mix. */
  from(ip: string, defaults?: Asking): Ask
  /** Its answers are not checked: for requests whose number depends on the time. */
  quiet(key?: string, ip?: string): Ask
}

export async function openContext(server: Server): Promise<Context> {
  const checks = new Checks()
  const from = (ip: string, defaults: Asking = {}): Ask => {
    const ask = createClient(server.base, defaults, ip)
    return async (path, asking) => {
      const answer = await ask(path, asking)
      checkEveryAnswer(checks, `${asking?.method ?? ''} ${path}`, answer)
      return answer
    }
  }
  const operator = await signInOperator(server.base, 'demo@example.com')
  const byKey = from('198.51.100.1', { key: operator.key })
  const bySession = from('198.51.100.1', { headers: operator.session })
  const ask: Ask = (path, asking) =>
    path.startsWith('/admin/') && asking?.key === undefined
      ? bySession(path, asking)
      : byKey(path, asking)
  const credit = async (id: string, amount_brl: number): Promise<void> => {
    const body = {
      customer_id: id,
      kind: 'credit',
      amount_brl,
      reason: 'Crédito inicial',
      reference: randomUUID(),
    }
    checks.equal('a credit: status', (await ask('/admin/adjustments', { body })).status, 201)
  }
  const createKey = async (id: string, ...limits: string[]): Promise<string> => {
    const made = await server.command('key', 'create', id, '--name', 'Servidor', ...limits)
    return String(made.secret ?? made.key)
  }
  const createCustomer = async (name: string, brl: number, ...limits: string[]) => {
    const email = `${name.toLowerCase()}@example.com`
    const { id } = await server.command('customer', 'create', '--name', name, '--email', email)
    await credit(id, brl)
    return { id: String(id), key: await createKey(String(id), ...limits) }
  }
  const { key: otherKey } = await createCustomer('Padaria', 30)
  return {
    checks,
    server,
    ask,
    other: from('198.51.100.2', { key: otherKey }),
    otherKey,
    createCustomer,
    createKey,
    credit,
    stranger: from('198.51.100.3'),
    from,
    quiet: (key, ip = '198.51.100.4') =>
      createClient(server.base, key === undefined ? {} : { key }, ip),
  }
}

/** Names of upstreams, and of what the service is made of. */
const INNER = /openai|anthropic|deepseek|groq|mistral|fastify|postgres|node_modules|\bat \/|asaas/i
/** Words of messages; names of fields, models and headers are none. */
const ENGLISH =
  /(?<!\p{L})(the|must|should|invalid|error|missing|is|your|not|with|request|unexpected|too|least)(?!\p{L})/iu
const wordsOf = (text: string): string => text.replaceAll(/"[^"]*"|\S*[-_/:]\S*/g, '')
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The headers of every response, and the two formats of errors. */
function checkEveryAnswer(checks: Checks, title: string, answer: Answer): void {
  const header = (name: string): string => answer.headers.get(name) ?? ''
  const number = (name: string): number => Number(header(name) || NaN)
  const is = (what: string, holds: boolean, detail: unknown): void =>
    checks.is(`${title}: ${what}`, holds, detail, `every answer: ${what}`)
  const id = header('x-svc-request-id')
  is('x-svc-request-id', UUID.test(id), id)
  is('x-request-id', header('x-request-id') === id, [header('x-request-id'), id])
  const limit = number('x-ratelimit-limit')
  is('x-ratelimit-limit', Number.isInteger(limit) && limit > 0, limit)
  const remaining = number('x-ratelimit-remaining')
  is('x-ratelimit-remaining', remaining >= 0 && remaining <= limit, remaining)
  const wait = number('x-ratelimit-reset') - Date.now() / 1_000
  is('x-ratelimit-reset', wait > -5 && wait <= 61, wait)
  const retryAfter = header('retry-after')
  is('retry-after on 429 only', (retryAfter !== '') === (answer.status === 429), retryAfter)
  if (answer.status < 400) return
  is('the error names nothing inner', !INNER.test(answer.text), answer.text)
  if (answer.text === '') return
  const { error, details } = answer.json ?? {}
  const said = typeof error === 'object' ? error?.message : details
  if (typeof said === 'string') is('the error is not English', !ENGLISH.test(wordsOf(said)), said)
  const [value, shape]: [unknown, Shape] =
    typeof error === 'object'
      ? [error, { message: 'text', type: 'text', code: 'text' }]
      : [
          { error, details },
          { error: 'text', details: 'text or absent' },
        ]
  checks.shape(`${title}: the error`, value, shape, 'every answer: the error')
}

/** An answer with this status, and in one of the two formats this code. */
export function checkRefused(
  { checks }: Context,
  title: string,
  answer: Answer,
  status: number,
  code: string,
): void {
  const { error } = answer.json ?? {}
  checks.equal(`${title}: status`, answer.status, status)
  checks.equal(`${title}: code`, typeof error === 'object' ? error?.code : error, code)
}

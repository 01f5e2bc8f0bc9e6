/** The limits of a minute, per address and per key, and keys of an empty balance. */
import { checkRefused, type Context } from './context.ts'

const body = { model: 'sandbox-chat', messages: [{ role: 'user', content: 'x' }] }

interface Window {
  readonly remaining: number
  readonly reset: number
}

export async function checkLimits(context: Context): Promise<void> {
  const { checks, server, ask } = context
  const first = await ask('/chat/completions', { body })
  checks.equal('the default limit of a key', first.headers.get('x-ratelimit-limit'), '120')
  const second = await ask('/chat/completions', { body })
  const [one, two] = [first, second].map(({ headers }) => ({
    remaining: Number(headers.get('x-ratelimit-remaining')),
    reset: Number(headers.get('x-ratelimit-reset')),
  })) as [Window, Window]
  checks.equal('x-ratelimit-reset is the end of a minute', two.reset % 60, 0)
  if (one.reset === two.reset)
    checks.equal('x-ratelimit-remaining falls by one', two.remaining, one.remaining - 1)
  const address = '198.51.100.20'
  const stranger = context.from(address)
  const quiet = context.quiet(undefined, address)
  const refused = await stranger('/chat/completions', { body })
  checks.equal('the default limit of an address', refused.headers.get('x-ratelimit-limit'), '100')

  // As many as two minutes allow, because one may end meanwhile.
  let count = 0
  let last = refused
  for (; count < 220 && last.status !== 429; count++)
    last = await quiet('/chat/completions', { body: {} })
  checks.is('an address: more than 98 requests', count >= 99, count)
  checkRefused(context, 'too many requests of an address', last, 429, 'rate_limit_exceeded')
  checkRetryAfter(context, 'an address', last)
  const elsewhere = await context.from('198.51.100.21')('/chat/completions', { body: {} })
  checks.equal('another address passes', elsewhere.status, 401)

  const made = { name: 'Lenta', model_ids: ['sandbox-chat'], requests_per_minute: 3 }
  const { key } = (await ask('/api-keys', { body: made })).json
  const slow = context.from('198.51.100.22', { key })
  const begun = await slow('/chat/completions', { body })
  checks.equal('a key: x-ratelimit-limit', begun.headers.get('x-ratelimit-limit'), '3')
  const quietly = context.quiet(key, '198.51.100.22')
  let answer = begun
  for (let tries = 0; tries < 8 && answer.status !== 429; tries++)
    answer = await quietly('/chat/completions', { body })
  checkRefused(context, 'too many requests of a key', answer, 429, 'api_key_rate_limited')
  checkRetryAfter(context, 'a key', answer)
  const free = await context.from('198.51.100.23', { key: server.key })('/healthz')
  checks.equal('reads are not limited', free.status, 200)
  await checkEmptyBalance(context)
}

function checkRetryAfter({ checks }: Context, title: string, answer: { headers: Headers }): void {
  const wait = Number(answer.headers.get('retry-after') ?? NaN)
  checks.is(`${title}: retry-after`, Number.isInteger(wait) && wait >= 1 && wait <= 60, wait)
  checks.equal(`${title}: x-ratelimit-remaining`, answer.headers.get('x-ratelimit-remaining'), '0')
}

/** The operator takes all that is left: every key is suspended until the next credit. */
async function checkEmptyBalance(context: Context): Promise<void> {
  const { checks, ask } = context
  const { id, key } = await context.createCustomer('Vazio', 2)
  const own = context.from('198.51.100.24', { key })
  const status = async (): Promise<unknown> => (await own('/api-keys')).json.api_keys[0].status
  checks.equal('a key of a customer with a balance', await status(), 'active')
  const taken = { customer_id: id, kind: 'debit', amount_brl: 2, reason: 'Acerto', reference: 'r1' }
  await context.createKey(id)
  checks.equal('a debit: status', (await ask('/admin/adjustments', { body: taken })).status, 201)
  const { api_keys: all } = (await own('/api-keys')).json
  checks.equal(
    'without a balance: every key',
    all.map((each: { status: string }) => each.status),
    ['suspended', 'suspended'],
  )
  checks.equal('a key of a customer without a balance', await status(), 'suspended')
  const refused = await own('/chat/completions', { body })
  checkRefused(context, 'without a balance', refused, 402, 'insufficient_balance')
  await context.credit(id, 2)
  checks.equal('a key after a credit', await status(), 'active')
  checks.equal('after a credit: status', (await own('/chat/completions', { body })).status, 200)
}

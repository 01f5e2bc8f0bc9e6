/** Prompts, keys, top-ups, refunds, cards, webhooks: each bound, state and code. */
import { checkRefused, type Context } from './context.ts'
import { scaled } from './arithmetic.ts'
import { checkCompletion } from './call-checks.ts'
import { until } from './until.ts'

const UUID = '00000000-0000-4000-8000-000000000000'

export async function checkRecords(context: Context): Promise<void> {
  await checkPrompts(context)
  await checkKeys(context)
  await checkMoneyIn(context)
  await checkLists(context)
}

const PROMPTS_REFUSED: Readonly<Record<string, object>> = {
  'no name': { body: 'x' },
  'name of 2': { name: 'ab', body: 'x' },
  'name of 121': { name: 'n'.repeat(121), body: 'x' },
  'no body': { name: 'abc' },
  'body empty': { name: 'abc', body: '' },
  'body of 32001': { name: 'abc', body: 'b'.repeat(32_001) },
  'variable of 41': { name: 'abc', body: 'x', variables: ['v'.repeat(41)] },
  'variable with a dash': { name: 'abc', body: 'x', variables: ['a-b'] },
  'variable empty': { name: 'abc', body: 'x', variables: [''] },
  'tag of 25': { name: 'abc', body: 'x', tags: ['t'.repeat(25)] },
  'tags a text': { name: 'abc', body: 'x', tags: 'x' },
  'description a number': { name: 'abc', body: 'x', description: 1 },
}

async function checkPrompts(context: Context): Promise<void> {
  const { checks, ask, server } = context
  const create = (body: object) => ask('/me/prompts', { body })
  for (const [title, body] of Object.entries(PROMPTS_REFUSED))
    checkRefused(context, `a prompt with ${title}`, await create(body), 400, 'invalid_request')
  checks.equal(
    'GET /me/prompts: a list',
    Array.isArray((await ask('/me/prompts')).json.prompts),
    true,
  )
  const longest = {
    name: 'n'.repeat(120),
    body: 'b'.repeat(32_000),
    variables: ['v'.repeat(40)],
    tags: ['t'.repeat(24)],
  }
  checks.equal('a prompt of the longest texts', (await create(longest)).status, 201)
  checks.equal(
    'a prompt of the shortest texts',
    (await create({ name: 'abc', body: 'x' })).status,
    201,
  )
  const made = await create({
    name: 'Saudação',
    body: 'Diga {{x}}.',
    description: 'd',
    tags: ['a'],
  })
  checks.equal('POST /me/prompts: status', made.status, 201)
  checks.shape('POST /me/prompts', made.json, {
    id: 'uuid',
    slug: 'text',
    name: 'text',
    body: 'text',
    description: 'string or null',
    variables: 'strings',
    tags: 'strings',
    default_model: 'string or null',
  })
  checks.equal('POST /me/prompts: version', made.json.version, 1)
  const path = `/me/prompts/${made.json.id}`
  checks.equal('GET /me/prompts/{id}', (await ask(path)).json, made.json)
  const change = (body: object) => ask(path, { method: 'PATCH', body })
  for (const [title, body] of Object.entries(PROMPTS_REFUSED))
    if (!title.startsWith('no '))
      checkRefused(context, `PATCH with ${title}`, await change(body), 400, 'invalid_request')
  const listed = (await ask('/me/prompts')).json.prompts
  checks.is(
    'GET /me/prompts: has it',
    listed.some(({ id }: { id: string }) => id === made.json.id),
  )
  checks.equal('PATCH of a name: version', (await change({ name: 'Outra' })).json.version, 1)
  const changed = await change({ body: 'Diga {{x}} já.', change_note: 'c'.repeat(200) })
  checks.equal(
    'PATCH of a body: status and version',
    [changed.status, changed.json.version],
    [200, 2],
  )
  checkRefused(
    context,
    'change_note of 201',
    await change({ body: 'y', change_note: 'c'.repeat(201) }),
    400,
    'invalid_request',
  )
  const { versions } = (await ask(`${path}/versions`)).json
  checks.equal(
    'GET /versions: numbers',
    versions.map(({ version }: { version: number }) => version),
    [2, 1],
  )
  checks.equal('GET /versions: the old text', versions[1].body, 'Diga {{x}}.')
  const clone = await ask(`${path}/clone`, { method: 'POST', body: {} })
  checks.equal('clone: status and version', [clone.status, clone.json.version], [201, 1])
  checks.equal('clone: slug', clone.json.slug, `${changed.json.slug}-copia`)
  const again = await ask(`${path}/clone`, { method: 'POST', body: {} })
  checks.is(
    'clone again: another slug',
    again.json.slug !== clone.json.slug && again.json.slug.includes('-copia'),
    again.json.slug,
  )
  const run = (body: object) => ask(`${path}/run`, { body })
  const before = (await ask('/usage')).exact.balance.balance_brl
  const ran = await run({ api_key: server.key, values: { x: 'olá' }, model: 'sandbox-chat' })
  checks.equal('run: status', ran.status, 200)
  checks.is('run: the value stands in the text', ran.text.includes('Diga olá já.'), ran.text)
  checkCompletion(context, 'run: the answer', ran.json)
  const after = (await ask('/usage')).exact.balance.balance_brl
  const paid = scaled(before, 9) - scaled(after, 9)
  checks.is('run: charged to the balance', paid === scaled(ran.exact.cost_billed_brl, 9), ran.text)
  for (const body of [
    {},
    { api_key: 'x' },
    { api_key: server.key, values: { x: 1 } },
    { api_key: server.key, max_tokens: 0 },
    { api_key: server.key, temperature: 3 },
  ])
    checkRefused(
      context,
      `run with ${JSON.stringify(Object.keys(body))}`,
      await run(body),
      400,
      'invalid_request',
    )
  const { json, exact } = await ask(`${path}/runs`)
  const { runs } = json
  const { runs: exactRuns } = exact
  const session = new RegExp(`^prompt-${made.json.id}-\\d+$`)
  checks.equal('GET /runs: one', runs.length, 1)
  checks.is('GET /runs: cost', scaled(exactRuns[0].total_billed_brl, 9) === paid, exactRuns[0])
  checks.is('GET /runs: the session', session.test(runs[0].session_id), runs[0].session_id)
  for (const limit of [0, 101, 'x'])
    checkRefused(
      context,
      `GET /runs?limit=${limit}`,
      await ask(`${path}/runs?limit=${limit}`),
      400,
      'invalid_request',
    )
  for (const limit of [1, 100])
    checks.equal(`GET /runs?limit=${limit}`, (await ask(`${path}/runs?limit=${limit}`)).status, 200)
  checks.equal('DELETE: status', (await ask(path, { method: 'DELETE' })).status, 200)
  for (const gone of [path, `${path}/versions`, `/me/prompts/${UUID}`, '/me/prompts/x'])
    checkRefused(context, `GET ${gone} that is not there`, await ask(gone), 404, 'prompt_not_found')
  checkRefused(
    context,
    'the prompt of another',
    await context.other(`/me/prompts/${clone.json.id}`),
    404,
    'prompt_not_found',
  )
}

async function checkKeys(context: Context): Promise<void> {
  const { checks, ask } = context
  const create = (body: object) => ask('/api-keys', { body })
  const models = { model_ids: ['sandbox-chat'] }
  for (const name of ['ab', 'n'.repeat(51), '', 1])
    checkRefused(
      context,
      `a key named ${String(name).length}`,
      await create({ name, ...models }),
      400,
      'name must be 3-50 chars',
    )
  for (const model_ids of [undefined, null, [], ['nao-existe']])
    checkRefused(
      context,
      `a key for the models ${JSON.stringify(model_ids)}`,
      await create({ name: 'abc', model_ids }),
      400,
      'no_valid_models',
    )
  const names = ['abc', 'n'.repeat(50), 'Restrita', 'De longe']
  const made = []
  for (const name of names)
    made.push(
      await create({
        name,
        ...models,
        ...(name === 'De longe' && { ip_allowlist: ['203.0.113.9'] }),
      }),
    )
  for (const { status, json } of made) {
    checks.equal('POST /api-keys: status', status, 201)
    checks.is('POST /api-keys: the secret', json.key.startsWith('sk-svc-'), json.key)
  }
  const body = { model: 'gpt-4o', messages: [{ role: 'user', content: 'x' }] }
  const [first, second, restricted, far] = made.map(({ json }) => json)
  const denied = await ask('/chat/completions', { key: restricted.key, body })
  checkRefused(context, 'a model that the key may not use', denied, 403, 'key_model_access_denied')
  const blocked = await ask('/chat/completions', {
    key: far.key,
    body: { ...body, model: 'sandbox-chat' },
  })
  checkRefused(context, 'an address outside the allowlist', blocked, 403, 'ip_blocked_by_allowlist')
  const revoke = (body: object) => ask('/api-keys/bulk-revoke', { body })
  const counts = (json: object) => json
  const one = await revoke({ ids: [first.id] })
  checks.equal('bulk-revoke of one', counts(one.json), {
    revoked: 1,
    alreadyInactive: 0,
    gatewayFailures: 0,
  })
  const two = await revoke({ ids: [UUID, first.id, second.id] })
  checks.equal('bulk-revoke of one and one', counts(two.json), {
    revoked: 1,
    alreadyInactive: 1,
    gatewayFailures: 0,
  })
  for (const wrong of [
    {},
    { all: false },
    { all: true, ids: [] },
    { ids: Array(101).fill(UUID) },
    { ids: ['x'] },
  ])
    checkRefused(
      context,
      `bulk-revoke of ${JSON.stringify(wrong).slice(0, 30)}`,
      await revoke(wrong),
      400,
      'invalid_request',
    )
  const dead = await ask('/chat/completions', { key: first.key, body })
  checkRefused(context, 'a revoked key', dead, 401, 'authentication_failed')
  checkRefused(
    context,
    'DELETE of an unknown key',
    await ask(`/api-keys/${UUID}`, { method: 'DELETE' }),
    404,
    'key_not_found',
  )
  const foreign = await context.other(`/api-keys/${far.id}`, { method: 'DELETE' })
  checkRefused(context, 'DELETE of the key of another', foreign, 404, 'key_not_found')
  checks.equal(
    'DELETE of a key',
    (await ask(`/api-keys/${restricted.id}`, { method: 'DELETE' })).status,
    200,
  )
  await checkRevokeAll(context)
  await checkExpiry(context)
  const { keys } = (await ask('/me/dashboard-stats')).json
  checks.equal('GET /me/dashboard-stats: keys', keys, { active: 3, revoked: 3 })
}

/** `{all: true}` by a customer's only key with another beside it. */
async function checkRevokeAll(context: Context): Promise<void> {
  const { checks } = context
  const { id, key } = await context.createCustomer('Tudo', 1)
  const own = context.from('198.51.100.40', { key })
  const second = await context.createKey(id)
  const { status, json } = await own('/api-keys/bulk-revoke', { body: { all: true } })
  checks.equal('bulk-revoke of all: status', status, 200)
  checks.equal('bulk-revoke of all: counts', json, {
    revoked: 2,
    alreadyInactive: 0,
    gatewayFailures: 0,
  })
  for (const secret of [key, second]) {
    const call = { model: 'sandbox-chat', messages: [{ role: 'user', content: 'x' }] }
    const dead = await own('/chat/completions', { key: secret, body: call })
    checkRefused(context, 'a key after bulk-revoke of all', dead, 401, 'authentication_failed')
    const { status: rest, text } = await own('/usage', { key: secret })
    checks.equal('REST with a revoked key: 401 without a body', [rest, text], [401, ''])
  }
}

async function checkExpiry(context: Context): Promise<void> {
  const { checks } = context
  const { ask } = context
  const expires_at = new Date(Date.now() + 3_000).toISOString()
  const body = { name: 'Breve', model_ids: ['sandbox-chat'], expires_at }
  const made = (await ask('/api-keys', { body })).json
  const own = context.from('198.51.100.41')
  const call = { model: 'sandbox-chat', messages: [{ role: 'user', content: 'x' }] }
  const before = await own('/chat/completions', { key: made.key, body: call })
  checks.equal('a key before its expiry: status', before.status, 200)
  await new Promise((resolve) => setTimeout(resolve, Date.parse(expires_at) - Date.now() + 1_000))
  const late = await own('/chat/completions', { key: made.key, body: call })
  checkRefused(context, 'a key after its expiry', late, 401, 'authentication_failed')
}

async function checkMoneyIn(context: Context): Promise<void> {
  const { checks, other } = context
  const text = 'amount must be number between 20 and 5000'
  for (const amount of [19.99, 0, -50, 5_000.01, '50', null, undefined])
    checkRefused(
      context,
      `a top-up of ${String(amount)}`,
      await other('/topups', { body: { amount } }),
      400,
      text,
    )
  for (const [amount, method] of [
    [20, 'pix'],
    [5_000, 'boleto'],
  ] as const)
    checks.equal(
      `a top-up of ${amount}`,
      (await other('/topups', { body: { amount, method } })).status,
      201,
    )
  const { status, json } = await other('/topups', { body: { amount: 45 } })
  checks.equal('POST /topups: status', status, 201)
  const pix = { payload: 'text', qr_code_base64: 'text', expires_at: 'date-time' }
  checks.shape('POST /topups: pix', json.pix, pix)
  const days = (Date.parse(json.pix.expires_at) - Date.now()) / 86_400_000
  checks.is('POST /topups: a Pix is offered for a day', days > 0 && days < 3, json.pix.expires_at)
  const before = (await other('/usage')).exact.balance
  await payOnPage(json.page_url)
  const quiet = context.quiet(context.otherKey)
  const paid = await until(async () => (await quiet(`/topups/${json.id}`)).json.status === 'paid')
  checks.is('a Pix that is paid is credited', paid)
  const after = (await other('/usage')).json.balance
  checks.equal('the balance has the top-up', after.balance_brl, Number(before.balance_brl) + 45)
  checks.equal(
    'total_topped_up_brl has it',
    after.total_topped_up_brl,
    Number(before.total_topped_up_brl) + 45,
  )
  const { topups } = (await other('/me/dashboard-stats')).json
  checks.equal('GET /me/dashboard-stats: topups', topups, { paid: 1, total: 3 })
  const mails = await until(async () => (await quiet('/me/notifications')).json.total >= 3)
  checks.is('the mails are notifications', mails)
  for (const one of (await other('/me/notifications')).json.notifications)
    checks.shape('a notification', one, {
      id: 'string',
      template: 'text',
      sent_at: 'date-time',
      status: "'sent' or 'failed'",
      error: 'string or null',
    })

  for (const amount of [0, -5, '5', 1.001])
    checks.equal(
      `a refund of ${String(amount)}: status`,
      (await other('/me/refunds', { body: { amount } })).status,
      400,
    )
  // Within seven days of the top-up the law (CDC, art. 49) knows no minimum; BRL 5 is that of all later refunds.
  checks.equal(
    'a refund of 5: status',
    (await other('/me/refunds', { body: { amount: 5 } })).status,
    201,
  )
  const refunds = (await other('/me/refunds')).json
  checks.equal('GET /me/refunds: one', refunds.refunds.length, 1)
  checks.equal('GET /me/refunds: the minimum', refunds.minimum_brl, 5)

  const card = await other('/payment-methods', { body: {} })
  checkRefused(context, 'a card without fields', card, 400, 'missing_card_or_holder_info')
  const gone = await other(`/payment-methods/${UUID}`, { method: 'DELETE' })
  checkRefused(context, 'DELETE of an unknown card', gone, 404, 'payment_method_not_found')
  const refused = await other('/payment-methods', { body: { card: CARD, holder: HOLDER } })
  checkRefused(context, 'a card that its issuer refuses', refused, 400, 'card_rejected')
}

/** Refused by the sandbox, as the processor's documentation says of this number. */
const CARD = {
  holder_name: 'ZE',
  number: '5184019740373151',
  expiry_month: '12',
  expiry_year: '2035',
  ccv: '123',
}
const HOLDER = {
  name: 'José',
  email: 'ze@example.com',
  cpf_cnpj: '52998224725',
  postal_code: '01310100',
  address_number: '1',
  phone: '11987654321',
}

async function checkLists({ checks, ask }: Context): Promise<void> {
  const team = await ask('/me/teams', { body: { name: 'Vendas' } })
  checks.equal('POST /me/teams: status', team.status, 201)
  checks.equal('GET /me/teams: one', (await ask('/me/teams')).json.teams.length, 1)
  const alert = { name: 'Pouco', kind: 'balance_below', threshold: 1, channels: ['email'] }
  checks.equal('POST /me/alerts: status', (await ask('/me/alerts', { body: alert })).status, 201)
  checks.equal('GET /me/alerts: one', (await ask('/me/alerts')).json.alerts.length, 1)
  for (const [path, body] of [
    ['/me/teams', {}],
    ['/me/alerts', {}],
    ['/me/alerts', { ...alert, threshold: 0 }],
  ] as const)
    checks.equal(
      `POST ${path} ${JSON.stringify(body)}: status`,
      (await ask(path, { body })).status,
      400,
    )
}

/** As the payer presses the button. */
async function payOnPage(address: string): Promise<void> {
  const page = await (await fetch(address)).text()
  const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1] ?? ''
  await fetch(new URL(action, address), {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ acao: 'pagar' }),
  })
}

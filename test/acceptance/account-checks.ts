/** Reads of usage and of the account: their fields, and the bounds of each query parameter. */
import type { Context } from './context.ts'
import { checkRefused } from './context.ts'
import type { Shape } from './checks.ts'

/** Path, parameter, default, least, most, and where the answer repeats it. */
const BOUNDS: readonly (readonly [string, string, number, number, number, string?])[] = [
  ['/usage/by-key', 'days', 30, 1, 365, 'days'],
  ['/usage/rate-limit', 'minutes', 60, 5, 720, 'minutes'],
  ['/me/usage-summary', 'days', 30, 1, 365, 'period_days'],
  ['/me/runway', 'days', 30, 1, 90, 'period_days'],
  ['/me/notifications', 'limit', 50, 1, 200],
  ['/me/recommendations', 'days', 30, 7, 90, 'days'],
  ['/me/sessions', 'days', 30, 1, 90, 'days'],
  ['/me/sessions', 'limit', 100, 1, 500],
  ['/upstream-health', 'days', 30, 1, 90, 'days'],
]

const BALANCE = { balance_brl: 'number', total_topped_up_brl: 'number', total_spent_brl: 'number' }
const READS: readonly (readonly [string, string, Shape])[] = [
  ['/usage', '', { balance: 'object', usage_events: 'array' }],
  ['/usage', 'balance', BALANCE],
  [
    '/usage',
    'usage_events.0',
    {
      id: 'uuid',
      model_id: 'string',
      api_key_id: 'uuid or null',
      prompt_tokens: 'integer or null',
      completion_tokens: 'integer or null',
      cost_billed_brl: 'number',
      cost_upstream_usd: 'number',
      created_at: 'date-time',
    },
  ],
  ['/usage/export.json', '', { period: 'object', total_events: 'integer', events: 'array' }],
  [
    '/me/usage-summary',
    '',
    {
      ...BALANCE,
      period_days: 'integer',
      period_totals: 'object',
      top_models: 'array',
      unique_models_used: 'integer',
    },
  ],
  [
    '/me/usage-summary',
    'period_totals',
    {
      requests: 'integer',
      cost_billed_brl: 'number',
      cost_upstream_usd: 'number',
      prompt_tokens: 'integer',
      completion_tokens: 'integer',
    },
  ],
  [
    '/me/usage-summary',
    'top_models.0',
    { model_id: 'string', model_name: 'string', requests: 'integer', cost_billed_brl: 'number' },
  ],
  [
    '/me/dashboard-stats',
    '',
    {
      profile: 'object or null',
      balance_brl: 'number',
      keys: 'object',
      topups: 'object',
      notifications: 'object',
    },
  ],
  ['/me/dashboard-stats', 'keys', { active: 'integer', revoked: 'integer' }],
  ['/me/dashboard-stats', 'topups', { paid: 'integer', total: 'integer' }],
  ['/me/dashboard-stats', 'notifications', { failed: 'integer', total: 'integer' }],
  [
    '/me/runway',
    '',
    {
      balance_brl: 'number',
      period_days: 'integer',
      daily_avg_brl: 'number',
      runway_days: 'integer or null',
      critical: 'boolean',
    },
  ],
  [
    '/usage/by-key',
    'keys.0',
    { name: 'string', requests: 'integer', cost_billed_brl: 'number', top_models: 'array' },
  ],
  [
    '/usage/rate-limit',
    'keys.0.requests_per_minute',
    { limit: 'integer', current: 'integer', headroom_percent: 'number' },
  ],
  ['/usage/rate-limit', 'keys.0.tokens_per_minute', { current: 'integer' }],
  [
    '/me/sessions',
    'sessions.0',
    {
      session_id: 'text',
      request_count: 'integer',
      total_billed_brl: 'number',
      total_prompt_tokens: 'integer',
      total_completion_tokens: 'integer',
      total_tokens: 'integer',
      models: 'strings',
      first_request_at: 'date-time',
      last_request_at: 'date-time',
      duration_ms: 'integer',
    },
  ],
  ['/me/notifications', '', { total: 'integer', notifications: 'array' }],
  [
    '/me/export',
    '',
    {
      export_version: 'integer',
      generated_at: 'date-time',
      profile: 'object',
      balance: 'object',
      notifications: 'array',
      note: 'text',
    },
  ],
  ['/me/sessions', '', { days: 'integer', count: 'integer', sessions: 'array' }],
  [
    '/me/referrals',
    '',
    { referral_code: 'text or null', referred_users: 'array', statistics: 'object' },
  ],
]

export async function checkAccount(context: Context): Promise<void> {
  const { checks, ask } = context
  for (const [path, field, shape] of READS) {
    const { status, json } = await ask(path)
    checks.equal(`GET ${path}: status`, status, 200)
    const inner = field.split('.').filter(Boolean)
    checks.shape(
      `GET ${path} ${field}`,
      inner.reduce((value, name) => value?.[name], json),
      shape,
    )
  }
  for (const [path, name, usual, least, most, shown] of BOUNDS) {
    const get = (value: unknown) => ask(`${path}?${name}=${String(value)}`)
    for (const value of [least, most]) {
      const { status, json } = await get(value)
      checks.equal(`GET ${path}?${name}=${value}: status`, status, 200)
      if (shown) checks.equal(`GET ${path}?${name}=${value}: ${shown}`, json[shown], value)
    }
    if (shown) checks.equal(`GET ${path}: ${shown}`, (await ask(path)).json[shown], usual)
    for (const value of [least - 1, most + 1, -1, 'x', '', `${least}.5`, '1e1'])
      checkRefused(
        context,
        `GET ${path}?${name}=${value}`,
        await get(value),
        400,
        'invalid_request',
      )
  }
  await checkSessions(context)
  await checkExports(context)
  await checkProfile(context)
}

async function checkSessions(context: Context): Promise<void> {
  const { checks, ask } = context
  const all = (await ask('/me/sessions')).json
  checks.equal('GET /me/sessions: count', all.count, all.sessions.length)
  const one = (await ask('/me/sessions?limit=1')).json
  checks.equal('GET /me/sessions?limit=1', [one.count, one.sessions.length], [1, 1])
  const [{ session_id: id }] = all.sessions
  const detail = (await ask(`/me/sessions/${id}`)).json
  checks.shape('GET /me/sessions/{id}', detail, {
    session_id: `'${id}'`,
    request_count: 'integer',
    total_billed_brl: 'number',
    events: 'array',
  })
  for (const event of detail.events)
    checks.equal('an event of a session names it', event.session_id, id)
  const unknown = await ask('/me/sessions/nao-existe')
  checkRefused(context, 'an unknown session', unknown, 404, 'session_not_found')
  const long = await ask(`/me/sessions/${'x'.repeat(81)}`)
  checks.is('an id of 81 characters', long.status === 400 || long.status === 404, long.status)
  const foreign = await context.other(`/me/sessions/${id}`)
  checkRefused(context, 'the session of another', foreign, 404, 'session_not_found')
  const { balance_brl, daily_avg_brl, runway_days, critical } = (await ask('/me/runway')).json
  const estimated = runway_days === null ? null : Math.floor(balance_brl / daily_avg_brl)
  checks.is(
    'GET /me/runway: balance by average',
    Math.abs((runway_days ?? 0) - (estimated ?? 0)) <= 1,
  )
  checks.equal('GET /me/runway: critical', critical, runway_days !== null && runway_days < 7)
}

async function checkExports(context: Context): Promise<void> {
  const { checks, ask } = context
  for (const path of ['/usage/export.csv', '/admin/audit-log/export.csv']) {
    const { status, headers, text } = await ask(path)
    checks.equal(`GET ${path}: status`, status, 200)
    checks.is(`GET ${path}: type`, /^text\/csv;.*utf-8/i.test(headers.get('content-type') ?? ''))
    checks.is(`GET ${path}: begins with a byte-order mark`, text.startsWith('\uFEFF'))
    for (const query of ['from=2026-02-30', 'to=x', 'from=2026-02-02&to=2026-02-01'])
      checks.equal(`GET ${path}?${query}: status`, (await ask(`${path}?${query}`)).status, 400)
    checks.equal(
      `GET ${path}?from: status`,
      (await ask(`${path}?from=2026-01-01&to=2026-01-31`)).status,
      200,
    )
  }
  const { json } = await ask('/usage/export.json')
  checks.equal('GET /usage/export.json: total_events', json.total_events, json.events.length)
  const foreign = await context.other('/admin/audit-log/export.csv')
  checkRefused(context, 'the audit log for a customer', foreign, 403, 'forbidden')
}

async function checkProfile(context: Context): Promise<void> {
  const { checks, other } = context
  checkRefused(
    context,
    'GET /me/profile before it exists',
    await other('/me/profile'),
    404,
    'profile_not_found',
  )
  const stats = (await other('/me/dashboard-stats')).json
  checks.equal('GET /me/dashboard-stats: profile before it exists', stats.profile, null)
  checkRefused(
    context,
    'POST /topups before a CPF',
    await other('/topups', { body: { amount: 50 } }),
    400,
    'cpf_required',
  )
  const card = { card: {}, holder: {} }
  const early = await other('/payment-methods', { body: card })
  checks.equal('POST /payment-methods before a CPF: status', early.status, 400)
  const put = (body: object, path = '/me/profile') => other(path, { method: 'PUT', body })
  checkRefused(
    context,
    'a profile without a CPF',
    await put({ full_name: 'Zé' }),
    400,
    'cpf_required',
  )
  for (const cpf_cnpj of ['123', '2497156379', '249715637921', 'abcdefghijk'])
    checkRefused(
      context,
      `CPF ${cpf_cnpj}`,
      await put({ cpf_cnpj }),
      400,
      'invalid_cpf_cnpj_format',
    )
  for (const cpf_cnpj of ['24971563793', '11111111111', '11222333000182', '00000000000000'])
    checkRefused(
      context,
      `CPF ${cpf_cnpj}`,
      await put({ cpf_cnpj }),
      400,
      'invalid_cpf_cnpj_checksum',
    )
  for (const cpf_cnpj of ['249.715.637-92', '11222333000181', '52998224725'])
    checks.equal(`CPF ${cpf_cnpj}`, (await put({ cpf_cnpj })).status, 200)
  checks.equal('GET /me/profile', (await other('/me/profile')).json.cpf_cnpj, '52998224725')

  const preferences = (body: object) => put(body, '/me/preferences')
  for (const body of [
    {},
    { timezone: 'America/Recife' },
    { preferred_locale: 'pt' },
    { preferred_locale: 'pt-BR' },
    { weekly_digest_enabled: false },
  ])
    checks.equal(
      `PUT /me/preferences ${JSON.stringify(body)}`,
      (await preferences(body)).status,
      200,
    )
  for (const body of [
    { timezone: 'Lua/Norte' },
    { preferred_locale: 'PT' },
    { preferred_locale: 'pt_BR' },
    { preferred_locale: 'pt-br' },
    { weekly_digest_enabled: 'sim' },
  ])
    checkRefused(
      context,
      `PUT /me/preferences ${JSON.stringify(body)}`,
      await preferences(body),
      400,
      'invalid_request',
    )
}

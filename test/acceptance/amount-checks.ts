/**
 * A run of calls of all kinds, each amount computed again from the prices, the exchange rate and the markup that the
 * service publishes, and everything that is shown of it afterwards.
 */
import { billedOf, costOf, scaled, type Counts, type PublishedPrice } from './arithmetic.ts'
import { checkCompletion } from './call-checks.ts'
import { parse, type Answer } from './client.ts'
import type { Context } from './context.ts'
import { until } from './until.ts'

interface Published {
  readonly price: PublishedPrice
  readonly markup: string
}

interface Charge {
  readonly requestId: string
  readonly model: string
  readonly costPicoUsd: bigint
  readonly billedNanoBrl: bigint
}

const SESSION = 'aceitacao-1'
const MODELS = ['sandbox-chat', 'gpt-4o-mini', 'gpt-4o', 'o3', 'gpt-6-sol', 'claude-haiku-4-5']
const MORE_MODELS = ['claude-opus-5-5', 'gemini-2.5-flash', 'deepseek-v4-flash', 'mistral-small']
const LAST_MODELS = ['gpt-oss-20b', 'grok-3-mini', 'sandbox-cached', 'sandbox-reasoning']

export async function checkAmounts(context: Context): Promise<void> {
  const { checks, ask } = context
  const { key } = await context.createCustomer('Contas', 300, '--requests-per-minute', '1000')
  const own = context.from('198.51.100.30', { key })
  const rate = (await ask('/fx-rates?limit=1')).exact.fx_rates[0].rate
  const published = await readPublished(context)
  const run = new Run(context, published, rate)

  const messages = [{ role: 'user', content: 'Conte até dez, por favor: ção, é, ü, 漢字.' }]
  const chats = [...MODELS, ...MORE_MODELS, ...LAST_MODELS]
  for (const [place, model] of chats.entries()) {
    const headers = place < 5 ? { 'x-svc-session-id': SESSION } : {}
    const plain = await own('/chat/completions', {
      body: { model, messages, max_tokens: 300 },
      headers,
    })
    checkCompletion(context, `a chat with ${model}`, plain.json)
    run.charge(model, plain, plain.exact, {})
    const options = { stream: true, stream_options: { include_usage: true } }
    const streamed = await own('/chat/completions', { body: { model, messages, ...options } })
    run.charge(model, streamed, readStream(context, model, streamed), {})
  }
  for (const input of [
    'um',
    ['um', 'dois três'],
    Array.from({ length: 50 }, (_, n) => `texto ${n}`),
  ]) {
    const answer = await own('/embeddings', { body: { model: 'sandbox-embedding', input } })
    checks.shape('embeddings', answer.json, { object: 'text', data: 'array' })
    for (const { embedding } of answer.json.data)
      checks.is('an embedding is 1536 numbers', isVector(embedding), embedding?.length)
    checks.equal(
      'an embedding for each text',
      answer.json.data.length,
      Array.isArray(input) ? input.length : 1,
    )
    run.charge('sandbox-embedding', answer, answer.exact, {})
  }
  for (const [model, more] of [
    ['sandbox-image', {}],
    ['sandbox-image', { n: 2, size: '512x512' }],
    ['gpt-image-1', { size: '1536x1024', quality: 'low' }],
  ] as const) {
    const answer = await own('/images/generations', { body: { model, prompt: 'um gato', ...more } })
    checks.equal('an image for each n', answer.json.data.length, 'n' in more ? more.n : 1)
    for (const each of answer.json.data) checks.shape('an image', each, { url: 'text' })
    const picture = await fetch(answer.json.data[0].url)
    checks.is(
      'the url of an image leads to it',
      picture.headers.get('content-type')?.startsWith('image/') ?? false,
    )
    run.charge(model, answer, answer.exact, {})
  }
  for (const [model, unit] of [
    ['sandbox-transcribe', 'audio_seconds'],
    ['sandbox-transcribe-tokens', 'input_audio_tokens'],
    [undefined, 'audio_seconds'],
  ] as const) {
    const form = new FormData()
    form.set('file', new Blob([wave(3)], { type: 'audio/wav' }), 'fala.wav')
    if (model) form.set('model', model)
    const answer = await own('/audio/transcriptions', { form })
    checks.shape(`a transcription by ${model ?? 'the default'}`, answer.json, { text: 'text' })
    const count = unit === 'audio_seconds' ? 3 : answer.json.usage.input_token_details.audio_tokens
    run.charge(model ?? 'whisper-1', answer, answer.exact, { [unit]: count })
  }
  checks.is('30 calls or more', run.charges.length >= 30, run.charges.length)
  await run.checkShown(own, '300')
  await checkHealth(context)
}

/** The calls are summed in the background. */
async function checkHealth(context: Context): Promise<void> {
  const { checks, ask } = context
  const quiet = context.quiet()
  const isThere = async () => {
    const { json } = await quiet('/upstream-health')
    return json.providers.length > 0
  }
  checks.is('GET /upstream-health: has a provider', await until(isThere, 90_000))
  for (const each of (await ask('/upstream-health')).json.providers) {
    checks.shape('GET /upstream-health: a provider', each, {
      uptime_percent: 'number',
      p50_ms: 'number or null',
      p95_ms: 'number or null',
    })
    const percent = each.uptime_percent
    checks.is('GET /upstream-health: a percentage', percent >= 0 && percent <= 100, percent)
  }
}

class Run {
  readonly charges: Charge[] = []
  private readonly context: Context
  private readonly published: ReadonlyMap<string, Published>
  private readonly rate: string

  constructor(context: Context, published: ReadonlyMap<string, Published>, rate: string) {
    this.context = context
    this.published = published
    this.rate = rate
  }

  /** Computes the charge of an answer from its usage, and compares it with the amount that it shows. */
  charge(model: string, { headers, status }: Answer, shown: any, units: Counts['units']): void {
    const { checks } = this.context
    checks.equal(`${model}: status`, status, 200)
    const { price, markup } = this.published.get(model) as Published
    const usage = shown?.usage ?? {}
    const completion = Number(usage.completion_tokens ?? usage.output_tokens ?? 0)
    const cost = costOf(price, {
      prompt:
        'input_audio_tokens' in units ? 0 : Number(usage.prompt_tokens ?? usage.input_tokens ?? 0),
      cached: Number(usage.prompt_tokens_details?.cached_tokens ?? 0),
      cacheWrite: 0,
      completion,
      reasoning: Number(usage.completion_tokens_details?.reasoning_tokens ?? 0),
      units,
    })
    const billed = billedOf(cost, this.rate, markup)
    this.is(`${model}: cost_billed_brl`, shown?.cost_billed_brl, 9, billed)
    const requestId = headers.get('x-svc-request-id') ?? ''
    this.charges.push({ requestId, model, costPicoUsd: cost, billedNanoBrl: billed })
  }

  private is(title: string, shown: unknown, digits: number, wanted: bigint): void {
    this.context.checks.is(
      title,
      isAmount(shown, digits, wanted),
      `${String(shown)}, and not ${wanted} of ${digits} digits`,
    )
  }

  /** Every place that shows these charges again shows the same, and their sum. */
  async checkShown(own: Context['ask'], creditedBrl: string): Promise<void> {
    const { checks } = this.context
    const billed = this.charges.reduce((sum, { billedNanoBrl }) => sum + billedNanoBrl, 0n)
    const cost = this.charges.reduce((sum, { costPicoUsd }) => sum + costPicoUsd, 0n)
    const { balance, usage_events } = (await own('/usage')).exact
    this.is('GET /usage: total_spent_brl', balance.total_spent_brl, 9, billed)
    this.is('GET /usage: balance_brl', balance.balance_brl, 9, scaled(creditedBrl, 9) - billed)
    // The operator's credit is no top-up.
    this.is('GET /usage: total_topped_up_brl', balance.total_topped_up_brl, 9, 0n)
    this.is(
      'GET /usage: total_other_credits_brl',
      balance.total_other_credits_brl,
      9,
      scaled(creditedBrl, 9),
    )
    const exported = (await own('/usage/export.json')).exact
    checks.equal(
      'GET /usage/export.json: total_events',
      Number(exported.total_events),
      this.charges.length,
    )
    for (const charge of this.charges) {
      for (const events of [usage_events, exported.events]) {
        const event = events.find(
          (each: { request_id: string }) => each.request_id === charge.requestId,
        )
        this.is(
          `the event of ${charge.model}: cost_billed_brl`,
          event?.cost_billed_brl,
          9,
          charge.billedNanoBrl,
        )
        this.is(
          `the event of ${charge.model}: cost_upstream_usd`,
          event?.cost_upstream_usd,
          12,
          charge.costPicoUsd,
        )
        checks.equal(`the event of ${charge.model}: model_id`, event?.model_id, charge.model)
      }
    }
    const csv = (await own('/usage/export.csv')).text.trimEnd().split('\r\n').slice(1)
    checks.equal('GET /usage/export.csv: rows', csv.length, this.charges.length)
    for (const row of csv) {
      const fields = row.split(';')
      const charge = this.charges.find(({ requestId }) => requestId === fields[3])
      this.is(
        'a row of the CSV: the charge',
        fields[21]?.replace(',', '.'),
        9,
        charge?.billedNanoBrl ?? -1n,
      )
    }
    const summary = (await own('/me/usage-summary')).exact
    this.is(
      'GET /me/usage-summary: cost_billed_brl',
      summary.period_totals.cost_billed_brl,
      9,
      billed,
    )
    this.is(
      'GET /me/usage-summary: cost_upstream_usd',
      summary.period_totals.cost_upstream_usd,
      12,
      cost,
    )
    checks.equal(
      'GET /me/usage-summary: requests',
      Number(summary.period_totals.requests),
      this.charges.length,
    )
    const models = new Set(this.charges.map(({ model }) => model))
    checks.equal(
      'GET /me/usage-summary: unique_models_used',
      Number(summary.unique_models_used),
      models.size,
    )
    checks.equal('GET /me/usage-summary: top_models', summary.top_models.length, 3)
    for (const { model_id, cost_billed_brl } of summary.top_models)
      this.is(
        `top model ${model_id}`,
        cost_billed_brl,
        9,
        this.sumOf(({ model }) => model === model_id),
      )
    const [key] = (await own('/usage/by-key')).exact.keys
    this.is('GET /usage/by-key: cost_billed_brl', key.cost_billed_brl, 9, billed)
    const session = this.charges.filter(
      ({ model }, place) => MODELS.slice(0, 5).includes(model) && place % 2 === 0 && place < 10,
    )
    const inSession = (charge: Charge) => session.includes(charge)
    const [listed] = (await own('/me/sessions')).exact.sessions
    checks.shape('GET /me/sessions', parse(JSON.stringify(listed), false), {
      session_id: `'${SESSION}'`,
      models: 'strings',
      first_request_at: 'date-time',
      last_request_at: 'date-time',
    })
    checks.equal('GET /me/sessions: request_count', Number(listed.request_count), session.length)
    this.is('GET /me/sessions: total_billed_brl', listed.total_billed_brl, 9, this.sumOf(inSession))
    const total = Number(listed.total_prompt_tokens) + Number(listed.total_completion_tokens)
    checks.equal('GET /me/sessions: total_tokens', Number(listed.total_tokens), total)
    const duration = Date.parse(listed.last_request_at) - Date.parse(listed.first_request_at)
    checks.equal('GET /me/sessions: duration_ms', Number(listed.duration_ms), duration)
    const one = (await own(`/me/sessions/${SESSION}`)).exact
    this.is(
      'GET /me/sessions/{id}: total_billed_brl',
      one.total_billed_brl,
      9,
      this.sumOf(inSession),
    )
    const times = one.events.map(({ created_at }: { created_at: string }) => created_at)
    checks.equal('GET /me/sessions/{id}: in chronological order', times, times.toSorted())
    checks.equal('GET /me/sessions/{id}: its events', one.events.length, session.length)
  }

  private sumOf(isWanted: (charge: Charge) => boolean): bigint {
    return this.charges.filter(isWanted).reduce((sum, { billedNanoBrl }) => sum + billedNanoBrl, 0n)
  }
}

function isAmount(shown: unknown, digits: number, wanted: bigint): boolean {
  try {
    return scaled(shown, digits) === wanted
  } catch {
    return false
  }
}

/** The prices in USD and the markups of the catalog; their prices in BRL are checked on the way. */
async function readPublished({ checks, ask }: Context): Promise<ReadonlyMap<string, Published>> {
  const [inUsd, inBrl, catalog] = await Promise.all([
    ask('/admin/models'),
    ask('/model-prices'),
    ask('/models'),
  ])
  const published = new Map<string, Published>()
  const { rate } = inBrl.exact.fx_rate
  for (const { id, markup_multiplier: markup, price } of inUsd.exact.models) {
    published.set(id, { price, markup })
    const listed = catalog.exact.models.find((each: { id: string }) => each.id === id)
    checks.equal(`the markup of ${id}`, listed?.markup_multiplier, markup)
    const shown = inBrl.exact.prices.find((each: { model_id: string }) => each.model_id === id)
    for (const [place, tier] of price.tiers.entries())
      for (const kind of ['input', 'cached_input', 'cache_write', 'output', 'reasoning']) {
        const wanted = billedOf(scaled(tier[kind], 12), rate, markup)
        checks.is(
          `${id}: ${kind} in BRL`,
          isAmount(shown?.tiers[place]?.[`${kind}_brl`], 9, wanted),
        )
      }
  }
  return published
}

/** The last chunk with its usage, of a stream in the specified form. */
function readStream({ checks }: Context, model: string, { text, headers }: Answer): any {
  const title = `a stream of ${model}`
  checks.is(`${title}: type`, headers.get('content-type')?.startsWith('text/event-stream') ?? false)
  const events = text.split('\n\n').filter(Boolean)
  checks.is(
    `${title}: events`,
    events.every((event) => event.startsWith('data: ')),
  )
  checks.equal(`${title}: ends with [DONE]`, events.at(-1), 'data: [DONE]')
  const chunks = events.slice(0, -1).map((event) => parse(event.slice(6), true) as any)
  checks.is(
    `${title}: chunks`,
    chunks.every((chunk) => chunk?.object === 'chat.completion.chunk'),
  )
  const content = chunks.map((chunk) => chunk?.choices?.[0]?.delta?.content ?? '').join('')
  checks.is(`${title}: deltas carry content`, content.length > 0)
  return chunks.at(-1)
}

function isVector(value: unknown): boolean {
  return (
    Array.isArray(value) && value.length === 1_536 && value.every((each) => Number.isFinite(each))
  )
}

/** Silence: 8 kHz, 16 bits, one channel. */
function wave(seconds: number): Buffer<ArrayBuffer> {
  const bytes = seconds * 16_000
  const file = Buffer.alloc(44 + bytes)
  file.write('RIFF', 0)
  file.writeUInt32LE(36 + bytes, 4)
  file.write('WAVEfmt ', 8)
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(1, 20)
  file.writeUInt16LE(1, 22)
  file.writeUInt32LE(8_000, 24)
  file.writeUInt32LE(16_000, 28)
  file.writeUInt16LE(2, 32)
  file.writeUInt16LE(16, 34)
  file.write('data', 36)
  file.writeUInt32LE(bytes, 40)
  return file
}

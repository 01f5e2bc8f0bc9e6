// deep: every failure of a route, plain and streamed
/**
 * Routes, retries, breakers and fallback models, as a customer and the ledger see them: one answer, one
 * charge by the price of who answered, and an account of every try.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CatalogConfig } from '../../src/money/catalog/catalog-config-schema.ts'
import { parseBrl } from '../../src/platform/lib/money.ts'
import { findFreePort } from '../harness/find-free-port.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { exactBilledBrl, type TokenPricesUsd } from './exact-charge.ts'
import { BY_OPERATOR, ask, askChat, billedIn, eventsOf, sound, type Asked } from '../harness/ask.ts'
import { assertHeaders, assertNoTrace, assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { resolutionsOf, type UsageEvent } from './resolutions-of.ts'
import {
  afterMs,
  createGate,
  cut,
  cutAfterHead,
  cutInTheMiddle,
  empty,
  eventOf,
  garbage,
  good,
  GOOD_TEXT,
  GOOD_USAGE,
  hang,
  page,
  stallAfterHead,
  startScriptedUpstream,
  status,
  errorInBody,
  whenAllAreThere,
  type Behaviour,
  type Gate,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'

type Models = NonNullable<CatalogConfig['models']>
type ModelEntry = Models[number]
type RouteEntry = NonNullable<ModelEntry['routes']>[number]

/** Tests of a kind that run at the same time: most of them wait. */
const AT_ONCE = 8
/** A busy machine needs some seconds for an answer that comes at once. */
const FIRST_BYTE_TIMEOUT_MS = 6_000
const CONVERSION = { fxRate: '5.2', markup: '1.5' }
const STREAM = { stream: true, stream_options: { include_usage: true } }
const MANNERS: readonly (readonly [name: string, more: object])[] = [
  ['plain', {}],
  ['streamed', STREAM],
]

/** An output that a slow model writes within the time limit, so that another route is tried after a time-out. */
const FEW_TOKENS = { max_tokens: 6 }

/** What a model's route does and what is special of it. */
interface PlannedRoute extends Partial<Omit<RouteEntry, 'model'>> {
  readonly does?: readonly Behaviour[]
}

interface PlannedModel {
  readonly id: string
  /** Names at the upstream, in the order of the routes. */
  readonly names: readonly string[]
  readonly upstreams: readonly string[]
  readonly prices: readonly TokenPricesUsd[]
}

const entries: ModelEntry[] = []
const scripts = new Map<string, readonly Behaviour[]>()

/** A model of the catalog whose routes each have a separate upstream name and price. */
function plan(
  id: string,
  routes: readonly PlannedRoute[],
  more: Partial<ModelEntry> = {},
): PlannedModel {
  const names = routes.map((_, place) => `${id}.${place}`)
  const prices = routes.map((_, place) => priceAt(entries.length, place))
  entries.push({
    id,
    category: 'llm',
    vendor: 'roteiro',
    prices: { ...(prices[0] as TokenPricesUsd) },
    markup_multiplier: CONVERSION.markup,
    context_tokens: 8_192,
    max_output_tokens: 256,
    routes: routes.map(({ does, ...route }, place) => {
      if (does) scripts.set(names[place] as string, does)
      return {
        upstream: 'once',
        model: names[place] as string,
        prices: { ...(prices[place] as TokenPricesUsd) },
        ...route,
      }
    }),
    ...more,
  })
  return { id, names, upstreams: routes.map(({ upstream = 'once' }) => upstream), prices }
}

/** No two routes of these tests ask for the same. */
function priceAt(model: number, place: number): TokenPricesUsd {
  const usd = (base: number): string => `${base + place}.${String(model + 1).padStart(3, '0')}7`
  return {
    input: usd(1),
    cached_input: usd(20),
    cache_write: usd(30),
    output: usd(10),
    reasoning: usd(40),
  }
}

const USED = {
  promptTokens: GOOD_USAGE.prompt_tokens,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: GOOD_USAGE.completion_tokens,
  reasoningTokens: 0,
}

function billOf({ prices }: PlannedModel, place: number): string {
  return exactBilledBrl(prices[place] as TokenPricesUsd, USED, CONVERSION)
}

let upstream: ScriptedUpstream
let file: ConfigFile
let gateway: TestGateway
let incident: Promise<Incident>

before(async () => {
  upstream = await startScriptedUpstream()
  for (const [name, behaviours] of scripts) upstream.play(name, ...behaviours)
  file = await writeConfigFile({ upstreams: await listUpstreams(), models: entries })
  gateway = await startGateway({
    CATRACA_CONFIG: file.path,
    SANDBOX_FX_RATE: CONVERSION.fxRate,
    TEST_ANTHROPIC_KEY: 'key-of-anthropic',
  })
  // It takes the time of two reports, while the other tests run.
  incident = watchIncident()
  incident.catch(() => {})
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await file.remove()
})

async function listUpstreams(): Promise<NonNullable<CatalogConfig['upstreams']>> {
  const common = {
    kind: 'openai-compatible',
    base_url: upstream.baseUrl,
    cancel_stops_billing: true,
    first_byte_timeout_ms: FIRST_BYTE_TIMEOUT_MS,
    idle_timeout_ms: FIRST_BYTE_TIMEOUT_MS,
    retries: 0,
    breaker: { failures: 0 },
  }
  return [
    { ...common, id: 'once' },
    { ...common, id: 'patient', first_byte_timeout_ms: 60_000, idle_timeout_ms: 60_000 },
    { ...common, id: 'metered', cancel_stops_billing: false },
    { ...common, id: 'again', retries: 2 },
    { ...common, id: 'stubborn', retries: 5 },
    { ...common, id: 'fragile', breaker: { failures: 3, open_ms: 600_000 } },
    {
      ...common,
      id: 'healing',
      breaker: { failures: 3, open_ms: 50 },
      first_byte_timeout_ms: 60_000,
    },
    {
      ...common,
      id: 'curing',
      breaker: { failures: 3, open_ms: 1_500 },
      first_byte_timeout_ms: 60_000,
    },
    { ...common, id: 'nobody', base_url: `http://127.0.0.1:${await findFreePort()}/v1` },
    { ...common, id: 'claude', kind: 'anthropic', api_key_env: 'TEST_ANTHROPIC_KEY' },
  ]
}

function chat(model: string, more: object = {}, secret = gateway.secret): Promise<Asked> {
  return askChat(gateway.node.baseUrl, secret, sound(model, more))
}

const callsAt = ({ names }: PlannedModel, place: number): number =>
  upstream.callsOf(names[place] as string).length

/** One good answer of the route at `place`, plain or streamed, with the charge that it writes. */
function assertGood(answer: Asked, model: PlannedModel, place: number): void {
  assert.equal(answer.status, 200, answer.text.slice(0, 300))
  assertHeaders(answer, answer.requestId)
  assertNoTrace(answer)
  assert.ok(!model.names.some((name) => answer.text.includes(name)), 'no name of the upstream')
  if (answer.json !== undefined) {
    assert.equal(answer.json.model, model.id)
    assert.equal(answer.json.choices[0].message.content, GOOD_TEXT)
    assert.equal(answer.json.usage.total_tokens, GOOD_USAGE.total_tokens)
    assert.equal(billedIn(answer.text), billOf(model, place))
    return
  }
  const events = eventsOf(answer.text)
  assert.equal(events.at(-1), '[DONE]')
  const chunks = events.slice(0, -1).map((event) => JSON.parse(event))
  for (const chunk of chunks) assert.equal(chunk.model, model.id)
  const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')
  assert.equal(text, GOOD_TEXT)
  assert.equal(chunks.at(-1).usage.total_tokens, GOOD_USAGE.total_tokens)
  assert.equal(billedIn(events.at(-2) as string), billOf(model, place))
}

type Tries = readonly (readonly [place: number, outcome: string, status?: number | undefined])[]

function triesOf(model: PlannedModel, tries: Tries): unknown {
  return tries.map(([place, outcome, code]) => ({
    upstream: model.upstreams[place],
    model: model.names[place],
    outcome,
    ...(code === undefined ? {} : { status: code }),
  }))
}

/** The attempts of an event without their times, each of which must be there. */
function attemptsOf({ attempts }: UsageEvent): unknown {
  if (attempts === null) return null
  return attempts.map((attempt) => {
    const { ms, ...rest } = attempt as { ms: number }
    assert.ok(Number.isInteger(ms) && ms >= 0, 'each try has a time')
    return rest
  })
}

async function onlyResolution(requestId: string): Promise<UsageEvent> {
  const [event, ...others] = await resolutionsOf(gateway.database, requestId)
  assert.ok(event)
  assert.deepEqual(others, [], 'a hold is resolved once')
  return event
}

/** The call is charged once, by the price of the route at `place`; `tries` where it was not the only one. */
async function assertCharged(
  requestId: string,
  model: PlannedModel,
  place: number,
  tries: Tries | null,
): Promise<void> {
  assertChargedEvent(await onlyResolution(requestId), model, place, tries)
}

function assertChargedEvent(
  event: UsageEvent | undefined,
  model: PlannedModel,
  place: number,
  tries: Tries | null,
): void {
  assert.ok(event)
  assert.equal(event.outcome, 'charged')
  assert.equal(event.usage_kind, 'exact')
  assert.equal(event.model_id, model.id)
  assert.equal(event.upstream_id, model.upstreams[place])
  assert.equal(event.cost_billed_nano_brl, parseBrl(billOf(model, place)))
  assert.deepEqual(attemptsOf(event), tries && triesOf(model, tries))
}

async function assertReleased(
  requestId: string,
  model: PlannedModel,
  reason: string,
  tries: Tries | null,
): Promise<void> {
  assertReleasedEvent(await onlyResolution(requestId), model, reason, tries)
}

function assertReleasedEvent(
  event: UsageEvent | undefined,
  model: PlannedModel,
  reason: string,
  tries: Tries | null,
): void {
  assert.ok(event)
  assert.equal(event.outcome, 'released')
  assert.equal(event.reason, reason)
  assert.equal(event.model_id, model.id)
  assert.equal(event.cost_billed_nano_brl, 0n)
  assert.deepEqual(attemptsOf(event), tries && triesOf(model, tries))
}

/** A gate that is open at the latest when the test has ended, so that a failed one leaves nothing behind. */
function openAtEnd(t: TestContext): Gate {
  const gate = createGate()
  t.after(() => gate.open())
  return gate
}

async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const deadline = Date.now() + 30_000; !(await isSo()); await sleep(20))
    assert.ok(Date.now() < deadline, `not within 30 s: ${what}`)
}

async function metricOf(name: string, { id }: PlannedModel, place = 0): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${gateway.node.port}/metrics`, BY_OPERATOR)
  const lines = (await answer.text()).split('\n')
  const line = lines.find(
    (each) => each.startsWith(`${name}{`) && each.includes(`upstream_model="${id}.${place}"`),
  )
  return Number(line?.split(' ').at(-1))
}

const breakerOf = (model: PlannedModel, place = 0): Promise<number> =>
  metricOf('catraca_route_breaker_state', model, place)
const [CLOSED, HALF_OPEN, OPEN] = [0, 1, 2]

describe('a route that fails before its first byte', { concurrency: AT_ONCE }, () => {
  interface RouteFault {
    readonly does: Behaviour
    readonly upstream?: string
    readonly outcome: string | { plain: string; streamed: string }
    readonly status?: number
  }

  const overloaded: Behaviour = ({ body }, response) => {
    const answer = {
      type: 'error',
      error: { type: 'overloaded_error', message: 'Zephyr is busy.' },
    }
    if (body.stream !== true) return void response.writeHead(529).end(JSON.stringify(answer))
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(`event: error\n${eventOf(answer)}`)
  }

  const ROUTE_FAULTS: Record<string, RouteFault> = {
    'answers 429': { does: status(429), outcome: 'rate_limited', status: 429 },
    'answers 429 with Retry-After': {
      does: status(429, { 'retry-after': '30' }),
      outcome: 'rate_limited',
      status: 429,
    },
    'answers 500': { does: status(500), outcome: 'server_error', status: 500 },
    'answers 503': { does: status(503), outcome: 'server_error', status: 503 },
    'answers 401': { does: status(401), outcome: 'credentials_refused', status: 401 },
    'answers 404': { does: status(404), outcome: 'server_error', status: 404 },
    'hangs before its first byte': { does: hang, outcome: 'first_byte_timeout' },
    'cuts the connection before its first byte': { does: cut, outcome: 'connection_lost' },
    'cuts the connection after its head': { does: cutAfterHead, outcome: 'connection_lost' },
    'says nothing after its head': { does: stallAfterHead, outcome: 'first_byte_timeout' },
    'tells an error first': { does: errorInBody, outcome: 'server_error' },
    'answers a page': { does: page, outcome: 'bad_answer' },
    'answers garbage': { does: garbage, outcome: 'bad_answer' },
    'answers nothing': { does: empty, outcome: 'bad_answer' },
    'refuses the connection': { does: good, upstream: 'nobody', outcome: 'connect_failed' },
    'speaks another format and hangs': {
      does: hang,
      upstream: 'claude',
      outcome: 'first_byte_timeout',
    },
    'speaks another format and cuts the connection': {
      does: cut,
      upstream: 'claude',
      outcome: 'connection_lost',
    },
  }

  for (const [what, { does, upstream: upstreamId, outcome, status: code }] of Object.entries(
    ROUTE_FAULTS,
  )) {
    for (const [manner, more] of MANNERS) {
      const id = `rota-${what.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase()}-${manner}`
      const model = plan(id, [
        { does: [does], ...(upstreamId ? { upstream: upstreamId } : {}) },
        { does: [good] },
      ])

      test(`a first route that ${what}, ${manner}: the second one answers and is charged`, async () => {
        const answer = await chat(id, { ...FEW_TOKENS, ...more })
        assertGood(answer, model, 1)
        const reason = typeof outcome === 'string' ? outcome : outcome[manner as 'plain']
        await assertCharged(answer.requestId, model, 1, [
          [0, reason, code],
          [1, 'answered'],
        ])
        assert.equal(callsAt(model, 0), upstreamId === 'nobody' ? 0 : 1)
        assert.equal(callsAt(model, 1), 1)
      })
    }
  }

  for (const [manner, more] of MANNERS) {
    const model = plan(`rota-529-${manner}`, [
      { upstream: 'claude', does: [overloaded] },
      { does: [good] },
    ])

    test(`a first route of another format that is overloaded, ${manner}: the second one answers`, async () => {
      const answer = await chat(model.id, more)
      assertGood(answer, model, 1)
      const { attempts } = await onlyResolution(answer.requestId)
      const [first] = attempts as [{ outcome: string }]
      assert.equal(first.outcome, 'server_error')
    })
  }

  {
    const errorWithoutName: Behaviour = (_call, response) =>
      void response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(`${eventOf({ object: 'error', message: 'Zephyr is busy.' })}data: [DONE]\n\n`)
    const model = plan('rota-sem-nome', [{ does: [errorWithoutName] }, { does: [good] }])

    test('a first route whose stream reports an error as servers of open models do: the second one answers', async () => {
      const answer = await chat(model.id, STREAM)
      assertGood(answer, model, 1)
      await assertCharged(answer.requestId, model, 1, [
        [0, 'server_error'],
        [1, 'answered'],
      ])
    })
  }

  {
    const model = plan('rota-boa', [{ does: [good] }, { does: [good] }])

    test('if the first route answers, no other is called, and no attempts are recorded', async () => {
      for (const [, more] of MANNERS) {
        const answer = await chat(model.id, more)
        assertGood(answer, model, 0)
        await assertCharged(answer.requestId, model, 0, null)
      }
      assert.equal(callsAt(model, 1), 0)
    })
  }

  {
    const model = plan('rota-pausa', [{ does: [status(429, { 'retry-after': '60' }), good] }, {}])

    test('a route with Retry-After is called last until it has passed', async () => {
      assertGood(await chat(model.id), model, 1)
      const answer = await chat(model.id)
      assertGood(answer, model, 1)
      await assertCharged(answer.requestId, model, 1, null)
      assert.equal(callsAt(model, 0), 1)
      upstream.play(model.names[1] as string, status(500))
      const last = await chat(model.id)
      assertGood(last, model, 0)
      await assertCharged(last.requestId, model, 0, [
        [1, 'server_error', 500],
        [0, 'answered'],
      ])
    })
  }

  {
    const model = plan('rota-meio', [{ does: [cutInTheMiddle] }, { does: [good] }])

    test('a stream that breaks after its first chunk is not rerouted, and is charged once, as counted', async () => {
      const answer = await chat(model.id, STREAM)
      assert.equal(answer.status, 200)
      const events = eventsOf(answer.text)
      const { error } = JSON.parse(events.at(-1) as string)
      assert.equal(error.code, 'upstream_error')
      assertNoTrace(answer)
      const event = await onlyResolution(answer.requestId)
      assert.deepEqual(
        [event.outcome, event.usage_kind, event.reason, event.upstream_id],
        ['charged', 'estimated', 'stream_broken', 'once'],
      )
      assert.equal(event.completion_tokens, 3)
      const counted = {
        ...USED,
        promptTokens: event.prompt_tokens,
        completionTokens: event.completion_tokens,
      }
      const expected = exactBilledBrl(model.prices[0] as TokenPricesUsd, counted, CONVERSION)
      assert.equal(event.cost_billed_nano_brl, parseBrl(expected))
      assert.equal(event.attempts, null)
      assert.equal(callsAt(model, 1), 0)
    })
  }
})

describe('every route fails', { concurrency: AT_ONCE }, () => {
  interface AllFail {
    readonly does: readonly Behaviour[]
    readonly refusal: readonly [status: number, code: string]
    readonly tries: Tries
  }

  const ALL_FAIL: Record<string, AllFail> = {
    'two errors': {
      does: [status(500), status(502)],
      refusal: [502, 'upstream_error'],
      tries: [
        [0, 'server_error', 500],
        [1, 'server_error', 502],
      ],
    },
    'refused credentials': {
      does: [status(401), status(403)],
      refusal: [502, 'upstream_error'],
      tries: [
        [0, 'credentials_refused', 401],
        [1, 'credentials_refused', 403],
      ],
    },
    maintenance: {
      does: [status(503), status(503)],
      refusal: [503, 'service_unavailable'],
      tries: [
        [0, 'server_error', 503],
        [1, 'server_error', 503],
      ],
    },
    'limits everywhere': {
      does: [status(429), status(429, { 'retry-after': '17' })],
      refusal: [429, 'rate_limit_exceeded'],
      tries: [
        [0, 'rate_limited', 429],
        [1, 'rate_limited', 429],
      ],
    },
    'hanging and cut': {
      does: [hang, cut],
      refusal: [502, 'upstream_error'],
      tries: [
        [0, 'first_byte_timeout'],
        [1, 'connection_lost'],
      ],
    },
  }

  for (const [what, { does, refusal, tries }] of Object.entries(ALL_FAIL)) {
    for (const [manner, more] of MANNERS) {
      const id = `falha-${what.replaceAll(' ', '-')}-${manner}`
      const model = plan(
        id,
        does.map((each) => ({ does: [each] })),
      )

      test(`every route fails, ${what}, ${manner}: ${refusal[0]} and a release`, async () => {
        const answer = await chat(id, { ...FEW_TOKENS, ...more })
        assertRefusal(answer, ...refusal)
        if (refusal[0] === 429) assert.equal(answer.headers.get('retry-after'), '17')
        await assertReleased(answer.requestId, model, tries.at(-1)?.[1] as string, tries)
      })
    }
  }

  for (const code of [400, 413, 422]) {
    const model = plan(`recusa-${code}`, [
      { upstream: 'again', does: [status(code)] },
      { does: [good] },
    ])

    test(`${code} of a route is final: no retry, no other route, 400 and a release`, async () => {
      for (const [index, [, more]] of MANNERS.entries()) {
        const answer = await chat(model.id, more)
        assertRefusal(answer, 400, 'invalid_request')
        await assertReleased(answer.requestId, model, 'refused_request', [
          [0, 'refused_request', code],
        ])
        assert.equal(callsAt(model, 0), index + 1)
      }
      assert.equal(callsAt(model, 1), 0)
    })
  }
})

describe('retries on the same route', { concurrency: AT_ONCE }, () => {
  /** Milliseconds between the calls of a route, by the clock of the upstream. */
  function gapsOf(model: PlannedModel, place = 0): number[] {
    const times = upstream.callsOf(model.names[place] as string).map(({ atMs }) => atMs)
    return times.slice(1).map((atMs, index) => atMs - (times[index] as number))
  }

  for (const [manner, more] of MANNERS) {
    const model = plan(`de-novo-${manner}`, [
      { upstream: 'again', does: [status(500), cut, good, status(500)] },
    ])

    test(`retries, ${manner}: a route is asked again with growing pauses until it answers`, async () => {
      const answer = await chat(model.id, more)
      assertGood(answer, model, 0)
      await assertCharged(answer.requestId, model, 0, [
        [0, 'server_error', 500],
        [0, 'connection_lost'],
        [0, 'answered'],
      ])
      // Half of 200 ms and of 400 ms at least; a timer may be a millisecond early.
      const [first = 0, second = 0] = gapsOf(model)
      assert.ok(first >= 98 && second >= 198, `pauses of ${first} and ${second} ms`)
    })
  }

  {
    const model = plan('de-novo-espera', [
      { upstream: 'again', does: [status(429, { 'retry-after': '1' }), good] },
    ])

    test('retries: a retry waits for Retry-After', async () => {
      const answer = await chat(model.id)
      assertGood(answer, model, 0)
      await assertCharged(answer.requestId, model, 0, [
        [0, 'rate_limited', 429],
        [0, 'answered'],
      ])
      assert.ok((gapsOf(model)[0] as number) >= 998)
    })
  }

  {
    const model = plan('de-novo-longe', [
      { upstream: 'again', does: [status(429, { 'retry-after': '6' }), good] },
    ])

    test('retries: a long Retry-After is passed to the client, and the route is not retried', async () => {
      const answer = await chat(model.id)
      assertRefusal(answer, 429, 'rate_limit_exceeded')
      assert.equal(answer.headers.get('retry-after'), '6')
      await assertReleased(answer.requestId, model, 'rate_limited', [[0, 'rate_limited', 429]])
      assert.equal(callsAt(model, 0), 1)
    })
  }

  {
    const model = plan('de-novo-nunca', [{ upstream: 'again', does: [status(500)] }])

    test('retries: after the last retry the client gets the error, and the hold is released', async () => {
      const answer = await chat(model.id)
      assertRefusal(answer, 502, 'upstream_error')
      await assertReleased(answer.requestId, model, 'server_error', [
        [0, 'server_error', 500],
        [0, 'server_error', 500],
        [0, 'server_error', 500],
      ])
    })
  }

  for (const [what, does, reason, code] of [
    ['time-outs', hang, 'first_byte_timeout', undefined],
    ['refused credentials', status(401), 'credentials_refused', 401],
    ['garbage', garbage, 'bad_answer', undefined],
  ] as const) {
    const model = plan(`sem-repetir-${reason}`, [{ upstream: 'again', does: [does] }])

    test(`retries: ${what} would come again, so the same route is not asked again`, async () => {
      const answer = await chat(model.id)
      assertRefusal(answer, 502, 'upstream_error')
      await assertReleased(answer.requestId, model, reason, [[0, reason, code]])
    })
  }

  {
    const model = plan('de-novo-todas', [
      { upstream: 'again', does: [status(500)] },
      { does: [status(500)] },
      { upstream: 'again', does: [status(500), good] },
    ])

    test('retries: every route is called once before any is retried', async () => {
      const answer = await chat(model.id)
      assertGood(answer, model, 2)
      await assertCharged(answer.requestId, model, 2, [
        [0, 'server_error', 500],
        [1, 'server_error', 500],
        [2, 'server_error', 500],
        [0, 'server_error', 500],
        [2, 'answered'],
      ])
    })
  }

  {
    const model = plan('de-novo-seis', [
      { upstream: 'stubborn', does: [status(500)] },
      { upstream: 'stubborn', does: [status(503)] },
      { upstream: 'stubborn', does: [cut] },
      { upstream: 'stubborn', does: [status(500)] },
    ])

    test('retries: a call has at most six attempts over all routes', async () => {
      const answer = await chat(model.id)
      assert.equal(answer.status, 503, 'as the last one said')
      await assertReleased(answer.requestId, model, 'server_error', [
        [0, 'server_error', 500],
        [1, 'server_error', 503],
        [2, 'connection_lost'],
        [3, 'server_error', 500],
        [0, 'server_error', 500],
        [1, 'server_error', 503],
      ])
    })
  }
})

describe('which route comes first', () => {
  {
    const WEIGHTS = [1, 3, 6]
    const CALLS = 2_000
    const model = plan(
      'pesos',
      WEIGHTS.map((weight) => ({ weight, priority: 0, does: [good] })),
    )

    test('weights: two thousand calls are distributed by the weights', async () => {
      let left = CALLS
      await Promise.all(
        Array.from({ length: 24 }, async () => {
          while (left-- > 0) assert.equal((await chat(model.id)).status, 200)
        }),
      )
      const counts = WEIGHTS.map((_, place) => callsAt(model, place))
      assert.equal(
        counts.reduce((sum, count) => sum + count),
        CALLS,
      )
      const chiSquare = counts.reduce((sum, count, place) => {
        const expected = (CALLS * (WEIGHTS[place] as number)) / 10
        return sum + (count - expected) ** 2 / expected
      }, 0)
      // Two degrees of freedom: above this in one of a million runs.
      assert.ok(chiSquare < 27.6, `${counts.join()} calls for weights of ${WEIGHTS.join()}`)
      const { db } = gateway.database
      const sums = await db
        .selectFrom('usage_events')
        .select(({ fn }) => [
          fn.countAll<bigint>().as('events'),
          fn.sum<string>('cost_billed_nano_brl').as('billed'),
        ])
        .where('model_id', '=', model.id)
        .executeTakeFirstOrThrow()
      assert.equal(Number(sums.events), CALLS)
      const billed = counts
        .map((count, place) => BigInt(count) * (parseBrl(billOf(model, place)) as bigint))
        .reduce((sum, each) => sum + each)
      assert.equal(BigInt(sums.billed), billed, 'each call by the price of its own route')
    })
  }

  {
    const model = plan('prioridade', [{ priority: 7 }, { priority: 2 }, { priority: 5 }])

    test('priority: the smallest number first, the next one after a failure', async () => {
      assertGood(await chat(model.id), model, 1)
      upstream.play(model.names[1] as string, status(500))
      assertGood(await chat(model.id), model, 2)
      upstream.play(model.names[2] as string, status(500))
      const answer = await chat(model.id)
      assertGood(answer, model, 0)
      await assertCharged(answer.requestId, model, 0, [
        [1, 'server_error', 500],
        [2, 'server_error', 500],
        [0, 'answered'],
      ])
    })
  }

  {
    const prices = (usd: string): { prices: { input: string; output: string } } => ({
      prices: { input: usd, output: usd },
    })
    const model = plan('preco', [prices('3'), prices('1'), prices('2')], { routing: 'price' })

    test('price: the cheapest route first, the next cheapest after a failure', async () => {
      const billed = async (): Promise<string | undefined> => billedIn((await chat(model.id)).text)
      // 16 tokens at USD 1 a million, times 5.2 and 1.5.
      assert.equal(await billed(), '0.0001248')
      upstream.play(model.names[1] as string, status(500))
      assert.equal(await billed(), '0.0002496')
      upstream.play(model.names[2] as string, status(500))
      assert.equal(await billed(), '0.0003744')
      assert.deepEqual(
        [0, 1, 2].map((place) => callsAt(model, place)),
        [1, 3, 2],
      )
    })
  }

  {
    const model = plan('latencia', [{ upstream: 'patient' }, { upstream: 'patient' }], {
      routing: 'latency',
    })

    test('latency: each route is tried once, then the faster one is preferred while it is faster', async () => {
      const [slow, quick] = model.names as [string, string]
      upstream.play(slow, afterMs(250))
      upstream.play(quick, good)
      for (let i = 0; i < 5; i++) assert.equal((await chat(model.id)).status, 200)
      assert.deepEqual([callsAt(model, 0), callsAt(model, 1)], [1, 4])
      // Its usual latency grows by a fifth of the difference each time, and passes 250 ms with the first.
      upstream.play(quick, afterMs(2_000))
      upstream.play(slow, good)
      assertGood(await chat(model.id), model, 1)
      assertGood(await chat(model.id), model, 0)
      assertGood(await chat(model.id), model, 0)
      assert.deepEqual([callsAt(model, 0), callsAt(model, 1)], [3, 5])
    })
  }
})

describe('prices by time of day', { concurrency: AT_ONCE }, () => {
  const timeIn = (minutes: number): string =>
    new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16)
  const cheap: TokenPricesUsd = {
    input: '0.1',
    cached_input: '0.1',
    cache_write: '0.1',
    output: '0.2',
    reasoning: '0.2',
  }
  const cheapUntil = (id: string, minutes: number): PlannedModel => {
    const price_schedule = [{ from: timeIn(-60), until: timeIn(minutes), prices: { ...cheap } }]
    return { ...plan(id, [{ price_schedule }]), prices: [cheap] }
  }
  // A call takes at most 15 minutes.
  const allDay = cheapUntil('rota-hora', 120)
  const ending = cheapUntil('rota-virada', 10)

  test('a call is charged at the price of its hour, and its hold covers the highest price until its end', async () => {
    const little = await seedCustomer(gateway.database.db, { balanceBrl: '0.01' })
    const more = { max_tokens: 10 }
    assertGood(await chat(allDay.id, more, little.secret), allDay, 0)
    const refused = await chat(ending.id, more, little.secret)
    assert.equal(refused.json.error.code, 'insufficient_balance')
    for (const [, manner] of MANNERS)
      assertGood(await chat(ending.id, { ...more, ...manner }), ending, 0)
  })
})

describe('as many calls at once as a route takes', { concurrency: AT_ONCE }, () => {
  {
    const model = plan('cheia', [{ upstream: 'patient', concurrency_max: 1 }, {}])

    test('concurrency_max: a full route is skipped until one of its calls has ended', async (t) => {
      const gate = openAtEnd(t)
      upstream.play(model.names[0] as string, gate.behaviour)
      const first = chat(model.id)
      await until(() => callsAt(model, 0) === 1, 'the first call is at its upstream')
      const second = await chat(model.id)
      assertGood(second, model, 1)
      await assertCharged(second.requestId, model, 1, null)
      gate.open()
      assertGood(await first, model, 0)
      assertGood(await chat(model.id), model, 0)
    })
  }

  {
    const model = plan('contada', [{ upstream: 'patient' }])

    test('/metrics has the number of running calls of a route', async (t) => {
      const gate = openAtEnd(t)
      upstream.play(model.names[0] as string, gate.behaviour)
      const asked = chat(model.id)
      await until(() => callsAt(model, 0) === 1, 'the call is at its upstream')
      assert.equal(await metricOf('catraca_route_running', model), 1)
      gate.open()
      assertGood(await asked, model, 0)
      assert.equal(await metricOf('catraca_route_running', model), 0)
    })
  }

  for (const [manner, more] of MANNERS) {
    const model = plan(`so-uma-${manner}`, [{ upstream: 'patient', concurrency_max: 1 }])

    test(`concurrency_max, ${manner}: where no other route is there, 429 with retry-after and a release`, async (t) => {
      const gate = openAtEnd(t)
      upstream.play(model.names[0] as string, gate.behaviour)
      const first = chat(model.id, more)
      await until(() => callsAt(model, 0) === 1, 'the first call is at its upstream')
      const second = await chat(model.id, more)
      assertRefusal(second, 429, 'rate_limit_exceeded')
      assert.equal(second.headers.get('retry-after'), '1')
      await assertReleased(second.requestId, model, 'rate_limited', null)
      gate.open()
      assertGood(await first, model, 0)
      assertGood(await chat(model.id, more), model, 0)
      assert.equal(callsAt(model, 0), 2)
    })
  }

  {
    const CALLS = 6
    const model = plan('apertada', [
      { upstream: 'patient', does: [whenAllAreThere(CALLS, status(500))] },
      { upstream: 'patient', concurrency_max: 2 },
    ])

    test('concurrency_max also limits concurrent reroutes to one route', async (t) => {
      const gate = openAtEnd(t)
      upstream.play(model.names[1] as string, gate.behaviour)
      let answered = 0
      const asked = Array.from({ length: CALLS }, async () => {
        const answer = await chat(model.id)
        answered += 1
        return answer.status
      })
      await until(() => callsAt(model, 1) + answered === CALLS, 'the calls are where they can be')
      gate.open()
      const statuses = await Promise.all(asked)
      assert.equal(gate.waitedMax, 2, 'calls at once at a route that takes two')
      assert.equal(statuses.filter((each) => each === 200).length, 2)
    })
  }
})

describe('breakers', { concurrency: AT_ONCE }, () => {
  {
    const model = plan('quebra', [{ upstream: 'fragile', does: [status(500)] }])

    test('a breaker opens after consecutive failures: then 503 at once, without a request to the upstream', async () => {
      assert.equal(await breakerOf(model), CLOSED)
      for (let i = 0; i < 3; i++) assertRefusal(await chat(model.id), 502, 'upstream_error')
      assert.equal(await breakerOf(model), OPEN)
      for (const [, more] of MANNERS) {
        const answer = await chat(model.id, more)
        assertRefusal(answer, 503, 'service_unavailable')
        await assertReleased(answer.requestId, model, 'server_error', null)
      }
      assert.equal(callsAt(model, 0), 3)
    })
  }

  {
    const model = plan('quebra-uma', [
      { upstream: 'fragile', does: [cutAfterHead] },
      { does: [good] },
    ])

    test('with an open breaker on one route, the other route is called at once', async () => {
      for (let i = 0; i < 3; i++) assertGood(await chat(model.id, STREAM), model, 1)
      assert.deepEqual([await breakerOf(model, 0), await breakerOf(model, 1)], [OPEN, CLOSED])
      const answer = await chat(model.id)
      assertGood(answer, model, 1)
      await assertCharged(answer.requestId, model, 1, null)
      assert.equal(callsAt(model, 0), 3)
    })
  }

  {
    const model = plan('recusas', [{ upstream: 'fragile', does: [status(400)] }])

    test('refused requests and rate limits do not open a breaker', async () => {
      for (let i = 0; i < 5; i++) assert.equal((await chat(model.id)).status, 400)
      upstream.play(model.names[0] as string, status(429, { 'retry-after': '1' }))
      for (let i = 0; i < 5; i++) assert.equal((await chat(model.id)).status, 429)
      assert.equal(await breakerOf(model), CLOSED)
    })
  }

  {
    const model = plan('meios', [{ upstream: 'fragile', does: [cutInTheMiddle] }])

    test('broken streams open the breaker too', async () => {
      for (let i = 0; i < 3; i++) assert.equal((await chat(model.id, STREAM)).status, 200)
      assert.equal(await breakerOf(model), OPEN)
    })
  }

  {
    const model = plan('sara', [{ upstream: 'curing', does: [status(500)] }])

    test('a breaker half-opens: one call probes the route, the others get 503, and its success closes the breaker', async (t) => {
      for (let i = 0; i < 3; i++) assert.equal((await chat(model.id)).status, 502)
      await until(async () => (await breakerOf(model)) === HALF_OPEN, 'the breaker is half open')
      assert.equal((await chat(model.id)).status, 502, 'the try fails')
      assert.equal(callsAt(model, 0), 4)
      await until(async () => (await breakerOf(model)) === HALF_OPEN, 'it is half open again')
      const gate = openAtEnd(t)
      upstream.play(model.names[0] as string, gate.behaviour)
      const trying = chat(model.id)
      await until(() => callsAt(model, 0) === 5, 'the call that tries is at its upstream')
      assertRefusal(await chat(model.id), 503, 'service_unavailable')
      gate.open()
      assertGood(await trying, model, 0)
      assert.equal(await breakerOf(model), CLOSED)
      assertGood(await chat(model.id, STREAM), model, 0)
      assert.equal(callsAt(model, 0), 6)
    })
  }
})

/** As a provider refuses a request: by a status, or within the events of a stream that has begun. */
function refusing(code: number, error: object): Behaviour {
  return ({ body }, response) => {
    const isEvent = code === 200 && body.stream === true
    response.writeHead(code, { 'content-type': isEvent ? 'text/event-stream' : 'application/json' })
    response.end(isEvent ? eventOf({ error }) : JSON.stringify({ error }))
  }
}

const TOO_LONG = { message: 'This prompt is too long.', code: 'context_length_exceeded' }
const FORBIDDEN = { message: 'It was filtered.', code: 'content_filter' }
const WRONG = { message: 'Wrong parameter.', type: 'invalid_request_error' }
const REFUSED_PROBES: readonly (readonly [what: string, refusal: Behaviour])[] = [
  ['400', refusing(400, WRONG)],
  ['413', refusing(413, WRONG)],
  ['415', refusing(415, WRONG)],
  ['422', refusing(422, WRONG)],
  ['400 of a context that is too long', refusing(400, TOO_LONG)],
  ['400 of a content filter', refusing(400, FORBIDDEN)],
  ['403 of moderation', refusing(403, FORBIDDEN)],
  ['refusal within the answer', refusing(200, WRONG)],
  ['context that is too long, within the answer', refusing(200, TOO_LONG)],
]

describe('probes', { concurrency: AT_ONCE }, () => {
  async function openOf(model: PlannedModel): Promise<void> {
    for (let i = 0; i < 3; i++) assert.equal((await chat(model.id)).status, 502)
    assert.equal(await breakerOf(model), OPEN)
    await until(async () => (await breakerOf(model)) === HALF_OPEN, 'the breaker is half open')
  }

  for (const [what, refusal] of REFUSED_PROBES)
    for (const [manner, more] of MANNERS) {
      const model = plan(`sonda-${REFUSED_PROBES.findIndex(([one]) => one === what)}-${manner}`, [
        {
          upstream: 'curing',
          does: [status(500), status(500), status(500), refusal, refusal, good],
        },
      ])

      test(`a probe that ends by a ${what} of the request itself, ${manner}, neither opens nor closes the breaker: the next call is the probe`, async () => {
        await openOf(model)
        for (let i = 0; i < 2; i++) {
          const answer = await chat(model.id, more)
          assert.equal(answer.status, 400, answer.text)
          assert.equal((await onlyResolution(answer.requestId)).outcome, 'released')
          assert.equal(await breakerOf(model), HALF_OPEN)
        }
        assertGood(await chat(model.id, more), model, 0)
        assert.equal(await breakerOf(model), CLOSED)
        assert.equal(callsAt(model, 0), 6)
      })
    }

  const left = plan(
    'sonda-sai',
    [{ upstream: 'curing', does: [status(500), status(500), status(500), hang, good] }],
    { can_reason: false },
  )

  test('a probe whose client leaves neither opens nor closes the breaker, and the next one closes it', async () => {
    await openOf(left)
    const leaving = new AbortController()
    const asked = fetch(`${gateway.node.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(sound(left.id, STREAM)),
      signal: leaving.signal,
    })
    asked.catch(() => {})
    await until(() => callsAt(left, 0) === 4, 'the probe is at its upstream')
    leaving.abort()
    await assert.rejects(asked)
    await upstream.callsOf(left.names[0] as string)[3]?.gone
    assert.equal(await breakerOf(left), HALF_OPEN)
    // For a moment only another customer's call may be the next one.
    const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
    assert.equal((await chat(left.id, {}, secret)).status, 200)
    assert.equal(await breakerOf(left), CLOSED)
  })
})

describe('fallback models', { concurrency: AT_ONCE }, () => {
  {
    const [first, second] = [plan('reserva-a', [{ does: [status(500)] }]), plan('reserva-b', [{}])]

    for (const [manner, more] of MANNERS) {
      test(`fallback models, ${manner}: the second one answers under its own name and by its own price`, async () => {
        const { secret, key } = await seedCustomer(gateway.database.db, {
          balanceBrl: '10',
          requestsPerMinute: 50,
        })
        const answer = await chat(first.id, { models: [first.id, second.id], ...more }, secret)
        assertGood(answer, second, 0)
        const [released, charged, ...others] = await resolutionsOf(
          gateway.database,
          answer.requestId,
        )
        assert.deepEqual(others, [])
        assertReleasedEvent(released, first, 'server_error', [[0, 'server_error', 500]])
        assertChargedEvent(charged, second, 0, null)
        const windows = await gateway.database.db
          .selectFrom('rate_windows')
          .select('requests')
          .where('subject', '=', `k:${key.id}`)
          .execute()
        assert.deepEqual(
          windows.map(({ requests }) => requests),
          [1n],
          'it is one request of the key',
        )
        assert.equal(answer.headers.get('x-ratelimit-remaining'), '49')
        for (const { names } of [first, second]) {
          const { body } = upstream.callsOf(names[0] as string).at(-1) ?? {}
          assert.equal(body.model, names[0])
          assert.ok(!('models' in body), 'the field is ours and is not sent on')
        }
      })
    }
  }

  {
    const [first, second] = [plan('aperto-a', [{ does: [status(500)] }]), plan('aperto-b', [{}])]

    test('fallback models: the first hold is released before the second is taken', async () => {
      const probe = await chat(first.id, { models: [second.id], max_tokens: 256 })
      const [one, other] = await resolutionsOf(gateway.database, probe.requestId)
      const [heldFirst, heldSecond] = [one?.held_nano_brl ?? 0n, other?.held_nano_brl ?? 0n]
      assert.ok(heldFirst > 0n && heldSecond > 0n)
      const larger = heldFirst > heldSecond ? heldFirst : heldSecond
      const balance = `0.${String(larger).padStart(9, '0')}`
      const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: balance })
      const answer = await chat(first.id, { models: [second.id], max_tokens: 256 }, secret)
      assertGood(answer, second, 0)
    })
  }

  {
    const models = [
      plan('todas-a', [{ does: [status(500)] }]),
      plan('todas-b', [{ does: [hang] }]),
      plan('todas-c', [{ does: [status(503)] }]),
    ]

    test('fallback models: if none answers, the client gets the last error, and every hold is released', async () => {
      const [first, ...rest] = models as [PlannedModel, ...PlannedModel[]]
      const answer = await chat(first.id, { ...FEW_TOKENS, models: rest.map(({ id }) => id) })
      assertRefusal(answer, 503, 'service_unavailable')
      const events = await resolutionsOf(gateway.database, answer.requestId)
      assert.deepEqual(
        events.map(({ model_id: id, outcome, reason }) => [id, outcome, reason]),
        [
          ['todas-a', 'released', 'server_error'],
          ['todas-b', 'released', 'first_byte_timeout'],
          ['todas-c', 'released', 'server_error'],
        ],
      )
    })
  }

  {
    const [first, second] = [plan('nao-a', [{ does: [status(400)] }]), plan('nao-b', [{}])]

    test('fallback models: a refused request does not fall back', async () => {
      const answer = await chat(first.id, { models: [second.id] })
      assertRefusal(answer, 400, 'invalid_request')
      await assertReleased(answer.requestId, first, 'refused_request', [
        [0, 'refused_request', 400],
      ])
      assert.equal(callsAt(second, 0), 0)
    })
  }

  {
    const [first, second] = [plan('meio-a', [{ does: [cutInTheMiddle] }]), plan('meio-b', [{}])]

    test('fallback models: a stream that breaks after its first chunk does not fall back', async () => {
      const answer = await chat(first.id, { models: [second.id], ...STREAM })
      assert.equal(answer.status, 200)
      assert.match(answer.text, /"upstream_error"/)
      const event = await onlyResolution(answer.requestId)
      assert.deepEqual([event.model_id, event.reason], [first.id, 'stream_broken'])
      assert.equal(callsAt(second, 0), 0)
    })
  }

  {
    const [first, second] = [
      plan('aberta-a', [{ upstream: 'fragile', does: [status(500)] }]),
      plan('aberta-b', [{}]),
    ]

    test('fallback models: if the breakers of all routes of the first are open, the second answers at once', async () => {
      for (let i = 0; i < 3; i++) await chat(first.id)
      const answer = await chat(first.id, { models: [second.id] })
      assertGood(answer, second, 0)
      assert.equal(callsAt(first, 0), 3)
    })
  }

  {
    const model = plan('lista', [{}])

    test('fallback models: unknown, forbidden and too many models are refused before a hold', async () => {
      const unknown = await chat(model.id, { models: ['nao-existe'] })
      assertRefusal(unknown, 404, 'model_not_found')
      assert.match(unknown.json.error.message, /"nao-existe"/)
      const { secret } = await seedCustomer(gateway.database.db, {
        balanceBrl: '10',
        modelIds: [model.id],
      })
      const forbidden = await chat(model.id, { models: ['sandbox-chat'] }, secret)
      assertRefusal(forbidden, 403, 'key_model_access_denied')
      const six = await chat(model.id, { models: Array.from({ length: 6 }, () => 'sandbox-chat') })
      assertRefusal(six, 400, 'invalid_request')
      const odd = await chat(model.id, { models: [7] })
      assertRefusal(odd, 400, 'invalid_request')
      for (const { requestId } of [unknown, forbidden, six, odd])
        assert.deepEqual(await resolutionsOf(gateway.database, requestId), [])
      const five = await chat(model.id, { models: Array.from({ length: 5 }, () => 'sandbox-chat') })
      assertGood(five, model, 0)
      assert.equal(callsAt(model, 0), 1)
    })
  }
})

describe('other kinds of calls', { concurrency: AT_ONCE }, () => {
  {
    const model = plan('vetores', [{ does: [status(500)] }, {}], {
      category: 'embedding',
      embedding: { dimensions: 2 },
    })

    test('embeddings: the second route answers and is charged by its own price', async () => {
      const body = { model: model.id, input: 'Olá' }
      const { baseUrl } = gateway.node
      const answer = await ask(baseUrl, '/embeddings', { secret: gateway.secret, body })
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual(answer.json.data[0].embedding, [0.25, -0.5])
      const used = { ...USED, completionTokens: 0 }
      const expected = exactBilledBrl(model.prices[1] as TokenPricesUsd, used, CONVERSION)
      assert.equal(billedIn(answer.text), expected)
      const event = await onlyResolution(answer.requestId)
      assert.equal(event.cost_billed_nano_brl, parseBrl(expected))
      assert.deepEqual(
        attemptsOf(event),
        triesOf(model, [
          [0, 'server_error', 500],
          [1, 'answered'],
        ]),
      )
    })
  }

  {
    const hour = (usd: string): { prices: { audio_hour: string } } => ({
      prices: { audio_hour: usd },
    })
    const routes = [
      { does: [cut], ...hour('7.2') },
      { does: [status(503)], ...hour('10.8') },
      { ...hour('3.6') },
    ]
    const model = plan('escuta', routes, { category: 'audio', ...hour('7.2') })

    test('transcriptions: each route receives the whole file', async () => {
      const bytes = Buffer.concat([Buffer.from('ID3'), Buffer.alloc(40_000, 'som')])
      const form = new FormData()
      form.append('model', model.id)
      form.append('file', new Blob([bytes]), 'fala.mp3')
      const requestId = randomUUID()
      const answer = await fetch(`${gateway.node.baseUrl}/audio/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.secret}`, 'x-svc-request-id': requestId },
        body: form,
      })
      const text = await answer.text()
      assert.equal(answer.status, 200, text)
      // Seven seconds at USD 0.001 each, times 5.2 and 1.5.
      assert.equal(billedIn(text), '0.0546')
      const event = await onlyResolution(requestId)
      assert.equal(event.cost_billed_nano_brl, 54_600_000n)
      assert.deepEqual(
        attemptsOf(event),
        triesOf(model, [
          [0, 'connection_lost'],
          [1, 'server_error', 503],
          [2, 'answered'],
        ]),
      )
      for (const name of model.names)
        assert.ok(upstream.callsOf(name)[0]?.text.includes(bytes.toString('utf8')))
    })
  }
})

describe('clients that hang up', { concurrency: AT_ONCE }, () => {
  interface Leaving {
    readonly requestId: string
    leave(): Promise<void>
  }

  function askAndLeave(model: string, more: object): Leaving {
    const requestId = randomUUID()
    const leaving = new AbortController()
    const asked = fetch(`${gateway.node.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.secret}`,
        'content-type': 'application/json',
        'x-svc-request-id': requestId,
      },
      body: JSON.stringify(sound(model, more)),
      signal: leaving.signal,
    }).then(
      () => 'answered',
      () => 'left',
    )
    return {
      requestId,
      async leave() {
        leaving.abort()
        assert.equal(await asked, 'left')
      },
    }
  }

  for (const upstreamId of ['once', 'metered']) {
    for (const [manner, more] of MANNERS) {
      const model = plan(`sai-${upstreamId}-${manner}`, [
        { upstream: upstreamId, does: [hang] },
        {},
      ])

      test(`a client that hangs up before the first byte, ${upstreamId}, ${manner}: released, and no other route is asked`, async () => {
        const call = askAndLeave(model.id, more)
        await until(() => callsAt(model, 0) === 1, 'the call is at its upstream')
        await call.leave()
        const event = await onlyResolution(call.requestId)
        assert.deepEqual([event.outcome, event.reason], ['released', 'client_left'])
        assert.equal(callsAt(model, 1), 0)
      })
    }
  }

  {
    const model = plan('sai-logo', [{ upstream: 'patient', does: [hang] }], { can_reason: false })

    test('a client that disconnects before the first byte of a stream: the upstream is cancelled at once, and the prompt is charged', async () => {
      const call = askAndLeave(model.id, STREAM)
      await until(() => callsAt(model, 0) === 1, 'the call is at its upstream')
      await call.leave()
      // Its time-outs are a minute: this would not end within the time of a test.
      await upstream.callsOf(model.names[0] as string)[0]?.gone
      const event = await onlyResolution(call.requestId)
      assert.deepEqual([event.outcome, event.reason], ['charged', 'client_left'])
      assert.ok(event.prompt_tokens > 0 && event.cost_billed_nano_brl > 0n)
      assert.equal(event.completion_tokens, 0)
      assert.deepEqual(attemptsOf(event), triesOf(model, [[0, 'aborted']]))
    })
  }

  for (const [manner, more] of MANNERS) {
    const model = plan(`sai-pausa-${manner}`, [
      { upstream: 'again', does: [status(429, { 'retry-after': '2' }), good] },
    ])

    test(`a client that hangs up between two tries, ${manner}: released, and not tried again`, async () => {
      const call = askAndLeave(model.id, more)
      const heldId = async (): Promise<string | undefined> => {
        const { db } = gateway.database
        const holds = await db
          .selectFrom('holds')
          .select('id')
          .where('request_id', '=', call.requestId)
          .execute()
        return holds[0]?.id
      }
      await until(async () => (await heldId()) !== undefined, 'the money is held')
      // Its refusal is read within a moment, and the pause before the next try takes two seconds.
      await until(() => callsAt(model, 0) === 1, 'the first try is made')
      await sleep(500)
      await call.leave()
      await assertReleased(call.requestId, model, 'client_left', [[0, 'rate_limited', 429]])
      assert.equal(callsAt(model, 0), 1)
    })
  }

  for (const upstreamId of ['once', 'metered']) {
    for (const [manner, more] of MANNERS) {
      const id = `sai-reserva-${upstreamId}-${manner}`
      const first = plan(id, [{ upstream: upstreamId, does: [hang] }])
      const second = plan(`${id}-b`, [{}])

      test(`a client that hangs up, ${upstreamId}, ${manner}: no fallback model is asked`, async () => {
        const call = askAndLeave(first.id, { models: [second.id], ...more })
        await until(() => callsAt(first, 0) === 1, 'the call is at its upstream')
        await call.leave()
        const event = await onlyResolution(call.requestId)
        assert.deepEqual(
          [event.model_id, event.outcome, event.reason],
          [first.id, 'released', 'client_left'],
        )
        assert.equal(callsAt(second, 0), 0)
      })
    }
  }
})

const troubled = plan('aviso', [
  { upstream: 'healing', does: [status(500)] },
  { upstream: 'healing', does: [status(500)] },
])

interface Incident {
  readonly opened: any
  readonly isOver: boolean
}

async function watchIncident(): Promise<Incident> {
  const find = async (): Promise<unknown> => {
    const { json } = await ask(gateway.node.baseUrl, '/incidents/active')
    return json.incidents.find(({ models }: any) => models.includes(troubled.id))
  }
  for (let i = 0; i < 3; i++) await chat(troubled.id)
  let opened: unknown
  await until(async () => (opened = await find()) !== undefined, 'the incident is there')
  // One route is enough to serve the model again.
  upstream.play(troubled.names[1] as string, good)
  await until(async () => (await chat(troubled.id)).status === 200, 'the model answers again')
  await until(async () => (await find()) === undefined, 'the incident is over')
  return { opened, isOver: true }
}

test('a model without a working route is a public incident, which ends by itself', async () => {
  const { opened, isOver } = await incident
  assert.deepEqual(opened.models, [troubled.id])
  assert.deepEqual(opened.providers, ['roteiro'])
  assert.equal(opened.status, 'open')
  assert.equal(opened.severity, 'major')
  assert.doesNotMatch(JSON.stringify(opened), /healing|aviso\.\d/)
  assert.equal(isOver, true)
})

test('after these tests nothing is held, and the audit passes', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})

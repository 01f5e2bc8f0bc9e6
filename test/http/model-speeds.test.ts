/** `GET /model-speeds`: what anybody reads of how fast models answer, from real calls and from stored days. */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { bucketOf, LATENCY_BUCKETS } from '../../src/platform/lib/latency-buckets.ts'
import { sumModelSpeeds } from '../../src/money/usage/model-speeds.ts'
import { ask, askChat } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  cutInTheMiddle,
  eventOf,
  good,
  startScriptedUpstream,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'

const PAUSE_MS = 250
const USAGE = { prompt_tokens: 4, completion_tokens: 50, total_tokens: 54 }

/** Fifty tokens, in a quarter of a second after the first. */
const slow: Behaviour = async (call, response) => {
  if (call.body.stream !== true) return good(call, response)
  const chunk = (delta: object, finish: string | null = null): string =>
    eventOf({ id: 'x', choices: [{ index: 0, delta, finish_reason: finish }] })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(chunk({ content: 'Era uma vez' }))
  await delay(PAUSE_MS)
  response.write(chunk({ content: ' um saldo.' }, 'stop'))
  response.end(`${eventOf({ choices: [], usage: USAGE })}data: [DONE]\n\n`)
}

let upstream: ScriptedUpstream
let file: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  upstream.play('chat', slow)
  upstream.play('cortado', cutInTheMiddle)
  const model = (id: string, name: string) => ({
    id,
    category: 'llm' as const,
    vendor: 'roteiro',
    context_tokens: 8_192,
    max_output_tokens: 256,
    routes: [{ upstream: 'escondido', model: name }],
    prices: { input: '2', output: '8' },
  })
  file = await writeConfigFile({
    upstreams: [
      { id: 'escondido', kind: 'openai-compatible', base_url: upstream.baseUrl, retries: 0 },
    ],
    models: [model('conversa', 'chat'), model('casa/cortada', 'cortado')],
  })
  gateway = await startGateway({ CATRACA_CONFIG: file.path })
})
after(async () => {
  await gateway.stop()
  await upstream.close()
  await file.remove()
})

function say(content: string, more: object): ReturnType<typeof ask> {
  const body = { model: 'conversa', messages: [{ role: 'user', content }], ...more }
  return askChat(gateway.node.baseUrl, gateway.secret, body, { 'x-svc-cache': '3600' })
}

test('of real calls, streamed answers of an upstream are measured, and neither cached, plain nor broken ones', async () => {
  const { db } = gateway.database
  const servedBy: (string | null)[] = []
  for (const content of ['um', 'um', 'dois', 'um'])
    servedBy.push((await say(content, { stream: true })).headers.get('x-svc-cache'))
  assert.deepEqual(servedBy, ['miss', 'hit', 'miss', 'hit'])
  await say('um', { stream: false })
  await say('um', { stream: true, model: 'casa/cortada' })
  const { rows: events } = await sql<{ isMeasured: boolean; ms: number }>`
    update usage_events set settled_at = settled_at - interval '2 hours'
    returning is_stream and upstream_id = 'escondido' and model_id = 'conversa' as "isMeasured",
      duration_ms - first_byte_ms as ms`.execute(db)
  assert.equal(events.length, 6)
  const ms = Math.min(...events.flatMap((event) => (event.isMeasured ? [event.ms] : [])))
  assert.ok(ms > PAUSE_MS / 5, `${ms} ms after the first byte`)
  await sumModelSpeeds(db)
  const { rows } = await sql<{ model_id: string; calls: bigint; bucket: bigint }>`
    select model_id, sum(calls)::int8 as calls, max(place) filter (where calls > 0) - 1 as bucket
    from model_speed_days, unnest(pace_counts) with ordinality as counted (calls, place) group by 1`.execute(
    db,
  )
  const bucket = BigInt(bucketOf((USAGE.completion_tokens * 1_000) / ms))
  assert.deepEqual(rows, [{ model_id: 'conversa', calls: 2n, bucket }])
  await sql`delete from model_speed_days`.execute(db)
})

/** A day of a model with these bits of customers, at 206 ms and 102 tokens in a second. */
async function storeDay(modelId: string, ago: number, calls: number, bits: number): Promise<void> {
  const countsAt = (at: number) =>
    Array.from({ length: LATENCY_BUCKETS }, (_, bucket) => (bucket === at ? calls : 0))
  await sql`
    insert into model_speed_days select ${modelId}, (now() at time zone 'America/Sao_Paulo')::date - ${ago}::int, now(),
      ${countsAt(60)}::int8[], ${bits}::int8, ${countsAt(52)}::int8[], ${bits}::int8`.execute(
    gateway.database.db,
  )
}

test('anybody reads the medians of each model of the catalog with enough behind them, and of one model by day', async () => {
  const day = (ago: number): string =>
    new Date(Date.now() - ago * 86_400_000).toLocaleDateString('sv-SE', {
      timeZone: 'America/Sao_Paulo',
    })
  await storeDay('conversa', 0, 4, 7)
  await storeDay('conversa', 3, 6, 7)
  await storeDay('casa/cortada', 0, 5, 7)
  await storeDay('casa/cortada', 1, 20, 7)
  await storeDay('gpt-4o', 0, 500, 3)
  await storeDay('saiu-do-catalogo', 0, 500, 7)
  const speed = { first_byte_ms: 206, tokens_per_second: 102 }
  const { baseUrl } = gateway.node
  const all = await ask(baseUrl, '/model-speeds')
  assert.deepEqual(all.json, {
    days: 30,
    models: [
      { model_id: 'casa/cortada', ...speed, by_day: null },
      { model_id: 'conversa', ...speed, by_day: null },
    ],
  })
  assert.equal(all.headers.get('cache-control'), 'public, max-age=300')
  assert.doesNotMatch(all.text, /escondido/)
  const one = await ask(baseUrl, '/model-speeds?model_id=casa/cortada')
  assert.deepEqual(one.json, {
    days: 30,
    models: [{ model_id: 'casa/cortada', ...speed, by_day: [{ day: day(1), ...speed }] }],
  })
  const few = await ask(baseUrl, '/model-speeds?model_id=conversa')
  assert.deepEqual(few.json.models[0].by_day, [], 'no day has enough of its own')
  for (const id of ['gpt-4o', 'saiu-do-catalogo', 'nada', ''])
    assert.deepEqual(
      (await ask(baseUrl, `/model-speeds?model_id=${id}`)).json,
      { days: 30, models: [] },
      id,
    )
  // With a key, a wrong one or none: it is the same.
  for (const secret of [gateway.secret, 'sk-svc-nobody'])
    assert.deepEqual((await ask(baseUrl, '/model-speeds', { secret })).json, all.json)
})

test('the public page of a model says how fast it is, in both languages', async () => {
  const open = async (path: string): Promise<string> =>
    (await fetch(new URL(path, gateway.node.baseUrl))).text()
  const page = await open('/modelos/conversa')
  assert.match(
    page,
    /Medido nos últimos 30 dias[^]*mediana[^]*<dd>206 ms<\/dd>[^]*Tokens por segundo<\/dt>\s*<dd>102<\/dd>/,
  )
  assert.match(
    await open('/modelos/conversa?lang=en'),
    /median[^]*<dd>206 ms<\/dd>[^]*Tokens per second<\/dt>\s*<dd>102<\/dd>/,
  )
  assert.doesNotMatch(await open('/modelos/gpt-4o'), /Tokens por segundo/)
})

/** Videos over real sockets, by the official client: their state, files, readers and faults. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import OpenAI from 'openai'
import { createApiKey } from '../../src/customers/api-keys.ts'
import {
  startSandboxUpstream,
  type SandboxUpstream,
} from '../../src/sandbox/upstream/start-sandbox-upstream.ts'
import { assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  assertUntouched,
  form,
  FORM_TYPE,
  nanoBrl,
  perMillion,
  theOutcome,
} from '../harness/media-calls.ts'
import { openSession } from '../harness/open-session.ts'
import { seedTeam } from '../harness/seed-team.ts'
import { seedCustomer } from '../harness/test-database.ts'
import {
  FILE,
  say,
  startVideoUpstream,
  videoConfig,
  type VideoUpstream,
} from '../harness/video-upstream.ts'

const FX_RATE = '5'
/** The price of so many seconds at a tenth of a dollar. */
const costOf = (seconds: number): bigint => nanoBrl(perMillion(seconds, '100000'), FX_RATE, '1.25')

let upstream: VideoUpstream
let sandbox: SandboxUpstream
let configFile: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startVideoUpstream()
  sandbox = await startSandboxUpstream({ apiKey: 'chave' })
  const { upstreams, models } = videoConfig(upstream) as { upstreams: object[]; models: object[] }
  configFile = await writeConfigFile({
    upstreams: [
      ...upstreams,
      ...(['openrouter', 'xai'] as const).map((video_format) => ({
        id: video_format,
        kind: 'openai-compatible',
        base_url: sandbox.baseUrl,
        api_key_env: 'VEO_KEY',
        video_format,
      })),
      {
        id: 'zephyr-xai',
        kind: 'openai-compatible',
        base_url: upstream.baseUrl,
        api_key_env: 'VEO_KEY',
        video_format: 'xai',
        breaker: { failures: 0 },
      },
      {
        id: 'veo',
        kind: 'google',
        base_url: sandbox.baseUrl.replace('/v1', '/v1beta'),
        api_key_env: 'VEO_KEY',
      },
    ],
    models: [
      ...models,
      ...['openrouter', 'xai', 'zephyr-xai'].map((id) => ({
        id,
        category: 'video',
        markup_multiplier: '1.25',
        routes: [{ upstream: id, model: `${id}-1` }],
        prices: { video_seconds: { default: '0.1' } },
        video: { seconds: [4, 8], sizes: ['1280x720', '480x854', '1000x1000'] },
      })),
      {
        id: 'veo',
        category: 'video',
        markup_multiplier: '1.25',
        routes: [{ upstream: 'veo', model: 'veo-3.1' }],
        prices: { video_seconds: { default: '0.1' } },
      },
    ],
  } as never)
  gateway = await startGateway({
    CATRACA_CONFIG: configFile.path,
    SANDBOX_FX_RATE: FX_RATE,
    VEO_KEY: 'chave',
  })
})
after(async () => {
  await gateway?.stop()
  await Promise.all([upstream?.close(), sandbox?.close(), configFile?.remove()])
})

const clientOf = (apiKey: string): OpenAI =>
  new OpenAI({ baseURL: gateway.node.baseUrl, apiKey, maxRetries: 0 })

const call = (secret: string | undefined, method: string, path: string, body?: unknown) =>
  ask(gateway.node.baseUrl, path, { secret, method, body })

const start = (body: object, secret = gateway.secret): Promise<Asked> =>
  call(secret, 'POST', '/videos', { model: 'film', prompt: 'Uma catraca', ...body })

async function started(body: object = {}, secret = gateway.secret): Promise<any> {
  const answer = await start(body, secret)
  assert.equal(answer.status, 200, answer.text)
  return answer.json
}

async function untilEnded(id: string, secret = gateway.secret): Promise<any> {
  for (const deadline = Date.now() + 30_000; ; await sleep(50)) {
    const { json } = await call(secret, 'GET', `/videos/${id}`)
    if (json.completed_at !== null) return json
    assert.ok(Date.now() < deadline, JSON.stringify(json))
  }
}

test('the official client makes, reads, lists, downloads and deletes a video, over upstreams of every format, and it costs its seconds', async () => {
  for (const [model, size] of [
    ['film', '1280x720'],
    ['veo', '720x1280'],
    ['openrouter', '1280x720'],
    ['xai', '480x854'],
    ['sandbox-video', '1280x720'],
  ] as const) {
    const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '50' })
    const client = clientOf(secret)
    const asked = { model, prompt: 'Uma catraca\nde metrô', seconds: '4', size } as const
    const { data: video, response } = await client.videos.create(asked as never).withResponse()
    assert.deepEqual(
      [video.object, video.model, video.status, video.seconds, video.size, video.prompt],
      ['video', model, 'queued', '4', size, null],
    )
    const done = await untilEnded(video.id, secret)
    assert.deepEqual([done.status, done.progress, done.error], ['completed', 100, null], model)
    const requestId = response.headers.get('x-request-id') as string
    const outcome = await theOutcome(gateway, requestId)
    assert.deepEqual(
      [outcome.usage_kind, outcome.cost_billed_nano_brl, outcome.units],
      ['exact', costOf(4), { video_seconds: 4 }],
    )
    assert.equal(done.cost_billed_brl, Number(costOf(4)) / 1e9)
    assert.equal((await client.videos.retrieve(video.id)).status, 'completed')
    const listed: string[] = []
    for await (const { id } of client.videos.list()) listed.push(id)
    assert.deepEqual(listed, [video.id])
    const file = await client.videos.downloadContent(video.id)
    const { length } = Buffer.from(await file.arrayBuffer())
    assert.ok(model === 'film' ? length === FILE.length : length > 100_000)
    assert.equal(file.headers.get('content-type'), 'video/mp4')
    assert.doesNotMatch(
      JSON.stringify([...file.headers]) + JSON.stringify(done),
      /zephyr|veo-3|xai-1|openrouter-1/i,
    )
    assert.deepEqual(await client.videos.delete(video.id), {
      id: video.id,
      object: 'video.deleted',
      deleted: true,
    })
    await assert.rejects(client.videos.retrieve(video.id), OpenAI.NotFoundError)
  }
  const form = upstream.requests.find(({ kind }) => kind === 'POST')?.text ?? ''
  for (const text of ['name="model"\r\n\r\nfilm', 'Uma catraca\r\nde metrô', '"seconds"\r\n\r\n4'])
    assert.ok(form.includes(text), form)
  assert.ok(
    upstream.requests.some(({ kind, path }) => kind === 'DELETE' && path.endsWith('/vid_zephyr')),
  )
})

test('a video costs what comes back, at the price of its size, and nothing if it fails', async () => {
  const rows: [said: object, status: string, seconds: number, error: string | null][] = [
    [{ status: 'completed', seconds: '4' }, 'completed', 4, null],
    [{ status: 'completed', seconds: 3.2 }, 'completed', 4, null],
    [{ status: 'completed', seconds: '0' }, 'completed', 8, null],
    [{ status: 'completed', seconds: 800 }, 'completed', 8, null],
    [{ status: 'completed', seconds: 'x' }, 'completed', 8, null],
    [{ status: 'failed', error: { code: 'boom' } }, 'failed', 0, 'video_failed'],
    [
      { status: 'failed', error: { code: 'content_policy_violation' } },
      'failed',
      0,
      'moderation_blocked',
    ],
  ]
  for (const [said, status, seconds, code] of rows) {
    upstream.play.GET = say(said)
    const answer = await start({ size: '1920x1080' })
    assert.equal(answer.status, 200, answer.text)
    const done = await untilEnded(answer.json.id)
    assert.deepEqual([done.status, done.error?.code ?? null], [status, code])
    const { cost_billed_nano_brl: billed, held_nano_brl: held } = await theOutcome(
      gateway,
      answer.requestId,
    )
    assert.deepEqual([billed, held], [2n * costOf(seconds), 2n * costOf(8)])
    assert.equal(done.cost_billed_brl, Number(billed) / 1e9)
  }
  delete upstream.play.GET
})

test('xAI: its words for a video, and an address that gets no key and leads nowhere private', async () => {
  const key = 'Bearer chave'
  const elsewhere = await startVideoUpstream()
  const own = upstream.baseUrl.replace('/v1', '/film/content')
  const done = (url: string, more = {}) =>
    say({ status: 'done', video: { url, duration: 4, ...more } })
  const rows = [
    [done(own), 'completed', null, 200],
    [done(own, { duration: 3.2 }), 'completed', null, 200],
    [done(own, { respect_moderation: false }), 'failed', 'moderation_blocked', 400],
    [say({ status: 'expired' }), 'failed', 'video_failed', 400],
    [
      say({ status: 'failed', error: { code: 'content_policy_violation' } }),
      'failed',
      'moderation_blocked',
      400,
    ],
    [done(elsewhere.baseUrl.replace('/v1', '/content')), 'failed', 'video_failed', 400],
    [done('https://127.0.0.1/content'), 'failed', 'video_failed', 400],
    [done('file:///etc/passwd'), 'failed', 'video_failed', 400],
    [done('https://user:secret@localhost/content'), 'failed', 'video_failed', 400],
    [say({ status: 'done' }), 'failed', 'video_failed', 400],
    // A name is looked up only when the file is read.
    [done('https://catraca-tests.example.com/content'), 'completed', null, 502],
  ] as const
  const asked = await Promise.all(
    rows.map(async (_row, at) => {
      upstream.play.POST = (response, request) =>
        say({ request_id: `grok-job-${JSON.parse(request.text).prompt}` }, 202)(response, request)
      const answer = await start({ model: 'zephyr-xai', seconds: '4', prompt: String(at) })
      assert.equal(answer.status, 200, answer.text)
      return answer
    }),
  )
  const saidOf = (path: string) => rows[Number(/grok-job-(\d+)$/.exec(path)?.[1])]?.[0]
  // The first time, the upstream has only accepted it.
  upstream.play.GET = (response, request) =>
    upstream.requests.filter(({ path }) => path === request.path).length === 1
      ? void response.writeHead(202).end()
      : saidOf(request.path)?.(response, request)
  for (const [at, [, status, code, content]] of rows.entries()) {
    const { json, requestId } = asked[at] as Asked
    const ended = await untilEnded(json.id)
    assert.deepEqual([ended.status, ended.error?.code ?? null], [status, code])
    const { cost_billed_nano_brl: billed } = await theOutcome(gateway, requestId)
    assert.equal(billed, status === 'completed' ? costOf(4) : 0n)
    const read = await call(gateway.secret, 'GET', `/videos/${json.id}/content`)
    assert.equal(read.status, content, read.text.slice(0, 200))
  }
  const sent = upstream.requests.findLast(({ kind }) => kind === 'POST')
  assert.equal(sent?.path, '/v1/videos/generations')
  const { prompt: _prompt, ...fields } = JSON.parse(sent.text)
  assert.deepEqual(fields, {
    model: 'zephyr-xai-1',
    duration: 4,
    aspect_ratio: '16:9',
    resolution: '720p',
  })
  const jobs = upstream.requests.filter(({ path }) => path.includes('/grok-job-'))
  const files = upstream.requests.filter(({ path }) => path === '/film/content')
  assert.ok(jobs.length > 0 && jobs.every(({ authorization }) => authorization === key))
  assert.deepEqual(
    files.map(({ authorization }) => authorization),
    [undefined, undefined],
  )
  assert.deepEqual(elsewhere.requests, [])
  await elsewhere.close()
  const shapeless = await start({ model: 'zephyr-xai', size: '1000x1000' })
  assertRefusal(shapeless, 400, 'invalid_request')
  delete upstream.play.POST
  delete upstream.play.GET
})

test('a video that the upstream does not take costs nothing, and names no upstream', async () => {
  for (const [answer, status, code] of [
    [
      say({ error: { message: 'Zephyr', code: 'content_policy_violation' } }, 400),
      400,
      'content_policy_violation',
    ],
    [say({ error: { message: 'Zephyr is down' } }, 500), 502, 'upstream_error'],
    [say({ status: 'queued' }), 502, 'upstream_error'],
    [say({ id: '../../models', status: 'queued' }), 502, 'upstream_error'],
    [say('{"id":'), 502, 'upstream_error'],
  ] as const) {
    upstream.play.POST = answer
    const asked = await start({})
    assertRefusal(asked, status, code)
    assert.equal((await theOutcome(gateway, asked.requestId)).outcome, 'released')
  }
  delete upstream.play.POST
})

test('400 invalid_request: each faulty field of a video, in Portuguese, and nothing is held', async () => {
  const file = Buffer.concat([
    form([
      ['model', 'film'],
      ['prompt', 'Oi'],
      ['input_reference', Buffer.from('png'), 'a.png'],
    ]),
  ])
  const refused = await Promise.all([
    ...[
      { prompt: undefined },
      { prompt: '' },
      { prompt: 'x'.repeat(32_001) },
      { seconds: '5' },
      { seconds: 'oito' },
      { seconds: 0 },
      { seconds: 4.5 },
      { size: '640x480' },
      { size: 'grande' },
      { input_reference: { image_url: 'https://example.com/a.png' } },
      { model: 'sandbox-chat' },
      { model: undefined },
    ].map((fault) => start(fault)),
    ask(gateway.node.baseUrl, '/videos', {
      secret: gateway.secret,
      body: file,
      headers: { 'content-type': FORM_TYPE },
    }),
    ask(gateway.node.baseUrl, '/videos', {
      secret: gateway.secret,
      body: file.subarray(0, 60),
      headers: { 'content-type': FORM_TYPE },
    }),
  ])
  for (const answer of refused) assertRefusal(answer, 400, 'invalid_request')
  await assertUntouched(
    gateway,
    refused.map(({ requestId }) => requestId),
  )
})

test('a video is seen by its own key, keys with more than calls, and the owner, and by nobody else', async () => {
  const { db } = gateway.database
  const { secret, customerId } = await seedCustomer(db, { balanceBrl: '500' })
  const newKey = async (more: object = {}): Promise<string> => {
    const input = { customerId, name: 'outra', requestsPerMinute: 1_000, scope: 'calls' as const }
    return (await createApiKey(db, { ...input, ...more })).secret
  }
  const teamId = await seedTeam(db, customerId)
  const [own, sibling, ofTeam, ofTeamToo] = [
    await newKey(),
    await newKey(),
    await newKey({ teamId }),
    await newKey({ teamId }),
  ]
  const session = await openSession({ db, dataDir: gateway.node.dataDir }, customerId)
  const stranger = (await seedCustomer(db, { balanceBrl: '5' })).secret
  for (const [by, readers, others] of [
    [own, [own, secret, session], [sibling, ofTeam, stranger]],
    [ofTeam, [ofTeam], [ofTeamToo, own, secret, session, stranger]],
  ] as const) {
    const { id } = await started({}, by)
    await untilEnded(id, by)
    for (const reader of readers) {
      assert.equal((await call(reader, 'GET', `/videos/${id}`)).status, 200)
      assert.equal((await call(reader, 'GET', `/videos/${id}/content`)).status, 200)
      const { data } = (await call(reader, 'GET', '/videos')).json
      assert.ok(data.some((each: { id: string }) => each.id === id))
    }
    for (const other of others) {
      for (const answer of [
        await call(other, 'GET', `/videos/${id}`),
        await call(other, 'GET', `/videos/${id}/content`),
        await call(other, 'DELETE', `/videos/${id}`),
      ])
        assertRefusal(answer, 404, 'video_not_found')
      const { data } = (await call(other, 'GET', '/videos')).json
      assert.ok(data.every((each: { id: string }) => each.id !== id))
    }
    assertRefusal(await call(undefined, 'GET', `/videos/${id}`), 401, 'authentication_failed')
  }
})

test('videos are listed in pages, in either order', async () => {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '500' })
  const ids: string[] = []
  for (let nth = 0; nth < 3; nth += 1) ids.push((await started({ seconds: 4 }, secret)).id)
  for (const id of ids) await untilEnded(id, secret)
  const page = async (query: string) => {
    const { json } = await call(secret, 'GET', `/videos?${query}`)
    return [
      json.data.map((each: { id: string }) => each.id),
      json.has_more,
      json.first_id,
      json.last_id,
    ]
  }
  const [first, second, third] = ids as [string, string, string]
  assert.deepEqual(await page('limit=2'), [[third, second], true, third, second])
  assert.deepEqual(await page(`limit=2&after=${second}`), [[first], false, first, first])
  assert.deepEqual(await page('order=asc'), [ids, false, first, third])
  assert.deepEqual(await page(`order=asc&after=${third}`), [[], false, null, null])
  assertRefusal(await call(secret, 'GET', '/videos?after=video_x'), 400, 'invalid_request')
  const listed: string[] = []
  for await (const { id } of clientOf(secret).videos.list({ limit: 1 })) listed.push(id)
  assert.deepEqual(listed, ids.toReversed())
})

test('a video that is being made is not deleted; one that has ended is gone for everybody', async () => {
  upstream.play.GET = say({ status: 'in_progress', progress: 40 })
  const { id } = await started()
  for (let progress = 0; progress !== 40; await sleep(50))
    progress = (await call(gateway.secret, 'GET', `/videos/${id}`)).json.progress
  assertRefusal(await call(gateway.secret, 'DELETE', `/videos/${id}`), 400, 'video_not_ready')
  assertRefusal(await call(gateway.secret, 'GET', `/videos/${id}/content`), 400, 'video_not_ready')
  delete upstream.play.GET
  await untilEnded(id)
  assert.equal((await call(gateway.secret, 'DELETE', `/videos/${id}`)).status, 200)
  assertRefusal(await call(gateway.secret, 'GET', `/videos/${id}`), 404, 'video_not_found')
  assertRefusal(await call(gateway.secret, 'DELETE', `/videos/${id}`), 404, 'video_not_found')
})

test('a file that is not there, or breaks off, is never a whole one', async () => {
  const { id } = await started()
  await untilEnded(id)
  const path = `/videos/${id}/content`
  upstream.play.CONTENT = say({ error: 'Zephyr' }, 404)
  assertRefusal(await call(gateway.secret, 'GET', path), 404, 'video_not_found')
  upstream.play.CONTENT = say({ error: 'Zephyr' }, 503)
  assertRefusal(await call(gateway.secret, 'GET', path), 502, 'upstream_error')
  assertRefusal(
    await call(gateway.secret, 'GET', `${path}?variant=thumbnail`),
    400,
    'invalid_request',
  )
  upstream.play.CONTENT = (response) => {
    response.writeHead(200, { 'content-type': 'video/mp4' })
    response.write(FILE, () => response.destroy())
  }
  const cut = await fetch(`${gateway.node.baseUrl}${path}`, {
    headers: { authorization: `Bearer ${gateway.secret}` },
  })
  await assert.rejects(cut.arrayBuffer())
  delete upstream.play.CONTENT
  const whole = await clientOf(gateway.secret).videos.downloadContent(id)
  assert.deepEqual(Buffer.from(await whole.arrayBuffer()), FILE)
})

test('the shield masks the prompt before it leaves', async () => {
  const { db } = gateway.database
  const { secret, customerId } = await seedCustomer(db, { balanceBrl: '50' })
  await db
    .updateTable('customers')
    .set({ shield_action: 'mask' })
    .where('id', '=', customerId)
    .execute()
  await started({ prompt: 'O CPF é 529.982.247-25' }, secret)
  const sent = upstream.requests.filter(({ kind }) => kind === 'POST').at(-1)?.text ?? ''
  assert.ok(sent.includes('name="prompt"') && !sent.includes('529'), sent)
})

test('a video is refused where the balance does not cover its seconds', async () => {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '4.9' })
  assertRefusal(await start({}, secret), 402, 'insufficient_balance')
  const { id } = await started({ seconds: '4' }, secret)
  assert.equal((await untilEnded(id, secret)).status, 'completed')
})

test('after all videos the audit is clean', () => assertAudit(gateway.database))

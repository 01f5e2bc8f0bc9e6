/** Files and batches over HTTP: what they answer, what is refused, and what lines cost. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { BATCHES_MAX } from '../../src/customers/batches/batches.ts'
import { STORED_BYTES_MAX } from '../../src/customers/batches/files.ts'
import { publicId } from '../../src/http/batches/batch-lines.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { ask } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import {
  beginBatch,
  chatLine,
  readResultFile,
  untilEnded,
  uploadLines,
} from '../harness/batches.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { seedCustomer } from '../harness/test-database.ts'

let gateway: TestGateway
let base: string
let secret: string

before(async () => {
  gateway = await startGateway()
  base = gateway.node.baseUrl
  ;({ secret } = gateway)
})
after(() => gateway.stop())

async function chargesOf(customerId: string): Promise<{ calls: number; billed: bigint }> {
  const { rows } = await sql<{ calls: number; billed: bigint }>`
    select count(*)::int4 as calls, coalesce(sum(cost_billed_nano_brl), 0)::int8 as billed
    from usage_events where customer_id = ${customerId} and outcome = 'charged'`.execute(
    gateway.database.db,
  )
  return rows[0] as { calls: number; billed: bigint }
}

test('each line of a batch is answered and charged as the call that it is', async () => {
  const { customerId, secret } = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
  const alone = await ask(base, '/chat/completions', { secret, body: (chatLine('x') as any).body })
  const before = await chargesOf(customerId)
  const id = await beginBatch(base, secret, [
    chatLine('um'),
    chatLine('dois'),
    chatLine('sem modelo', { model: 'nenhum' }),
    chatLine('stream', { stream: true }),
  ])
  const ended = await untilEnded(base, secret, id)
  assert.equal(ended.status, 'completed')
  assert.deepEqual(ended.request_counts, { total: 4, completed: 2, failed: 2 })
  const output = await readResultFile(base, secret, ended.output_file_id)
  assert.deepEqual(
    output.map((line) => line.custom_id),
    ['um', 'dois'],
  )
  for (const { response } of output) {
    assert.equal(response?.status_code, 200)
    assert.equal(response?.body.cost_billed_brl, alone.json.cost_billed_brl)
  }
  const errors = await readResultFile(base, secret, ended.error_file_id)
  assert.deepEqual(
    errors.map(({ custom_id, response }) => [
      custom_id,
      response?.status_code,
      response?.body.error.code,
    ]),
    [
      ['sem modelo', 404, 'model_not_found'],
      ['stream', 400, 'invalid_request'],
    ],
  )
  const { calls, billed } = await chargesOf(customerId)
  assert.deepEqual([calls - before.calls, billed], [2, 3n * before.billed])
  const { json: sessions } = await ask(base, '/me/sessions', { secret })
  assert.equal(sessions.sessions[0].session_id, id)
  await assertAudit(gateway.database)
})

test('a batch of Messages is read line by line, in its own format, and can be deleted', async () => {
  const params = {
    model: 'sandbox-chat',
    max_tokens: 20,
    messages: [{ role: 'user', content: 'Olá' }],
  }
  const requests = [
    { custom_id: 'bom', params },
    { custom_id: 'mau', params: { ...params, max_tokens: 0 } },
  ]
  const created = await ask(base, '/messages/batches', { secret, body: { requests } })
  assert.deepEqual([created.status, created.json.processing_status], [200, 'in_progress'])
  const path = `/messages/batches/${created.json.id}`
  const ended = await untilEnded(base, secret, created.json.id)
  assert.deepEqual(ended.request_counts, {
    processing: 0,
    succeeded: 1,
    errored: 1,
    canceled: 0,
    expired: 0,
  })
  assert.equal(ended.results_url, `${new URL(base).origin}/v1${path}/results`)
  const { text } = await ask(base, `${path}/results`, { secret })
  const [good, bad] = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    [good.custom_id, good.result.type, good.result.message.type],
    ['bom', 'succeeded', 'message'],
  )
  assert.deepEqual(
    [bad.custom_id, bad.result.type, bad.result.error.error.type],
    ['mau', 'errored', 'invalid_request_error'],
  )
  const listed = await ask(base, '/messages/batches?limit=1', { secret })
  assert.deepEqual(listed.json.data, [ended])
  assert.equal((await ask(base, `/batches/${created.json.id}`, { secret })).status, 404)
  const deleted = await ask(base, path, { secret, method: 'DELETE' })
  assert.deepEqual(deleted.json, { id: created.json.id, type: 'message_batch_deleted' })
  const gone = await ask(base, path, { secret })
  assert.deepEqual([gone.status, gone.json.error.type], [404, 'not_found_error'])
})

test('a file is what was uploaded, byte by byte, until it is deleted', async () => {
  // No line ends where a part does.
  const text = `{"á": "${'é'.repeat(1_500_001)}"}\n`
  const { json: file } = await uploadLines(base, secret, text)
  assert.deepEqual(
    [file.object, file.bytes, file.filename, file.purpose, file.status],
    ['file', Buffer.byteLength(text), 'linhas.jsonl', 'batch', 'processed'],
  )
  const path = `/files/${file.id}`
  assert.deepEqual((await ask(base, path, { secret })).json, file)
  const content = await ask(base, `${path}/content`, { secret })
  assert.ok(content.text === text)
  const { json: listed } = await ask(base, '/files?purpose=batch&limit=1', { secret })
  assert.deepEqual([listed.data, listed.last_id], [[file], file.id])
  const { json: others } = await ask(base, `/files?purpose=batch_output&after=${file.id}`, {
    secret,
  })
  assert.ok(others.data.every((each: any) => each.purpose === 'batch_output'))
  const deleted = await ask(base, path, { secret, method: 'DELETE' })
  assert.deepEqual(deleted.json, { id: file.id, object: 'file', deleted: true })
  for (const gone of [path, `${path}/content`])
    assert.equal((await ask(base, gone, { secret })).json.error.code, 'file_not_found')
})

test('what is no file of lines begins no batch, and the line is named', async () => {
  for (const fields of [
    {},
    { purpose: 'fine-tune' },
    { purpose: 'batch', 'expires_after[seconds]': '1' },
  ]) {
    const refused = await uploadLines(base, secret, '{}', fields)
    assert.deepEqual([refused.status, refused.json.error.code], [400, 'invalid_request'])
  }
  const good = JSON.stringify(chatLine('um'))
  const wrong: [string, RegExp][] = [
    ['', /nenhuma linha/],
    ['\n \n', /nenhuma linha/],
    [`${good}\n{`, /linha 2: não é JSON/],
    [`${good}\n\n[]`, /linha 3: não é um objeto/],
    [`${good}\n${good}`, /linha 2: custom_id: já/],
    [JSON.stringify({ ...chatLine('um'), method: 'GET' }), /linha 1: method/],
    [JSON.stringify({ ...chatLine('um'), url: '/v1/embeddings' }), /linha 1: url/],
    [JSON.stringify({ ...chatLine('um'), body: 'x' }), /linha 1: body/],
    [JSON.stringify(chatLine('')), /linha 1: custom_id/],
  ]
  for (const [text, message] of wrong) {
    const { json: file } = await uploadLines(base, secret, text || ' ')
    const body = {
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    }
    const refused = await ask(base, '/batches', { secret, body })
    assert.equal(refused.status, 400, refused.text)
    assert.match(refused.json.error.message, message)
  }
  const body = { input_file_id: 'file-1', endpoint: '/v1/embeddings', completion_window: '24h' }
  assert.equal((await ask(base, '/batches', { secret, body })).json.error.code, 'file_not_found')
  for (const other of [{ endpoint: '/v1/messages' }, { completion_window: '1h' }])
    assert.equal((await ask(base, '/batches', { secret, body: { ...body, ...other } })).status, 400)
  const { json } = await ask(base, '/batches', { secret })
  assert.ok(json.data.every((each: any) => each.request_counts.total > 0))
})

test('a batch begins once for requests with the same Idempotency-Key', async () => {
  const { json: file } = await uploadLines(base, secret, [chatLine('um')])
  const body = {
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  }
  const headers = { 'idempotency-key': 'lote-1' }
  const first = await ask(base, '/batches', { secret, body, headers })
  const second = await ask(base, '/batches', { secret, body, headers })
  assert.deepEqual([first.status, second.json.id], [200, first.json.id])
})

test('of a canceled batch the lines that run end, and the others are errors that cost nothing', async () => {
  const { customerId, secret } = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
  const lines = Array.from({ length: 40 }, (_, index) =>
    chatLine(`${index}`, { model: 'sandbox-slow' }),
  )
  const id = await beginBatch(base, secret, lines)
  while ((await openHolds(customerId)) === 0);
  const { json } = await ask(base, `/batches/${id}/cancel`, { secret, method: 'POST' })
  assert.equal(json.status, 'cancelling')
  const ended = await untilEnded(base, secret, id)
  assert.equal(ended.status, 'cancelled')
  const { completed, failed } = ended.request_counts
  assert.ok(completed > 0 && completed < 40 && completed + failed === 40, JSON.stringify(ended))
  const errors = await readResultFile(base, secret, ended.error_file_id)
  assert.ok(errors.every(({ error }) => error?.code === 'batch_cancelled'))
  assert.equal((await chargesOf(customerId)).calls, completed)
  const again = await ask(base, `/batches/${id}/cancel`, { secret, method: 'POST' })
  assert.equal(again.status, 400)
})

async function openHolds(customerId: string): Promise<number> {
  const { rows } = await sql`select from holds where customer_id = ${customerId}`.execute(
    gateway.database.db,
  )
  return rows.length
}

test('lines whose batch is out of time, or whose key is revoked or has no budget, are errors', async () => {
  const { db } = gateway.database
  const late = await seedCustomer(db, { balanceBrl: '10' })
  const lateId = await waitingBatch(late)
  await sql`update batches set expires_at = now() where customer_id = ${late.customerId}`.execute(
    db,
  )
  const expired = await untilEnded(base, late.secret, lateId)
  assert.deepEqual([expired.status, expired.output_file_id], ['expired', null])
  const [line] = await readResultFile(base, late.secret, expired.error_file_id)
  assert.equal(line?.error?.code, 'batch_expired')

  const revoked = await seedCustomer(db, { balanceBrl: '10' })
  const other = await createApiKey(db, {
    customerId: revoked.customerId,
    name: 'outra',
    scope: 'manage',
    requestsPerMinute: 1_000,
  })
  const revokedId = await waitingBatch(revoked)
  const path = `/api-keys/${revoked.key.id}`
  assert.ok((await ask(base, path, { secret: other.secret, method: 'DELETE' })).status < 300)
  const stopped = await untilEnded(base, other.secret, revokedId)
  const [refused] = await readResultFile(base, other.secret, stopped.error_file_id)
  assert.equal(refused?.response?.status_code, 401)

  const budget = { period: 'lifetime', limitPicoUsd: 1n } as const
  const capped = await seedCustomer(db, { balanceBrl: '10', budget })
  const cappedId = await beginBatch(base, capped.secret, [chatLine('um')])
  const full = await untilEnded(base, capped.secret, cappedId)
  const [short] = await readResultFile(base, capped.secret, full.error_file_id)
  assert.equal(short?.response?.body.error.code, 'key_budget_exceeded')
  for (const { customerId } of [late, revoked, capped])
    assert.equal((await chargesOf(customerId)).calls, 0)
})

/** A batch whose line is told to wait, again and again. */
const waitingBatch = ({ secret }: { secret: string }): Promise<string> =>
  beginBatch(base, secret, [chatLine('um', { model: 'sandbox-error-429' })])

test('files and batches are listed in pages', async () => {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
  const made: Record<string, string[]> = { '/files': [], '/batches': [], '/messages/batches': [] }
  const params = {
    model: 'sandbox-error-429',
    max_tokens: 20,
    messages: [{ role: 'user', content: 'Olá' }],
  }
  const requests = [{ custom_id: 'um', params }]
  for (let each = 0; each < 3; each++) {
    const batch = await beginBatch(base, secret, [chatLine('um', { model: 'sandbox-error-429' })])
    made['/batches']?.unshift(batch)
    const { json: file } = await ask(base, '/files?limit=1', { secret })
    made['/files']?.unshift(file.data[0].id)
    const { json } = await ask(base, '/messages/batches', { secret, body: { requests } })
    made['/messages/batches']?.unshift(json.id)
  }
  for (const [path, ids] of Object.entries(made)) {
    const after = path === '/messages/batches' ? 'after_id' : 'after'
    const first = await ask(base, `${path}?limit=2`, { secret })
    const rest = await ask(base, `${path}?limit=2&${after}=${ids[1]}`, { secret })
    assert.deepEqual(
      [first, rest].map(({ json }) => [json.data.map(({ id }: any) => id), json.has_more]),
      [
        [ids.slice(0, 2), true],
        [ids.slice(2), false],
      ],
    )
    assert.deepEqual([first.json.first_id, first.json.last_id], ids.slice(0, 2))
    assert.equal((await ask(base, `${path}?${after}=x`, { secret })).status, 400)
  }
  const ofMessages = made['/messages/batches'] as string[]
  const before = await ask(base, `/messages/batches?limit=1&before_id=${ofMessages[2]}`, { secret })
  assert.deepEqual([before.json.data[0].id, before.json.has_more], [ofMessages[1], true])
  const oldest = await ask(base, '/files?order=asc&limit=1', { secret })
  assert.equal(oldest.json.data[0].id, made['/files']?.[2])
  const { json } = await ask(base, `/messages/batches/${ofMessages[0]}/cancel`, {
    secret,
    method: 'POST',
  })
  assert.equal(json.processing_status, 'canceling')
  const ended = await untilEnded(base, secret, ofMessages[0] as string)
  assert.equal(ended.request_counts.canceled, 1)
})

test('an account has so many files and batches at once, and one more is refused', async () => {
  const { db } = gateway.database
  const { customerId, key, secret } = await seedCustomer(db, { balanceBrl: '10' })
  const { json: file } = await uploadLines(base, secret, [chatLine('um')])
  await sql`insert into batches (id, customer_id, api_key_id, endpoint, lines, expires_at)
    select gen_random_uuid(), ${customerId}, ${key.id}, '/v1/messages', 1, now() + interval '1 hour'
    from generate_series(1, ${BATCHES_MAX}::int4)`.execute(db)
  const body = {
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  }
  const refused = await ask(base, '/batches', { secret, body })
  assert.deepEqual([refused.status, refused.json.error.code], [409, 'too_many_batches'])
  // What a batch has still to call counts until it ends.
  const runs = (bytes: number) =>
    sql`update batches set input_bytes = ${bytes} where customer_id = ${customerId}`.execute(db)
  await runs(Math.ceil(STORED_BYTES_MAX / BATCHES_MAX))
  const waiting = await uploadLines(base, secret, '{}')
  assert.deepEqual([waiting.status, waiting.json.error.code], [409, 'too_many_files'])
  await runs(0)
  await sql`update files set bytes = ${STORED_BYTES_MAX} where customer_id = ${customerId}`.execute(
    db,
  )
  const full = await uploadLines(base, secret, '{}')
  assert.deepEqual([full.status, full.json.error.code], [409, 'too_many_files'])
  const { rows } = await sql`select from files where customer_id = ${customerId}`.execute(db)
  assert.equal(rows.length, 1)
})

test('a file that is deleted while a batch reads it makes no batch of a part of its lines', async () => {
  const { db } = gateway.database
  const { customerId, secret } = await seedCustomer(db, { balanceBrl: '0' })
  const text = 'x'.repeat(800_000)
  const lines = ['um', 'dois', 'três'].map((id) => chatLine(id, { user: text }))
  const { json: file } = await uploadLines(base, secret, lines)
  await sql`delete from file_parts where customer_id = ${customerId} and place > 0`.execute(db)
  const body = {
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  }
  const refused = await ask(base, '/batches', { secret, body })
  assert.deepEqual([refused.status, refused.json.error.code], [404, 'file_not_found'])
  await sql`delete from file_parts where customer_id = ${customerId}`.execute(db)
  const content = await ask(base, `/files/${file.id}/content`, { secret })
  assert.deepEqual([content.status, content.json.error.code], [404, 'file_not_found'])
  const { rows } = await sql`select from batches where customer_id = ${customerId}`.execute(db)
  assert.equal(rows.length, 0)
})

test('a line that no key opens ends with its batch', async () => {
  const { db } = gateway.database
  const { customerId, key, secret } = await seedCustomer(db, { balanceBrl: '0' })
  const batch = createId()
  await sql`insert into batches (id, customer_id, api_key_id, endpoint, lines, expires_at)
    values (${batch}, ${customerId}, ${key.id}, '/v1/messages', 1, now())`.execute(db)
  await sql`insert into batch_lines (id, batch_id, customer_id, place, input_sealed)
    values (${createId()}, ${batch}, ${customerId}, 0, 'sealed by a key that was lost')`.execute(db)
  const ended = await untilEnded(base, secret, publicId('msgbatch_', batch))
  assert.equal(ended.request_counts.expired, 1)
})

test('batches that one customer makes at once leave the database to others', async () => {
  const { baseUrl } = gateway.node
  const one = await seedCustomer(gateway.database.db, { balanceBrl: '0' })
  const other = await seedCustomer(gateway.database.db, { balanceBrl: '0' })
  const twice = await uploadLines(baseUrl, one.secret, [chatLine('um'), chatLine('um')])
  const body = {
    input_file_id: twice.json.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  }
  const made = Array.from({ length: 40 }, (_each, at) =>
    ask(baseUrl, '/batches', {
      secret: one.secret,
      body,
      ...(at % 2 === 0 ? { headers: { 'idempotency-key': `chave-${at}` } } : {}),
    }),
  )
  for (let asked = 0; asked < 5; asked++) {
    const { status, askedAtMs } = await ask(baseUrl, '/batches', { secret: other.secret })
    assert.equal(status, 200)
    assert.ok(Date.now() - askedAtMs < 3_000, `${Date.now() - askedAtMs} ms`)
  }
  const statuses = new Set((await Promise.all(made)).map(({ status }) => status))
  assert.deepEqual(
    [...statuses].toSorted((one, two) => one - two),
    [400, 429],
  )
})

test('metadata that the database stores in no JSON is refused', async () => {
  const { json: file } = await uploadLines(base, secret, [chatLine('um')])
  for (const metadata of [
    String.raw`{"a\u0000":"b"}`,
    String.raw`{"a":"\ud800"}`,
    String.raw`{"\udfff":"b"}`,
  ]) {
    const body = `{"input_file_id":"${file.id}","endpoint":"/v1/chat/completions","completion_window":"24h","metadata":${metadata}}`
    const refused = await ask(base, '/batches', { secret, body })
    assert.deepEqual([refused.status, refused.json.error.code], [400, 'invalid_request'], metadata)
  }
})

/** Saved prompts and their versions, as their owner and as anybody else sees them. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { seedCustomer } from '../harness/test-database.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { assertHeaders } from '../harness/assert-answer.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'

let gateway: TestGateway
let stranger: string

before(async () => {
  gateway = await startGateway()
  stranger = (await seedCustomer(gateway.database.db, { balanceBrl: '10' })).secret
})

after(() => gateway.stop())

interface Call {
  readonly secret?: string
  readonly body?: unknown
}

function call(method: string, path: string, { secret, body }: Call = {}): Promise<Asked> {
  const options = { method, secret: secret ?? gateway.secret, body }
  return ask(gateway.node.baseUrl, `/me/prompts${path}`, options)
}

async function create(fields: object = {}, secret?: string): Promise<any> {
  const body = { name: 'Resumo de Reunião', body: 'Resuma: {{texto}}', ...fields }
  const answer = await call('POST', '', { body, ...(secret === undefined ? {} : { secret }) })
  assert.equal(answer.status, 201, answer.text)
  return answer.json
}

/** A customer of its own, where a test looks at all the prompts of one. */
async function newOwner(): Promise<string> {
  return (await seedCustomer(gateway.database.db, { balanceBrl: '1' })).secret
}

function assertInvalid(answer: Asked, details: RegExp): void {
  assert.equal(answer.status, 400, answer.text)
  assert.equal(answer.json.error, 'invalid_request')
  assert.match(answer.json.details, details)
}

function assertNotFound(answer: Asked): void {
  assert.equal(answer.status, 404, answer.text)
  assert.deepEqual(answer.json, { error: 'prompt_not_found' })
}

async function versionsOf(id: string): Promise<any[]> {
  return (await call('GET', `/${id}/versions?limit=200`)).json.versions
}

test('a prompt is created as version 1, with the variables of its text, and read back', async () => {
  const secret = await newOwner()
  const answer = await call('POST', '', {
    secret,
    body: { name: 'Tradução técnica', body: 'De {{de}} para {{ para }}: {{de}}' },
  })
  assert.equal(answer.status, 201)
  assertHeaders(answer, answer.requestId)
  const { id, created_at, updated_at, ...rest } = answer.json
  assert.deepEqual(rest, {
    slug: 'traducao-tecnica',
    name: 'Tradução técnica',
    description: null,
    body: 'De {{de}} para {{ para }}: {{de}}',
    variables: ['de', 'para'],
    tags: [],
    default_model: null,
    parameters: {},
    version: 1,
  })
  assert.match(id, /^[0-9a-f-]{36}$/)
  assert.equal(new Date(created_at).toISOString(), created_at)
  assert.equal(new Date(updated_at).toISOString(), updated_at)
  const found = await call('GET', `/${id}`, { secret })
  assert.deepEqual(found.json, answer.json)
  const list = await call('GET', '', { secret })
  assert.deepEqual(list.json, { prompts: [answer.json], next_cursor: null })
})

test('every given field is stored unchanged', async () => {
  const fields = {
    description: 'Uma descrição 😀',
    variables: ['texto', 'reserva'],
    tags: ['ata', 'vendas', 'ata'],
    default_model: 'sandbox-chat',
    parameters: { max_tokens: 9, temperature: 0.5, top_p: 0.25, provider: { only: ['x'] } },
  }
  const made = await create(fields)
  assert.deepEqual(
    [made.description, made.variables, made.tags, made.default_model, made.parameters],
    [
      fields.description,
      ['texto', 'reserva'],
      ['ata', 'vendas'],
      'sandbox-chat',
      fields.parameters,
    ],
  )
})

test('texts of the maximum length are stored, counted in characters, not in bytes or code units', async () => {
  const whole = {
    name: '😀'.repeat(120),
    body: '😀'.repeat(32_000),
    tags: ['😀'.repeat(24)],
    variables: ['v'.repeat(40)],
    description: '',
  }
  const made = await create(whole)
  assert.deepEqual([made.name, made.body, made.tags], [whole.name, whole.body, whole.tags])
  const shortest = await create({ name: '😀é1', body: 'x' })
  assert.equal(shortest.name, '😀é1')
  const note = '😀'.repeat(200)
  const changed = await call('PATCH', `/${made.id}`, { body: { body: 'y', change_note: note } })
  assert.equal(changed.status, 200, changed.text)
  assert.equal((await versionsOf(made.id))[0].change_note, note)
  // Half a pair is no character; what stands for it is one.
  const half = await create({ name: '\ud83d\ud83d\ud83d', body: '\ude00'.repeat(32_000) })
  assert.equal(half.name, '\ufffd'.repeat(3))
  const same = await call('PATCH', `/${half.id}`, { body: { body: '\ude00'.repeat(32_000) } })
  assert.equal(same.json.version, 1, 'the same text as before')
})

const BAD_FIELDS: readonly (readonly [fields: object, details: RegExp])[] = [
  [{ name: 'ab' }, /^name: /],
  [{ name: '😀'.repeat(121) }, /^name: /],
  [{ name: 'com\u0000nulo' }, /^name: /],
  [{ name: 7 }, /^name: /],
  [{ name: null }, /^name: /],
  [{ body: '' }, /^body: /],
  [{ body: 'x'.repeat(32_001) }, /^body: /],
  [{ body: 'com\u0000nulo' }, /^body: /],
  [{ body: Array.from({ length: 101 }, (_, n) => `{{v${n}}}`).join('') }, /^body: /],
  [{ description: 'com\u0000nulo' }, /^description: /],
  [{ description: 'x'.repeat(2_001) }, /^description: /],
  [{ variables: ['nome composto', 'texto'] }, /^variables\.0: /],
  [{ variables: ['v'.repeat(41)] }, /^variables\.0: /],
  [{ variables: [''] }, /^variables\.0: /],
  [{ variables: Array.from({ length: 101 }, (_, n) => `v${n}`) }, /^variables: /],
  [{ body: '{{texto}}', variables: ['outra'] }, /^variables: texto /],
  [{ body: '{{texto}}', variables: [] }, /^variables: texto /],
  [{ tags: ['t'.repeat(25)] }, /^tags\.0: /],
  [{ tags: ['com\u0000nulo'] }, /^tags\.0: /],
  [{ tags: Array.from({ length: 21 }, (_, n) => `t${n}`) }, /^tags: /],
  [{ default_model: 'nenhum' }, /^default_model: /],
  [{ default_model: 'sandbox-embedding' }, /^default_model: /],
  [{ slug: 'meu' }, /^slug: não é conhecido/],
  [{ version: 9 }, /^version: não é conhecido/],
]

test('an invalid field is refused by its name, on create and on update, and changes nothing', async () => {
  const made = await create()
  for (const [fields, details] of BAD_FIELDS) {
    const body = { name: 'Um nome', body: 'Um texto', ...fields }
    assertInvalid(await call('POST', '', { body }), details)
    assertInvalid(await call('PATCH', `/${made.id}`, { body: fields }), details)
  }
  for (const field of ['name', 'body']) {
    const body = { name: 'Um nome', body: 'Um texto', [field]: undefined }
    assertInvalid(await call('POST', '', { body }), new RegExp(`^${field}: é obrigatório`))
  }
  const note = { change_note: 'x'.repeat(201) }
  assertInvalid(await call('PATCH', `/${made.id}`, { body: note }), /^change_note: /)
  assertInvalid(
    await call('POST', '', { body: { name: 'Um nome', body: 'x', change_note: 'x' } }),
    /^change_note: não é conhecido/,
  )
  assertInvalid(await call('POST', '', { body: 'no json' }), /^body: /)
  assertInvalid(await call('PATCH', `/${made.id}`, { body: '[]' }), /^body: /)
  assert.deepEqual((await call('GET', `/${made.id}`)).json, made)
  assert.equal((await versionsOf(made.id)).length, 1)
})

test('only a change of the text creates a version', async () => {
  const { id } = await create({ body: 'Um {{a}}', tags: ['x'], description: 'antes' })
  const change = async (body: object): Promise<any> => {
    const answer = await call('PATCH', `/${id}`, { body })
    assert.equal(answer.status, 200, answer.text)
    return answer.json
  }
  assert.equal((await change({ name: 'Outro nome', tags: ['y'] })).version, 1)
  assert.equal((await change({ body: 'Um {{a}}', change_note: 'nada' })).version, 1)
  assert.equal((await change({ default_model: 'sandbox-chat' })).version, 1)
  const second = await change({ body: 'Dois {{b}}', change_note: 'dois' })
  assert.equal(second.version, 2)
  assert.deepEqual(second.variables, ['b'], 'another text brings its variables')
  assert.equal((await change({ body: 'Um {{a}}' })).version, 3, 'an old text again is a new one')
  const last = await change({ description: null, default_model: null })
  assert.deepEqual(
    { ...last, id, created_at: '', updated_at: '' },
    {
      id,
      slug: 'resumo-de-reuniao' + last.slug.slice('resumo-de-reuniao'.length),
      name: 'Outro nome',
      description: null,
      body: 'Um {{a}}',
      variables: ['a'],
      tags: ['y'],
      default_model: null,
      parameters: {},
      version: 3,
      created_at: '',
      updated_at: '',
    },
  )
  const versions = await versionsOf(id)
  assert.deepEqual(
    versions.map(({ version, body, change_note }) => [version, body, change_note]),
    [
      [3, 'Um {{a}}', null],
      [2, 'Dois {{b}}', 'dois'],
      [1, 'Um {{a}}', null],
    ],
  )
  for (const { created_at } of versions)
    assert.equal(new Date(created_at).toISOString(), created_at)
})

test('an update without changes keeps every field, including the time of the last change', async () => {
  const made = await create()
  for (const body of [{}, { change_note: 'sem texto novo' }]) {
    const answer = await call('PATCH', `/${made.id}`, { body })
    assert.equal(answer.status, 200)
    assert.deepEqual(answer.json, made)
  }
})

test('variables must cover the resulting text: the stored one if the update has none', async () => {
  const { id } = await create({ body: '{{a}} {{b}}' })
  const patch = (body: object): Promise<Asked> => call('PATCH', `/${id}`, { body })
  assertInvalid(await patch({ variables: ['a'] }), /^variables: b está no texto/)
  assert.deepEqual((await patch({ variables: ['b', 'a', 'c'] })).json.variables, ['b', 'a', 'c'])
  assert.deepEqual((await patch({ name: 'Só o nome' })).json.variables, ['b', 'a', 'c'])
  assertInvalid(await patch({ body: '{{d}}', variables: ['a'] }), /^variables: d está no texto/)
  const both = await patch({ body: '{{d}}', variables: ['d', 'e'] })
  assert.deepEqual([both.json.version, both.json.variables], [2, ['d', 'e']])
})

test('concurrent changes are all kept: each text is a version, numbered without gaps', async () => {
  const { id } = await create()
  const texts = Array.from({ length: 12 }, (_, number) => `Texto ${number}`)
  const answers = await Promise.all(
    texts.map((body) => call('PATCH', `/${id}`, { body: { body, change_note: body } })),
  )
  assert.ok(answers.every(({ status }) => status === 200))
  assert.deepEqual(
    answers.map(({ json }) => json.version).sort((a, b) => a - b),
    texts.map((_, number) => number + 2),
  )
  const versions = await versionsOf(id)
  for (const { json } of answers) {
    const kept = versions.find(({ version }) => version === json.version)
    assert.deepEqual([kept.body, kept.change_note], [json.body, json.body])
  }
  assert.equal(versions.length, texts.length + 1)
  assert.equal((await call('GET', `/${id}`)).json.body, versions[0].body)
})

test('concurrent changes of different fields are all kept', async () => {
  const { id } = await create()
  const changes = [{ name: 'Nome novo' }, { tags: ['nova'] }, { description: 'd' }, { body: 'b' }]
  await Promise.all(changes.map((body) => call('PATCH', `/${id}`, { body })))
  const { name, tags, description, body, version } = (await call('GET', `/${id}`)).json
  assert.deepEqual([name, tags, description, body, version], ['Nome novo', ['nova'], 'd', 'b', 2])
})

test('versions are paged, newest first, each once', async () => {
  const { id } = await create({ body: 'v1' })
  for (let version = 2; version <= 5; version++)
    await call('PATCH', `/${id}`, { body: { body: `v${version}` } })
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const path: string = `/${id}/versions?limit=2${cursor && `&cursor=${cursor}`}`
    const { status, json } = await call('GET', path)
    assert.equal(status, 200)
    assert.ok(json.versions.length <= 2)
    seen.push(...json.versions.map(({ body }: { body: string }) => body))
    cursor = json.next_cursor
  }
  assert.deepEqual(seen, ['v5', 'v4', 'v3', 'v2', 'v1'])
  const versionsBelow = (place: string): Promise<Asked> =>
    call('GET', `/${id}/versions?cursor=${Buffer.from(place).toString('base64url')}`)
  assert.equal((await versionsBelow('v999999999')).json.versions.length, 5)
  assert.deepEqual((await versionsBelow('v1')).json, { versions: [], next_cursor: null })
  for (const place of ['x', 'v', 'v9999999999', 'v1; drop'])
    assertInvalid(await versionsBelow(place), /^cursor: /)
  for (const limit of ['0', '201', '1.5', 'x'])
    assertInvalid(await call('GET', `/${id}/versions?limit=${limit}`), /^limit: /)
})

test('prompts are paged by their latest change, each once', async () => {
  const secret = await newOwner()
  const made: any[] = []
  for (const name of ['Um', 'Dois', 'Três', 'Quatro', 'Cinco'])
    made.push(await create({ name: `Prompt ${name}` }, secret))
  await call('PATCH', `/${made[1].id}`, { secret, body: { tags: ['mudou'] } })
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const path: string = `?limit=2${cursor && `&cursor=${cursor}`}`
    const { json } = await call('GET', path, { secret })
    assert.ok(json.prompts.length <= 2)
    seen.push(...json.prompts.map(({ name }: { name: string }) => name.slice(7)))
    cursor = json.next_cursor
  }
  assert.deepEqual(seen, ['Dois', 'Cinco', 'Quatro', 'Três', 'Um'])
  for (const limit of ['0', '201', '-1'])
    assertInvalid(await call('GET', `?limit=${limit}`), /^limit: /)
  assertInvalid(await call('GET', '?cursor=zzz'), /^cursor: /)
})

test('prompts are searched by tag and by words, ignoring case and accents', async () => {
  const secret = await newOwner()
  await create({ name: 'Resumo de REUNIÃO', tags: ['ata', 'rh'] }, secret)
  await create({ name: 'Tradução', description: 'Português e 100%_inglês', tags: ['ata'] }, secret)
  await create({ name: 'E-mail de vendas' }, secret)
  const names = async (query: Record<string, string>): Promise<string[]> => {
    const answer = await call('GET', `?${new URLSearchParams(query).toString()}`, { secret })
    assert.equal(answer.status, 200, answer.text)
    return answer.json.prompts.map(({ name }: { name: string }) => name)
  }
  assert.deepEqual(await names({ tag: 'ata' }), ['Tradução', 'Resumo de REUNIÃO'])
  assert.deepEqual(await names({ tag: 'at' }), [])
  assert.deepEqual(await names({ q: 'reuniao' }), ['Resumo de REUNIÃO'])
  assert.deepEqual(await names({ q: 'REUNIÃO' }), ['Resumo de REUNIÃO'])
  assert.deepEqual(await names({ q: 'portugues' }), ['Tradução'])
  assert.deepEqual(await names({ q: '100%_' }), ['Tradução'])
  assert.deepEqual(await names({ q: '%' }), ['Tradução'])
  assert.deepEqual(await names({ q: 'resuma' }), [], 'the text itself is not searched')
  assert.deepEqual(await names({ q: 'e', tag: 'rh' }), ['Resumo de REUNIÃO'])
  assertInvalid(await call('GET', '?q=%00', { secret }), /^q: /)
  assertInvalid(await call('GET', '?tag=%00', { secret }), /^tag: /)
})

test('a slug is unique for each customer, and remains when the name changes', async () => {
  const secret = await newOwner()
  const slugs: string[] = []
  for (const name of ['Olá, Mundo', 'ola mundo', 'OLÁ MUNDO!', 'Olá, Mundo 2'])
    slugs.push((await create({ name }, secret)).slug)
  assert.deepEqual(slugs, ['ola-mundo', 'ola-mundo-2', 'ola-mundo-3', 'ola-mundo-2-2'])
  const other = await create({ name: 'Olá, Mundo' }, await newOwner())
  assert.equal(other.slug, 'ola-mundo', 'customers do not see each other')
  const renamed = await call('PATCH', `/${other.id}`, { secret, body: { name: 'Adeus' } })
  assertNotFound(renamed)
  const mine = (await call('GET', '', { secret })).json.prompts[0]
  const changed = await call('PATCH', `/${mine.id}`, { secret, body: { name: 'Adeus' } })
  assert.deepEqual([changed.json.name, changed.json.slug], ['Adeus', mine.slug])
})

test('concurrently created prompts with one name get distinct slugs', async () => {
  const secret = await newOwner()
  const made = await Promise.all(
    Array.from({ length: 12 }, () => create({ name: 'Ao mesmo tempo' }, secret)),
  )
  const numbers = Array.from({ length: 11 }, (_, index) => `ao-mesmo-tempo-${index + 2}`)
  assert.deepEqual(
    made.map(({ slug }) => String(slug)).sort(),
    ['ao-mesmo-tempo', ...numbers].sort(),
  )
})

test('a clone is a separate prompt at version 1, with the current text', async () => {
  const secret = await newOwner()
  const source = await create(
    {
      tags: ['a'],
      variables: ['texto', 'b'],
      default_model: 'sandbox-chat',
      parameters: { max_tokens: 9 },
      description: 'd',
    },
    secret,
  )
  await call('PATCH', `/${source.id}`, { secret, body: { body: 'Agora {{novo}}' } })
  const answer = await call('POST', `/${source.id}/clone`, { secret })
  assert.equal(answer.status, 201)
  const clone = answer.json
  assert.notEqual(clone.id, source.id)
  assert.deepEqual(
    { ...clone, id: '', created_at: '', updated_at: '' },
    {
      id: '',
      slug: 'resumo-de-reuniao-copia',
      name: 'Resumo de Reunião (cópia)',
      description: 'd',
      body: 'Agora {{novo}}',
      variables: ['novo'],
      tags: ['a'],
      default_model: 'sandbox-chat',
      parameters: { max_tokens: 9 },
      version: 1,
      created_at: '',
      updated_at: '',
    },
  )
  await call('PATCH', `/${clone.id}`, { secret, body: { body: 'Só da cópia' } })
  const { json } = await call('GET', `/${source.id}`, { secret })
  assert.deepEqual([json.version, json.body], [2, 'Agora {{novo}}'])
  const history = (await call('GET', `/${clone.id}/versions`, { secret })).json.versions
  assert.deepEqual(
    history.map(({ version, body }: { version: number; body: string }) => [version, body]),
    [
      [2, 'Só da cópia'],
      [1, 'Agora {{novo}}'],
    ],
  )
  await call('DELETE', `/${source.id}`, { secret })
  assert.equal((await call('GET', `/${clone.id}`, { secret })).status, 200)
})

test('concurrent clones are numbered without gaps or duplicates', async () => {
  const secret = await newOwner()
  const { id } = await create({ name: 'Original' }, secret)
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => call('POST', `/${id}/clone`, { secret })),
  )
  assert.deepEqual(
    answers.map(({ json }) => String(json.slug)).sort(),
    ['original-copia', ...answers.slice(1).map((_, n) => `original-copia-${n + 2}`)].sort(),
  )
  const longest = await create({ name: 'ã'.repeat(120) }, secret)
  let last = longest
  for (let generation = 0; generation < 3; generation++)
    last = (await call('POST', `/${last.id}/clone`, { secret })).json
  assert.equal([...last.name].length, 120)
  assert.ok(last.name.endsWith(' (cópia)') && last.slug.endsWith('-copia-3'), last.slug)
})

test('a deletion removes a prompt and its versions, and is in the audit log', async () => {
  const { db } = gateway.database
  const { id } = await create()
  await call('PATCH', `/${id}`, { body: { body: 'segunda' } })
  const before = await db.selectFrom('audit_log').selectAll().execute()
  const answer = await call('DELETE', `/${id.toUpperCase()}`)
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.json, { id, deleted: true })
  for (const [method, path] of OF_ONE) assertNotFound(await call(method, path(id), bodyOf(method)))
  const versions = db.selectFrom('prompt_versions').selectAll().where('prompt_id', '=', id)
  assert.deepEqual(await versions.execute(), [])
  const log = await db.selectFrom('audit_log').selectAll().execute()
  assert.equal(log.length, before.length + 1, 'one line, for the first deletion only')
  const [line] = log.filter(({ subject_id }) => subject_id === id)
  assert.deepEqual(
    [line?.action, line?.customer_id, line?.actor_id, line?.details],
    ['prompt.deleted', gateway.customerId, gateway.customerId, null],
  )
})

/** Each operation on one prompt. */
const OF_ONE: readonly (readonly [method: string, path: (id: string) => string])[] = [
  ['GET', (id) => `/${id}`],
  ['PATCH', (id) => `/${id}`],
  ['DELETE', (id) => `/${id}`],
  ['GET', (id) => `/${id}/versions`],
  ['POST', (id) => `/${id}/clone`],
  ['GET', (id) => `/${id}/runs`],
]

function bodyOf(method: string): Call {
  return method === 'PATCH' ? { body: { body: 'de outro' } } : {}
}

test("another customer's prompt, an unknown id and a malformed id get the same 404, and nothing changes", async () => {
  const made = await create()
  for (const [method, path] of OF_ONE) {
    const options = bodyOf(method)
    assertNotFound(await call(method, path(made.id), { ...options, secret: stranger }))
    for (const id of [randomUUID(), 'nenhum', "1'--", '%00', '%F0%9F%98%80'])
      assertNotFound(await call(method, path(id), options))
  }
  assert.deepEqual((await call('GET', `/${made.id}`)).json, made)
  assert.deepEqual((await call('GET', '', { secret: stranger })).json.prompts, [])
})

test('without a key, or with an unknown one, the answer is a 401 without a body', async () => {
  const { id } = await create()
  const paths = [...OF_ONE, ['GET', () => ''] as const, ['POST', () => ''] as const]
  for (const [method, path] of paths) {
    const answer = await call(method, path(id), { ...bodyOf(method), secret: 'sk-svc-de-ninguem' })
    assert.deepEqual([answer.status, answer.text], [401, ''])
  }
})

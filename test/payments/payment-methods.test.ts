/** Cards: the processor keeps them, and we store neither the number nor the ccv. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { unseal } from '../../src/platform/lib/seal.ts'
import { parseSealingKey } from '../../src/platform/lib/sealing-key.ts'
import { PAYMENT_METHODS_MAX } from '../../src/money/payments/payment-methods.ts'
import { tokenizeCard } from '../../src/money/payments/tokenize-card.ts'
import type { Processor } from '../../src/money/payments/processor.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { BY_OPERATOR, ask, type Asked } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { APPROVED, cardBody, DECLINED, HOLDER } from '../harness/cards.ts'
import { seedPayer, type Payer } from '../harness/payer.ts'

let gateway: TestGateway
before(async () => {
  gateway = await startGateway()
})
after(() => gateway.stop())

function add({ secret }: Pick<Payer, 'secret'>, body: object): Promise<Asked> {
  return ask(gateway.node.baseUrl, '/payment-methods', { secret, body })
}

async function list({ secret }: Payer): Promise<Asked['json'][]> {
  const { json } = await ask(gateway.node.baseUrl, '/payment-methods', { secret })
  return json.payment_methods
}

/** Rows of the whole database, jobs included, that contain the text as a separate word. */
async function findWord(word: string): Promise<string[]> {
  const { db } = gateway.database
  const { rows: tables } = await sql<{ schema: string; name: string }>`
    select nspname as schema, relname as name from pg_class c join pg_namespace n on n.oid = relnamespace
    where relkind = 'r' and nspname not in ('pg_catalog', 'information_schema', 'pg_toast')`.execute(
    db,
  )
  const found: string[] = []
  for (const { schema, name } of tables) {
    const { rows } = await sql<{ row: string }>`
      select t::text as row from ${sql.table(`${schema}.${name}`)} t
      where t::text ~ ${`(^|[^0-9A-Za-z-])${word}($|[^0-9A-Za-z-])`}`.execute(db)
    found.push(...rows.map(({ row }) => `${name}: ${row}`))
  }
  return found
}

test('a card shows only what its holder recognises; its token is sealed, and deleting it is final', async () => {
  const payer = await seedPayer(gateway.database.db)
  const added = await add(payer, cardBody('5162 3062 1937 8829'))
  assert.equal(added.status, 201, added.text)
  const { id, created_at, ...rest } = added.json
  assert.deepEqual(rest, {
    brand: 'MASTERCARD',
    last_four: '8829',
    holder_name: 'MARILIA SOUZA',
    expiry_month: 12,
    expiry_year: 2099,
  })
  assert.ok(Date.parse(created_at))
  assert.deepEqual(await list(payer), [added.json])

  const { token_sealed: sealed } = await gateway.database.db
    .selectFrom('payment_methods')
    .select('token_sealed')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const key = parseSealingKey(await readFile(join(gateway.node.dataDir, 'secrets.key'), 'utf8'))
  assert.match(unseal(key as Buffer, id, sealed).toString(), /^[0-9a-f-]{36}$/)

  const path = `/payment-methods/${id}`
  const remove = ({ secret }: Payer) =>
    ask(gateway.node.baseUrl, path, { secret, method: 'DELETE' })
  const stranger = await remove(await seedPayer(gateway.database.db))
  assert.deepEqual([stranger.status, stranger.json], [404, { error: 'payment_method_not_found' }])
  assert.deepEqual((await remove(payer)).json, added.json)
  assert.equal((await remove(payer)).status, 404)
  assert.deepEqual(await list(payer), [])
})

test('the number and the ccv are in no row, log line, file, metric or error', async () => {
  const payer = await seedPayer(gateway.database.db)
  const ccv = '9173'
  const answers = [
    await add(payer, cardBody(APPROVED, { ccv })),
    await add(payer, cardBody(DECLINED, { ccv })),
    await add(payer, cardBody('5162306219378820', { ccv })),
    await add(payer, cardBody(APPROVED, { ccv, holder_name: APPROVED })),
    await add(payer, cardBody(APPROVED, { ccv, expiry_year: '2001' })),
    await add(payer, cardBody(APPROVED, { ccv: `${ccv}${ccv}` })),
    await add(payer, { ...cardBody(APPROVED, { ccv }), holder: { ...HOLDER, name: ' ' } }),
    await add(payer, { ...cardBody(APPROVED, { ccv }), other: APPROVED }),
  ]
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 400, 400, 400, 400, 400, 400, 400],
  )
  const metrics = await (await fetch(new URL('/metrics', gateway.node.baseUrl), BY_OPERATOR)).text()
  assert.match(metrics, /^# HELP/m)
  const files = await readFile(join(gateway.node.dataDir, 'sandbox-payments.json'), 'utf8')
  const texts = [...gateway.node.log, ...answers.map(({ text }) => text), metrics, files].join('\n')
  for (const secret of [APPROVED, DECLINED, '5162306219378820']) {
    assert.deepEqual(await findWord(secret), [])
    assert.ok(!texts.includes(secret))
  }
  assert.deepEqual(await findWord(ccv), [])
  assert.doesNotMatch(texts, new RegExp(`(^|[^0-9A-Za-z-])${ccv}($|[^0-9A-Za-z-])`))
  // The scan would find them.
  assert.notDeepEqual(await findWord('8829'), [])
})

test('missing or empty fields of the card or its holder are named, and nothing is sent to the processor', async () => {
  const payer = await seedPayer(gateway.database.db)
  const { card } = cardBody(APPROVED) as { card: object }
  for (const [body, field] of [
    [{}, 'card'],
    [{ holder: HOLDER }, 'card'],
    [{ card }, 'holder'],
    [{ card: {}, holder: HOLDER }, 'card.holder_name'],
    ...['holder_name', 'number', 'expiry_month', 'expiry_year', 'ccv'].map(
      (name) => [{ card: { ...card, [name]: ' ' }, holder: HOLDER }, `card.${name}`] as const,
    ),
    ...Object.keys(HOLDER).map(
      (name) => [{ card, holder: { ...HOLDER, [name]: undefined } }, `holder.${name}`] as const,
    ),
  ] as const) {
    const answer = await add(payer, body)
    assert.deepEqual(
      [answer.status, answer.json],
      [400, { error: 'missing_card_or_holder_info', details: `${field}: é obrigatório` }],
    )
  }
  for (const [cpf_cnpj, error] of [
    ['123', 'invalid_cpf_cnpj_format'],
    ['52998224724', 'invalid_cpf_cnpj_checksum'],
  ]) {
    const answer = await add(payer, { card, holder: { ...HOLDER, cpf_cnpj } })
    assert.deepEqual([answer.status, answer.json.error], [400, error])
  }
})

test('a card that the processor or its issuer refuses is a 400 that does not name the processor', async () => {
  const { db } = gateway.database
  const payer = await seedPayer(db)
  const refused = await add(payer, cardBody(DECLINED))
  assert.deepEqual([refused.status, refused.json.error], [400, 'card_rejected'])
  assert.match(refused.json.details, /Transação não autorizada/)
  const typo = await add(payer, cardBody('5162306219378820'))
  assert.deepEqual(
    [typo.status, typo.json],
    [400, { error: 'card_rejected', details: 'card.number: não é o número de um cartão' }],
  )
  const words = { kind: 'declined', detail: 'O Asaas (ASAAS) recusou.' } as const
  const outcome = await tokenizeCard(db, processorWith(words), {
    payer: {
      ourId: payer.customerId,
      name: 'Marília',
      taxId: '52998224725',
      email: 'a@example.com',
    },
    card: {
      number: APPROVED,
      holderName: 'M',
      expiryMonth: '12',
      expiryYear: '2099',
      ccv: '318',
    },
    holder: { ...HOLDER, taxId: '52998224725', postalCode: '01310100', addressNumber: '1' },
    remoteIp: '203.0.113.9',
  })
  assert.deepEqual(outcome, {
    kind: 'card_rejected',
    detail: 'O processador (processador) recusou.',
  })
  assert.deepEqual(await list(payer), [])
})

test("the processor receives the buyer's address", async () => {
  const payer = await seedPayer(gateway.database.db)
  const seen: string[] = []
  const processor = processorWith({ kind: 'declined', detail: 'não' }, ({ remoteIp }) => {
    seen.push(remoteIp)
  })
  await tokenizeCard(gateway.database.db, processor, {
    payer: { ourId: payer.customerId, name: 'M', taxId: '52998224725', email: 'a@example.com' },
    card: {
      number: APPROVED,
      holderName: 'M',
      expiryMonth: '12',
      expiryYear: '2099',
      ccv: '318',
    },
    holder: { ...HOLDER, taxId: '52998224725', postalCode: '01310100', addressNumber: '1' },
    remoteIp: '203.0.113.9',
  })
  assert.deepEqual(seen, ['203.0.113.9'])
})

function processorWith(
  outcome: Awaited<ReturnType<Processor['tokenizeCard']>>,
  look: (card: Parameters<Processor['tokenizeCard']>[0]) => void = () => {},
): Processor {
  return {
    id: 'asaas',
    ensureCustomer: async () => ({ kind: 'customer', customer: { id: 'cus_1' } }),
    tokenizeCard: async (card: Parameters<Processor['tokenizeCard']>[0]) => {
      look(card)
      return outcome
    },
  } as unknown as Processor
}

test('no card can be saved without a CPF or CNPJ', async () => {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '0' })
  const answer = await add({ secret }, cardBody(APPROVED))
  assert.deepEqual([answer.status, answer.json.error], [400, 'cpf_required'])
})

test('after ten refused cards in an hour, however many in parallel, no more are tried', async () => {
  const { db } = gateway.database
  const payer = await seedPayer(db)
  const answers = await Promise.all(
    Array.from({ length: 25 }, () => add(payer, cardBody(DECLINED))),
  )
  const codes = answers.map(({ json }) => String(json.error)).sort()
  assert.deepEqual(codes, [
    ...Array.from({ length: 10 }, () => 'card_rejected'),
    ...Array.from({ length: 15 }, () => 'too_many_rejected_cards'),
  ])
  const good = await add(payer, cardBody(APPROVED))
  assert.deepEqual([good.status, good.json.error], [429, 'too_many_rejected_cards'])
  const seconds = Number(good.headers.get('retry-after'))
  assert.ok(seconds > 3_500 && seconds <= 3_600, `${seconds}`)
  assert.equal((await add(await seedPayer(db), cardBody(APPROVED))).status, 201)
  await sql`update card_attempts set created_at = created_at - interval '1 hour'
    where customer_id = ${payer.customerId}`.execute(db)
  assert.equal((await add(payer, cardBody(APPROVED))).status, 201)
})

test('a customer saves at most ten cards; one more is a 409', async () => {
  const { db } = gateway.database
  const payer = await seedPayer(db)
  await db
    .insertInto('payment_methods')
    .values(
      Array.from({ length: PAYMENT_METHODS_MAX - 1 }, () => ({
        id: createId(),
        customer_id: payer.customerId,
        processor: 'asaas',
        token_sealed: Buffer.from('sealed'),
        brand: null,
        last_four: '0000',
        holder_name: 'M',
        expiry_month: 1,
        expiry_year: 2099,
      })),
    )
    .execute()
  const answers = await Promise.all([1, 2, 3].map(() => add(payer, cardBody(APPROVED))))
  const outcomes = answers.map(({ status, json }) => `${status} ${json.error ?? ''}`).sort()
  assert.deepEqual(outcomes, [
    '201 ',
    '409 too_many_payment_methods',
    '409 too_many_payment_methods',
  ])
  assert.equal((await list(payer)).length, PAYMENT_METHODS_MAX)
})

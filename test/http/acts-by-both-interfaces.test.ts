// deep: every act by HTTP and by the command line
/** An act that the command line and HTTP both offer leaves the same audit row; the actor alone differs. */
import assert from 'node:assert/strict'
import { glob, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { findSuspension } from '../../src/customers/suspend-customer.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { recordFindings } from '../../src/money/reconciliation/discrepancies.ts'
import { runCli } from '../harness/run-cli.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { ask } from '../harness/ask.ts'
import { enableFactor, openOperatorSession, openSession } from '../harness/open-session.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'

let gateway: TestGateway
let admin: { customerId: string; secret: string }

before(async () => {
  gateway = await startGateway({ ADMIN_EMAILS: 'chefe@exemplo.com.br' })
  const { db } = gateway.database
  const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
  const at = { db, dataDir: gateway.node.dataDir }
  const secret = await openOperatorSession(at, customerId, 'chefe@exemplo.com.br')
  admin = { customerId, secret }
})
after(() => gateway.stop())

async function byCommand(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await runCli([...args, '--json'], {
    DATABASE_URL: gateway.database.databaseUrl,
    DATA_DIR: gateway.node.dataDir,
  })
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

async function byHttp(
  method: string,
  path: string,
  body?: object,
  secret: string = admin.secret,
): Promise<any> {
  const answer = await ask(gateway.node.baseUrl, path, { method, secret, body })
  assert.ok(answer.status < 300, answer.text)
  return answer.json
}

/** The rows of one subject: all that is not the actor's, with the kind of the actor last. */
async function rowsAbout(subjectId: string, customerId: string | null = null): Promise<unknown[]> {
  const { rows } = await sql<{ row: unknown[] }>`
    select jsonb_build_array(action, customer_id = ${customerId}::uuid, details, actor_kind) as row
    from audit_log where subject_id = ${subjectId} order by created_at, id`.execute(
    gateway.database.db,
  )
  return rows.map(({ row }) => row)
}

/** Both lists, without the actors; each list is of the actors that it must be of. */
function assertSame(command: unknown[], http: unknown[]): void {
  const split = (rows: unknown[]): { acts: unknown[]; actors: unknown[] } => ({
    // The limits of a key name it, and the moment.
    acts: rows.map((row) => {
      const [action, isLogged, details] = row as [unknown, unknown, Record<string, unknown>]
      const { limits: _limits, ...others } = details ?? {}
      return [action, isLogged, others]
    }),
    actors: [...new Set(rows.map((row) => (row as unknown[])[3]))],
  })
  assert.ok(command.length > 0)
  assert.deepEqual(split(command).acts, split(http).acts)
  assert.deepEqual(split(command).actors, ['operator'])
  assert.deepEqual(split(http).actors, ['customer'])
}

test('incidents', async () => {
  const text = { title: 'Lento', message: 'Está lento.' }
  const command = await byCommand(
    'incident',
    'open',
    '--title',
    text.title,
    '--message',
    text.message,
  )
  await byCommand('incident', 'update', command.id, '--message', 'Ainda.')
  await byCommand('incident', 'update', command.id, '--severity', 'minor', '--message', 'Menos.')
  await byCommand('incident', 'resolve', command.id, '--message', 'Passou.')
  const http = await byHttp('POST', '/admin/incidents', text)
  const path = `/admin/incidents/${http.id}`
  await byHttp('PATCH', path, { message: 'Ainda.' })
  await byHttp('PATCH', path, { severity: 'minor', message: 'Menos.' })
  await byHttp('PATCH', path, { status: 'resolved', message: 'Passou.' })
  const rows = await rowsAbout(command.id)
  assert.equal(rows.length, 4)
  assertSame(rows, await rowsAbout(http.id))
})

test('an explained difference', async () => {
  const ids: string[] = []
  for (const subject of ['upstream x 2026-01-01', 'upstream x 2026-01-02']) {
    await recordFindings(
      gateway.database.db,
      { subject, upstreamId: 'x', day: subject.slice(-10) },
      [{ kind: 'upstream_cost', oursPicoUsd: 1n, theirsPicoUsd: 2n }],
      createLog('silent', () => {}),
    )
    const { id } = await gateway.database.db
      .selectFrom('reconciliation_discrepancies')
      .select('id')
      .where('subject', '=', subject)
      .executeTakeFirstOrThrow()
    ids.push(id)
  }
  const [first = '', second = ''] = ids
  const explanation = 'arredondamento'
  await byCommand('reconcile', 'explain', first.toUpperCase(), '--note', explanation)
  await byHttp('POST', `/admin/reconciliation/differences/${second}/explain`, { explanation })
  assertSame(await rowsAbout(first), await rowsAbout(second))
})

test('keys: made and revoked, with the same events', async () => {
  const { customerId, secret } = gateway
  const input = { name: 'loja', model_ids: ['gpt-4o'] }
  const command = await byCommand(
    'key',
    'create',
    customerId,
    '--name',
    input.name,
    '--models',
    'gpt-4o',
  )
  await byCommand('key', 'revoke', command.id)
  const http = await byHttp('POST', '/api-keys', input, secret)
  await byHttp('DELETE', `/api-keys/${http.id}`, undefined, secret)
  const rows = await rowsAbout(command.id, customerId)
  const [action, isLogged, details, actor] = rows[0] as [string, boolean, object, string]
  assert.deepEqual([action, isLogged, actor], ['api_key.created', true, 'operator'])
  assert.partialDeepStrictEqual(details, { scope: 'calls' })
  assertSame(rows, await rowsAbout(http.id, customerId))
  const eventsOf = async (id: string): Promise<string[]> => {
    const { rows } = await sql<{ type: string }>`
      select type from events where data ->> 'id' = ${id} order by created_at, id`.execute(
      gateway.database.db,
    )
    return rows.map(({ type }) => type)
  }
  assert.deepEqual(await eventsOf(command.id), ['key.created', 'key.revoked'])
  assert.deepEqual(await eventsOf(http.id), ['key.created', 'key.revoked'])
})

test('the suspension of an account, with the reason that its owner reads', async () => {
  const { db } = gateway.database
  const [one, other] = [
    await seedCustomer(db, { balanceBrl: '0' }),
    await seedCustomer(db, { balanceBrl: '0' }),
  ]
  const reason = 'Falta o contrato social.'
  const shown = async ({ customerId }: { customerId: string }): Promise<unknown> => {
    const { since: _, ...rest } = (await findSuspension(db, customerId)) ?? { since: undefined }
    return rest
  }
  await byCommand('customer', 'suspend', one.customerId, '--reason', reason)
  await byHttp('POST', `/admin/customers/${other.customerId}/suspend`, { reason })
  assert.deepEqual(await shown(one), { cause: 'operator', reason })
  assert.deepEqual(await shown(other), await shown(one))
  await byCommand('customer', 'reinstate', one.customerId)
  await byHttp('POST', `/admin/customers/${other.customerId}/reinstate`)
  assert.deepEqual([await shown(one), await shown(other)], [{}, {}])
  const rows = await rowsAbout(one.customerId, one.customerId)
  assert.equal(rows.length, 2)
  assertSame(rows, await rowsAbout(other.customerId, other.customerId))
})

test("operators' pauses of a key and of the service", async () => {
  const { db } = gateway.database
  const [one, other] = [
    await seedCustomer(db, { balanceBrl: '0' }),
    await seedCustomer(db, { balanceBrl: '0' }),
  ]
  await byCommand('key', 'pause', one.key.id)
  await byCommand('key', 'resume', one.key.id)
  await byHttp('POST', `/admin/api-keys/${other.key.id}/pause`)
  await byHttp('POST', `/admin/api-keys/${other.key.id}/resume`)
  const rows = await rowsAbout(one.key.id, one.customerId)
  assert.equal(rows.length, 2)
  assertSame(rows, await rowsAbout(other.key.id, other.customerId))

  await byCommand('service', 'pause', '--reason', 'teste')
  await byCommand('service', 'resume')
  await byHttp('POST', '/admin/service/pause', { reason: 'teste' })
  await byHttp('POST', '/admin/service/resume')
  const { rows: acts } = await sql<{ row: unknown[] }>`
    select jsonb_build_array(action, customer_id, details, actor_kind) as row
    from audit_log where action like 'service.%' order by created_at, id`.execute(db)
  const pauses = acts.map(({ row }) => row)
  assert.equal(pauses.length, 4)
  assertSame(pauses.slice(0, 2), pauses.slice(2))
})

test('the copy and the deletion of an account', async () => {
  const { db } = gateway.database
  const one = await seedCustomer(db, { balanceBrl: '0' })
  const other = await seedCustomer(db, { balanceBrl: '0' })
  await byCommand('customer', 'export', one.customerId)
  await byCommand('customer', 'delete', one.customerId)
  await byHttp('GET', '/me/export', undefined, other.secret)
  await byHttp('DELETE', '/me', { confirm: 'Teste' }, other.secret)
  const rows = await rowsAbout(one.customerId, one.customerId)
  assert.deepEqual(
    rows.map((row) => (row as unknown[])[0]),
    ['account.exported', 'account.deleted'],
  )
  assertSame(rows, await rowsAbout(other.customerId, other.customerId))
})

test('an exchange rate by hand, and an invoice', async () => {
  const [note, reason] = ['Banco Central fora', 'Banco Central fora']
  const { fx_rates: rates } = await byHttp('GET', '/fx-rates')
  const { rate } = rates[0]
  const command = await byCommand('fx', 'set', String(rate), '--note', note)
  await byCommand('fx', 'withdraw', String(command.id), '--note', note)
  const { fx_rate: http } = await byHttp('POST', '/admin/fx-rates', { rate, reason })
  await byHttp('POST', `/admin/fx-rates/${http.id}/withdraw`, { reason })
  const withoutIds = (rows: unknown[]): unknown[] =>
    rows.map((row) => {
      const [action, isLogged, details, actor] = row as [unknown, unknown, object, unknown]
      return [action, isLogged, { ...details, in_force: undefined }, actor]
    })
  const [set, withdrawn] = [await rowsAbout(String(command.id)), await rowsAbout(String(http.id))]
  assert.equal(set.length, 2)
  assertSame(withoutIds(set), withoutIds(withdrawn))

  const csv = 'day,cost_usd\n2026-01-02,1.5\n'
  const file = join(gateway.node.dataDir, 'fatura.csv')
  await writeFile(file, csv)
  await byCommand('costs', 'import', '--upstream', 'sandbox', '--file', file)
  await byHttp('POST', '/admin/upstream-costs', { upstream: 'sandbox', csv })
  const [one, other] = await rowsAbout('sandbox')
  assertSame([one], [other])
})

test('the second factor of a customer, which one person resets only from the command line', async () => {
  const { db } = gateway.database
  const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
  await openSession({ db, dataDir: gateway.node.dataDir }, customerId)
  await enableFactor(db, customerId)
  const { second_factor: state } = await byHttp(
    'POST',
    `/admin/customers/${customerId}/second-factor/reset`,
    { reason: 'perdeu o telefone' },
  )
  assert.equal(state, 'waiting')
  const args = [customerId, '--reason', 'perdeu o telefone']
  const done = await byCommand('customer', 'reset-second-factor', ...args)
  assert.equal(done.second_factor, 'off')
  assert.deepEqual(
    (await rowsAbout(customerId, customerId)).map((row) => (row as unknown[])[0]),
    ['second_factor.reset_requested', 'second_factor.reset'],
  )
})

/** Compared in `test/catalog/price-updates.test.ts`. */
const ELSEWHERE = new Set(['approvePrice', 'rejectPrice'])

test('every act that both interfaces call is compared above', async () => {
  const root = join(import.meta.dirname, '../..')
  const read = async (pattern: string): Promise<string> => {
    const texts: string[] = []
    for await (const file of glob(pattern, { cwd: root }))
      texts.push(await readFile(join(root, file), 'utf8'))
    return texts.join('\n')
  }
  const called = (await read('src/app/cli/*.ts')).matchAll(/(\w+)\((?:input\.)?db, OPERATOR/g)
  const http = await read('src/http/**/*.ts')
  const shared = [...called]
    .map(([, name = '']) => name)
    .filter((name) => new RegExp(String.raw`\b${name}\b`).test(http))
  assert.deepEqual(shared.filter((name) => !ELSEWHERE.has(name)).sort(), [
    'createKey',
    'deleteAccount',
    'explainDiscrepancy',
    'exportAccount',
    'importUpstreamCosts',
    'openIncident',
    'pauseKeyByOperator',
    'pauseService',
    'resetSecondFactor',
    'resolveIncident',
    'resumeKeyByOperator',
    'resumeService',
    'revokeKey',
    'setFxRate',
    'updateIncident',
    'withdrawFxRate',
  ])
})

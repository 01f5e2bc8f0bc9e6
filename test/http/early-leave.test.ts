// deep: an attack
/** Clients that leave while the database is asked for them: nothing is kept for a client that is gone. */
import assert from 'node:assert/strict'
import { request, type ClientRequest } from 'node:http'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { LIVE_TERMS } from '../../src/http/live/live-streams.ts'
import { BY_OPERATOR, ask, credentialHeaders, sound } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { openSession } from '../harness/open-session.ts'
import { seedCustomer, withClient } from '../harness/test-database.ts'
import { untilSessionsWait } from '../harness/waiting-sessions.ts'

/** A node has ten connections for reads. */
const AT_ONCE = 8
/** The server has noticed by then that its clients have left. */
const NOTICED_MS = 200

let gateway: TestGateway

before(async () => {
  gateway = await startGateway()
})
after(() => gateway.stop())

const EVENTS = { accept: 'text/event-stream' }

function begin(path: string, headers: Record<string, string>): ClientRequest {
  const sent = request(`${gateway.node.baseUrl}${path}`, { agent: false, headers })
  sent.on('error', () => {})
  sent.end()
  return sent
}

/** Sends requests that wait for this table, and leaves before they may read it. */
async function leaveEarly(
  table: string,
  path: string,
  headers: Record<string, string>,
): Promise<void> {
  await withClient(gateway.database.databaseUrl, async (client) => {
    await client.query('begin')
    await client.query(`lock table ${table} in access exclusive mode`)
    const sent = Array.from({ length: AT_ONCE }, () => begin(path, headers))
    await untilSessionsWait(gateway.database.db, AT_ONCE)
    for (const each of sent) each.destroy()
    await sleep(NOTICED_MS)
    await client.query('commit')
  })
}

async function bodyBytes(): Promise<number> {
  const { text } = await ask(new URL(gateway.node.baseUrl).origin, '/metrics', BY_OPERATOR)
  return Number(/^catraca_body_bytes (\d+)$/m.exec(text)?.[1])
}

test('pages that were closed while their session was looked up take no place of the pages that are open', async () => {
  const { db } = gateway.database
  const { customerId } = await seedCustomer(db, { balanceBrl: '1' })
  const session = await openSession({ db, dataDir: gateway.node.dataDir }, customerId)
  const headers = { ...credentialHeaders(session), ...EVENTS }
  for (let left = 0; left < LIVE_TERMS.perAccountMax; left += AT_ONCE)
    await leaveEarly('sign_in_sessions', '/me/live', headers)
  const leaving = new AbortController()
  const answer = await fetch(`${gateway.node.baseUrl}/me/live`, { headers, signal: leaving.signal })
  leaving.abort()
  assert.equal(answer.status, 200)
})

test('the memory for a stored response is given back for a client that left before it was read', async () => {
  const { db } = gateway.database
  const { secret, customerId } = await seedCustomer(db, { balanceBrl: '1' })
  await sql`update customers set stored_responses_days = 7 where id = ${customerId}`.execute(db)
  const { messages: _, ...model } = sound()
  const body = { ...model, input: 'Olá!', store: true }
  const { status, json, text } = await ask(gateway.node.baseUrl, '/responses', { secret, body })
  assert.equal(status, 200, text)
  await leaveEarly('stored_responses', `/responses/${json.id}`, credentialHeaders(secret))
  // The requests may still be reading: nothing is kept once it stays so.
  const deadline = Date.now() + 30_000
  for (let nothing = 0; nothing < 30; await sleep(50)) {
    const bytes = await bodyBytes()
    nothing = bytes === 0 ? nothing + 1 : 0
    assert.ok(nothing > 0 || Date.now() < deadline, `${bytes} bytes are kept`)
  }
})

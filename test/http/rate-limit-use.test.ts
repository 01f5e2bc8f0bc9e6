/** `/usage/rate-limit`: what the limits counted in this minute, and what was used in the minutes before. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createApiKey, revokeApiKey, type ApiKeyInput } from '../../src/customers/api-keys.ts'
import { avoidMinuteEnd } from '../harness/avoid-minute-end.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { ask, askChat, sound } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { decimal, exactTimeOf, halfUp } from '../harness/known-use.ts'

let gateway: TestGateway

before(async () => {
  gateway = await startGateway()
})
after(() => gateway.stop())

const MINUTE = 60_000_000n

async function createOwner(limits: Partial<ApiKeyInput> = {}) {
  const { customerId, key, secret } = await seedCustomer(gateway.database.db, {
    balanceBrl: '100',
    ...limits,
  })
  return { customerId, secret, apiKeyId: key.id }
}

async function useOf(owner: { secret: string; apiKeyId: string }, minutes = 60): Promise<any> {
  const path = `/usage/rate-limit?minutes=${minutes}`
  const { status, json, text } = await ask(gateway.node.baseUrl, path, { secret: owner.secret })
  assert.equal(status, 200, text)
  assert.equal(json.minutes, minutes)
  return json.keys.find((key: any) => key.api_key_id === owner.apiKeyId)
}

test('the current minute has every counted call, including refused ones, and the counted tokens', async () => {
  await avoidMinuteEnd(5_000)
  const owner = await createOwner({ requestsPerMinute: 4, tokensPerMinute: 100_000 })
  let tokens = 0
  for (let call = 1; call <= 6; call += 1) {
    const { status, json } = await askChat(gateway.node.baseUrl, owner.secret, sound())
    assert.equal(status, call <= 4 ? 200 : 429)
    tokens += json.usage?.total_tokens ?? 0
  }
  assert.ok(tokens > 0)
  const { requests_per_minute: requests, tokens_per_minute: counted } = await useOf(owner, 5)
  const { peak_at, ...rest } = requests
  assert.equal(Date.parse(peak_at), Math.floor(Date.now() / 60_000) * 60_000)
  assert.deepEqual(rest, {
    limit: 4,
    // The fifth call is counted and refused; from then on the node refuses without asking the database.
    current: 5,
    headroom_percent: 0,
    average: 0.8,
    peak: 4,
    peak_headroom_percent: 0,
  })
  const left = Number(decimal(halfUp((100_000n - BigInt(tokens)) * 100n, 1_000n), 2))
  assert.deepEqual(counted, {
    limit: 100_000,
    current: tokens,
    headroom_percent: left,
    average: Math.round((tokens / 5) * 100) / 100,
    peak: tokens,
    peak_at,
    peak_headroom_percent: left,
  })
})

test('calls of the previous minute do not count in the current one', async () => {
  await avoidMinuteEnd()
  const owner = await createOwner({ requestsPerMinute: 100, tokensPerMinute: 1_000 })
  const countIn = (minutesAgo: number) =>
    sql`
    insert into rate_windows (subject, window_at, requests, tokens)
    values (${`k:${owner.apiKeyId}`}, date_trunc('minute', now()) - make_interval(mins => ${minutesAgo}), 25, 500)
    on conflict (subject) do update set window_at = excluded.window_at`.execute(gateway.database.db)
  const current = async (): Promise<unknown[]> => {
    const { requests_per_minute: requests, tokens_per_minute: tokens } = await useOf(owner)
    return [requests, tokens].flatMap((use) => [use.current, use.headroom_percent])
  }
  await countIn(1)
  assert.deepEqual(await current(), [0, 100, 0, 100])
  await countIn(0)
  assert.deepEqual(await current(), [25, 75, 500, 50])
})

test('the average and the peak cover the last minutes, to the microsecond', async () => {
  await avoidMinuteEnd()
  const owner = await createOwner({ requestsPerMinute: 8 })
  const minute = ((BigInt(Date.now()) * 1_000n) / MINUTE) * MINUTE
  const use = { modelId: 'gpt-4o', promptTokens: 70, completionTokens: 30 }
  const at = (micros: bigint, more: object = {}) => ({ at: exactTimeOf(micros), ...use, ...more })
  const first = minute - 9n * MINUTE
  await seedUsage(gateway.database.db, {
    ...owner,
    events: [
      // Before the window.
      ...Array.from({ length: 20 }, () => at(first - 1n)),
      at(first),
      at(first + 1n),
      // Three calls of one minute, of which one failed.
      at(first + 3n * MINUTE),
      at(first + 3n * MINUTE + 30_000_000n, { outcome: 'released' }),
      at(first + 4n * MINUTE - 1n),
      // The most tokens, of one call.
      at(first + 5n * MINUTE, { promptTokens: 900, completionTokens: 5 }),
      at(minute),
    ],
  })
  assert.deepEqual(await useOf(owner, 10), {
    api_key_id: owner.apiKeyId,
    name: 'teste',
    last_four: owner.secret.slice(-4),
    team_id: null,
    requests_per_minute: {
      limit: 8,
      current: 1,
      headroom_percent: 87.5,
      average: 0.7,
      peak: 3,
      peak_at: new Date(Number((first + 3n * MINUTE) / 1_000n)).toISOString(),
      peak_headroom_percent: 62.5,
    },
    tokens_per_minute: {
      limit: null,
      current: 100,
      headroom_percent: null,
      average: 140.5,
      peak: 905,
      peak_at: new Date(Number((first + 5n * MINUTE) / 1_000n)).toISOString(),
      peak_headroom_percent: null,
    },
  })
  assert.equal((await useOf(owner, 11)).requests_per_minute.peak, 20)
})

test('only usable keys are listed, also without balance', async () => {
  const { db } = gateway.database
  const { customerId, secret, key } = await seedCustomer(db, { balanceBrl: '0' })
  const more = { customerId, name: 'outra', requestsPerMinute: 1 }
  const { key: revoked } = await createApiKey(db, more)
  await createApiKey(db, { ...more, expiresAt: new Date(Date.now() - 1_000) })
  await revokeApiKey(db, revoked.id)
  const { json } = await ask(gateway.node.baseUrl, '/usage/rate-limit', { secret })
  assert.deepEqual(
    json.keys.map(({ api_key_id }: any) => api_key_id),
    [key.id],
  )
})

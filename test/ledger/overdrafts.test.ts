/** A budget and a cap exceed their limits only by overruns and changed limits, and each amount is recorded. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { changeApiKey } from '../../src/customers/change-api-key.ts'
import { createApiKey, type ApiKey } from '../../src/customers/api-keys.ts'
import { updateTeam } from '../../src/customers/teams.ts'
import type { Attempt } from '../../src/money/ledger/attempt.ts'
import { audit } from '../../src/money/ledger/audit/audit.ts'
import { release } from '../../src/money/ledger/resolution.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { NANO_BRL_PER_TOKEN, openTestLedger, type TestLedger } from '../harness/open-test-ledger.ts'
import { seedTeam } from '../harness/seed-team.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'

const PICO_USD_PER_TOKEN = 2_000_000n

let database: TestDatabase
let one: TestLedger

before(async () => {
  database = await createTestDatabase()
  one = await openTestLedger(database.db, database.databaseUrl)
})

after(async () => {
  await one.ledger.close()
  await database.drop()
})

interface Limited {
  readonly key: ApiKey
  /** The recorded excess of the budget or cap, in tokens of the test model. */
  overdrawn: () => Promise<bigint>
  /** Sets the held amount, as a fault would. */
  pretendHeld: (tokens: number) => Promise<unknown>
  setLimit: (tokens: number) => Promise<unknown>
  readonly check: string
}

async function keyWithBudget(limitTokens: number): Promise<Limited> {
  const budget = (tokens: number) =>
    ({ limitPicoUsd: BigInt(tokens) * PICO_USD_PER_TOKEN, period: 'lifetime' }) as const
  const { customerId, key } = await seedCustomer(database.db, {
    balanceBrl: '1000',
    budget: budget(limitTokens),
  })
  const limited: { -readonly [Field in keyof Limited]: Limited[Field] } = {
    key,
    async overdrawn() {
      const row = await database.db
        .selectFrom('api_key_budgets')
        .select('overdrawn_pico_usd')
        .where('api_key_id', '=', key.id)
        .executeTakeFirstOrThrow()
      return row.overdrawn_pico_usd / PICO_USD_PER_TOKEN
    },
    pretendHeld: (tokens) =>
      sql`update api_key_budgets set held_pico_usd = ${BigInt(tokens) * PICO_USD_PER_TOKEN}
        where api_key_id = ${key.id}`.execute(database.db),
    async setLimit(tokens) {
      const changed = await changeApiKey(database.db, customerId, key.id, {
        budget: budget(tokens),
      })
      assert.ok(changed.kind === 'changed')
      limited.key = changed.key
    },
    check: 'key budgets exceed their limits by recorded overruns only',
  }
  return limited
}

async function keyOfTeam(limitTokens: number): Promise<Limited> {
  const { customerId } = await seedCustomer(database.db, { balanceBrl: '1000' })
  const nanoBrl = (tokens: number): bigint => BigInt(tokens) * NANO_BRL_PER_TOKEN
  const teamId = await seedTeam(database.db, customerId, { limitNanoBrl: nanoBrl(limitTokens) })
  const { key } = await createApiKey(database.db, {
    customerId,
    name: 'da equipe',
    requestsPerMinute: 1_000_000,
    teamId,
  })
  return {
    key,
    async overdrawn() {
      const row = await database.db
        .selectFrom('team_budgets')
        .select('overdrawn_nano_brl')
        .where('team_id', '=', teamId)
        .executeTakeFirstOrThrow()
      return row.overdrawn_nano_brl / NANO_BRL_PER_TOKEN
    },
    pretendHeld: (tokens) =>
      sql`update team_budgets set held_nano_brl = ${nanoBrl(tokens)} where team_id = ${teamId}`.execute(
        database.db,
      ),
    setLimit: (tokens) => updateTeam(database.db, teamId, { limitNanoBrl: nanoBrl(tokens) }),
    check: 'team caps exceed their limits by recorded overruns only',
  }
}

async function held({ key }: Limited, tokens: number): Promise<Attempt> {
  const attempt = one.attempt(key, tokens)
  assert.equal((await one.ledger.hold(attempt)).kind, 'held')
  return attempt
}

async function settled(attempt: Attempt, tokens: number): Promise<void> {
  assert.equal((await one.ledger.resolve(one.charge(attempt, tokens))).kind, 'committed')
}

const LIMITS = [
  ['budget', keyWithBudget],
  ['cap', keyOfTeam],
] as const

for (const [name, make] of LIMITS) {
  test(`a ${name}: an overrun is recorded with the part that exceeds the limit`, async () => {
    const limited = await make(100)
    await settled(await held(limited, 50), 90)
    assert.equal(await limited.overdrawn(), 0n, 'an overrun within the limit')
    await settled(await held(limited, 10), 25)
    assert.equal(await limited.overdrawn(), 15n)
    await assertAudit(database)
  })

  test(`a ${name}: a limit below the spent and held amount is recorded, and a higher limit clears it`, async () => {
    const limited = await make(100)
    await settled(await held(limited, 30), 30)
    const open = await held(limited, 40)
    await limited.setLimit(50)
    assert.equal(await limited.overdrawn(), 20n)
    await assertAudit(database)
    await one.ledger.resolve(release(open, 'upstream_error'))
    assert.equal(await limited.overdrawn(), 0n)
    await limited.setLimit(10)
    assert.equal(await limited.overdrawn(), 20n)
    await limited.setLimit(100)
    assert.equal(await limited.overdrawn(), 0n)
    await assertAudit(database)
  })

  test(`a ${name}: a correction that charges more is recorded`, async () => {
    const limited = await make(100)
    const call = await held(limited, 60)
    await one.ledger.resolve(release(call, 'lease_lapsed'))
    await settled(await held(limited, 80), 80)
    const late = { ...one.charge(call, 60), isFinal: true }
    assert.equal((await one.ledger.resolve(late)).kind, 'corrected')
    assert.equal(await limited.overdrawn(), 40n)
    await assertAudit(database)
  })
}

// These tests run last: the audit fails from here on.
for (const [name, make] of LIMITS) {
  test(`a ${name}: the audit finds two holds that use the same room, even after an overrun of that size`, async () => {
    const limited = await make(100)
    // This overrun stays within the limit, so it excuses no later excess.
    await settled(await held(limited, 5), 25)
    const calls = [await held(limited, 50)]
    // The second hold does not count the first.
    await limited.pretendHeld(0)
    calls.push(await held(limited, 50))
    await limited.pretendHeld(100)
    const found = async (): Promise<boolean> =>
      (await audit(database.db)).checks.some(
        (check) =>
          check.name === limited.check &&
          !check.ok &&
          JSON.stringify(check.breaches, (_, value: unknown) =>
            typeof value === 'bigint' ? String(value) : value,
          ).includes(name === 'budget' ? limited.key.id : String(limited.key.teamId)),
      )
    assert.ok(await found(), 'while the holds are open')
    for (const call of calls) await settled(call, 50)
    assert.ok(await found(), 'after they are settled')
  })
}

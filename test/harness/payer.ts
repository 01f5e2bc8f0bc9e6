/** A customer who can top up, and the actions of the buttons on the sandbox's payment page. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { saveProfile } from '../../src/customers/profiles.ts'
import type { Database } from '../../src/platform/db/open.ts'
import { seedCustomer } from './test-database.ts'

export interface Payer {
  readonly customerId: string
  readonly secret: string
}

/** With an e-mail and a profile, and nothing to spend. */
export async function seedPayer(db: Database, taxId = '52998224725'): Promise<Payer> {
  const { customerId, secret } = await seedCustomer(db, { balanceBrl: '0' })
  await db
    .updateTable('customers')
    .set({ email: `${customerId}@example.com` })
    .where('id', '=', customerId)
    .execute()
  await saveProfile(db, customerId, { full_name: 'Marília <Souza>', tax_id: taxId })
  return { customerId, secret }
}

export async function actOnPage(
  pageUrl: string,
  act: 'pagar' | 'contestar' = 'pagar',
): Promise<void> {
  const page = await (await fetch(pageUrl)).text()
  const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1]
  assert.ok(action, page.slice(0, 500))
  const answer = await fetch(new URL(action, pageUrl), {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ acao: act }),
  })
  assert.ok(answer.status < 400, `${answer.status}`)
}

export async function until<Value>(
  read: () => Promise<Value>,
  isIt: (value: Value) => boolean,
): Promise<Value> {
  for (const deadline = Date.now() + 30_000; ; await sleep(100)) {
    const value = await read()
    if (isIt(value)) return value
    assert.ok(Date.now() < deadline, inspect(value))
  }
}

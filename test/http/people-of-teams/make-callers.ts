import assert from 'node:assert/strict'
import { createApiKey } from '../../../src/customers/api-keys.ts'
import { createId, randomText, sha256 } from '../../../src/platform/lib/ids.ts'
import { ask } from '../../harness/ask.ts'
import type { TestGateway } from '../../harness/gateway.ts'
import { openSession } from '../../harness/open-session.ts'
import { seedCustomer } from '../../harness/test-database.ts'

export interface Caller {
  readonly name: string
  readonly secret: string
  /** In the victim's team. */
  readonly rank?: 'admin' | 'member' | 'invited' | 'former'
  /** Pays with the victim's balance. */
  readonly isTeamKey?: true
}

interface Person {
  readonly customerId: string
  readonly email: string
  readonly secret: string
}

/** Who is, was or may be in the victim's team, and a stranger. */
export async function makeCallers(
  { database: { db }, node }: TestGateway,
  victim: { readonly customerId: string },
  teamId: string,
): Promise<readonly Caller[]> {
  const newPerson = async (): Promise<Person> => {
    const { customerId, secret } = await seedCustomer(db, { balanceBrl: '50' })
    const email = `${randomText(10).toLowerCase()}@exemplo.com.br`
    await db
      .updateTable('customers')
      .set({ email, stored_responses_days: 30 })
      .where('id', '=', customerId)
      .execute()
    return { customerId, email, secret }
  }
  const join = async ({ customerId }: Person, role: 'admin' | 'member'): Promise<string> => {
    const row = { team_id: teamId, customer_id: customerId, role }
    await db.insertInto('team_members').values(row).execute()
    const key = { name: 'da equipe', requestsPerMinute: 100_000, teamId, createdBy: customerId }
    return (await createApiKey(db, { customerId: victim.customerId, ...key })).secret
  }
  const sessionOf = ({ customerId }: Person): Promise<string> =>
    openSession({ db, dataDir: node.dataDir }, customerId)

  const admin = await newPerson()
  const adminKey = await join(admin, 'admin')
  const member = await newPerson()
  const memberKey = await join(member, 'member')
  const former = await newPerson()
  const formerKey = await join(former, 'member')
  const invited = await newPerson()
  await db
    .insertInto('team_invitations')
    .values({
      id: createId(),
      team_id: teamId,
      email: invited.email,
      role: 'admin',
      token_hash: sha256(createId()),
      invited_by: victim.customerId,
      expires_at: new Date(Date.now() + 86_400_000),
    })
    .execute()
  await leave(node.baseUrl, teamId, former, formerKey)
  return [
    { name: 'a stranger', secret: (await newPerson()).secret },
    { name: "an administrator's session", secret: await sessionOf(admin), rank: 'admin' },
    { name: "an administrator's team key", secret: adminKey, rank: 'admin', isTeamKey: true },
    { name: "a member's key", secret: member.secret, rank: 'member' },
    { name: "a member's team key", secret: memberKey, rank: 'member', isTeamKey: true },
    { name: "an invited person's session", secret: await sessionOf(invited), rank: 'invited' },
    { name: "a former member's session", secret: await sessionOf(former), rank: 'former' },
    { name: "a former member's team key", secret: formerKey },
  ]
}

/** With the team's key in the cache of the node. */
async function leave(
  baseUrl: string,
  teamId: string,
  { customerId, secret }: Person,
  teamSecret: string,
): Promise<void> {
  const used = await ask(baseUrl, '/models', { secret: teamSecret })
  assert.equal(used.status, 200, used.text)
  const path = `/me/teams/${teamId}/members/${customerId}`
  const left = await ask(baseUrl, path, { method: 'DELETE', secret })
  assert.equal(left.status, 200, left.text)
}

import { createApiKey } from '../../../src/customers/api-keys.ts'
import { createInvitation } from '../../../src/customers/team-invitations.ts'
import { createTeam } from '../../../src/customers/teams.ts'
import type { Database } from '../../../src/db/open.ts'
import { createId } from '../../../src/lib/ids.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import type { GatewayUnderTest } from '../gateway-under-test.ts'
import type { ContractCases } from './contract-case.ts'

const KEY = { name: 'contrato', model_ids: ['sandbox-chat'] }
const INVITATION = { email: 'convite@exemplo.com.br', role: 'member' }

export async function createCases({
  database,
  customerId,
}: GatewayUnderTest): Promise<ContractCases> {
  const { db } = database
  const makeTeam = async (ownerId: string): Promise<string> => {
    const created = await db
      .transaction()
      .execute((trx) => createTeam(trx, { ownerId, name: 'Contrato', limitNanoBrl: null }))
    if (created.kind !== 'created') throw new Error(created.kind)
    return `/me/teams/${created.id}`
  }
  const team = await makeTeam(customerId)
  const other = await seedCustomer(db, { balanceBrl: '0' })
  const strange = await makeTeam(other.customerId)
  const people = await seedPeople(db, { team, ownerId: customerId })
  const { member, leaver, guest } = people
  return {
    'GET /me/teams': [
      {},
      { path: '/me/teams?limit=1' },
      { path: '/me/teams?cursor=x', status: 400 },
      { isAnonymous: true, status: 401 },
    ],
    'POST /me/teams': [
      { body: { name: 'Equipe', monthly_cap_brl: 12.34 }, status: 201 },
      { body: { name: 'ab' }, status: 400 },
      { body: { name: 'Equipe' }, isAnonymous: true, status: 401 },
    ],
    'GET /me/teams/{id}': [
      { path: team },
      { path: team, secret: member.secret },
      { path: strange, status: 404 },
    ],
    'PATCH /me/teams/{id}': [
      { path: team, body: { name: 'Outro nome', monthly_cap_brl: null } },
      { path: team, body: { monthly_cap_brl: 0.001 }, status: 400 },
      { path: team, body: { name: 'Outro nome' }, secret: member.secret, status: 403 },
      { path: strange, body: {}, status: 404 },
    ],
    'GET /me/teams/{id}/members': [
      { path: `${team}/members` },
      { path: `${team}/members`, secret: member.secret },
      { path: `${strange}/members`, status: 404 },
    ],
    'PATCH /me/teams/{id}/members/{customerId}': [
      { path: `${team}/members/${leaver.customerId}`, body: { role: 'member' } },
      { path: `${team}/members/${leaver.customerId}`, body: { role: 'owner' }, status: 400 },
      { path: `${team}/members/${customerId}`, body: { role: 'member' }, status: 403 },
      { path: `${team}/members/${createId()}`, body: { role: 'member' }, status: 404 },
    ],
    'DELETE /me/teams/{id}/members/{customerId}': [
      { path: `${team}/members/${leaver.customerId}` },
      { path: `${team}/members/${leaver.customerId}`, status: 404 },
      { path: `${team}/members/${customerId}`, status: 403 },
    ],
    'GET /me/teams/{id}/invitations': [
      { path: `${team}/invitations` },
      { path: `${team}/invitations`, secret: member.secret, status: 403 },
      { path: `${strange}/invitations`, status: 404 },
    ],
    'POST /me/teams/{id}/invitations': [
      { path: `${team}/invitations`, body: INVITATION, status: 201 },
      { path: `${team}/invitations`, body: INVITATION, status: 409 },
      { path: `${team}/invitations`, body: { email: 'x', role: 'member' }, status: 400 },
      { path: `${strange}/invitations`, body: INVITATION, status: 404 },
    ],
    'DELETE /me/teams/{id}/invitations/{invitationId}': [
      { path: `${team}/invitations/${people.invitationId}` },
      { path: `${team}/invitations/${people.invitationId}`, status: 404 },
    ],
    'GET /me/invitations': [{}, { secret: guest.secret }, { isAnonymous: true, status: 401 }],
    'POST /me/invitations/accept': [
      { body: { token: guest.token }, secret: guest.secret },
      { body: { token: guest.token }, secret: guest.secret, status: 404 },
      { body: {}, status: 400 },
    ],
    'GET /me/teams/{id}/keys': [
      { path: `${team}/keys` },
      { path: `${team}/keys?limit=0`, status: 400 },
      { path: `${strange}/keys`, status: 404 },
    ],
    'POST /me/teams/{id}/keys': [
      { path: `${team}/keys`, body: KEY, status: 201 },
      { path: `${team}/keys`, body: KEY, secret: member.secret, status: 201 },
      { path: `${team}/keys`, body: { ...KEY, model_ids: [] }, status: 400 },
      { path: `${strange}/keys`, body: KEY, status: 404 },
    ],
    'DELETE /me/teams/{id}/keys/{keyId}': [
      { path: `${team}/keys/${people.keyId}` },
      { path: `${team}/keys/${people.keyId}` },
      { path: `${team}/keys/${createId()}`, status: 404 },
    ],
    'DELETE /me/teams/{id}': [
      { path: team, secret: member.secret, status: 403 },
      { path: team },
      { path: team, status: 404 },
    ],
    // The contract's gateway has no admins; what an admin gets is in audit-log.test.ts.
    'GET /admin/audit-log/export.csv': [{ status: 403 }, { isAnonymous: true, status: 401 }],
  }
}

/** Two members, an open invitation that can be revoked, one that can be accepted, and a key. */
async function seedPeople(
  db: Database,
  { team, ownerId }: { team: string; ownerId: string },
): Promise<{
  member: { secret: string }
  leaver: { customerId: string }
  guest: { secret: string; token: string }
  invitationId: string
  keyId: string
}> {
  const teamId = team.split('/').at(-1) as string
  const [member, leaver, guest] = await Promise.all(
    [1, 2, 3].map(() => seedCustomer(db, { balanceBrl: '0' })),
  )
  if (!member || !leaver || !guest) throw new Error('three were made')
  for (const { customerId } of [member, leaver])
    await db
      .insertInto('team_members')
      .values({ team_id: teamId, customer_id: customerId, role: 'member' })
      .execute()
  const email = `${createId()}@exemplo.com.br`
  await db.updateTable('customers').set({ email }).where('id', '=', guest.customerId).execute()
  const invite = (email: string) =>
    createInvitation(db, { teamId, email, role: 'member', invitedBy: ownerId })
  const [open, revocable] = [await invite(email), await invite('outro@exemplo.com.br')]
  if (open.kind !== 'created' || revocable.kind !== 'created') throw new Error('not invited')
  const { key } = await createApiKey(db, {
    customerId: ownerId,
    name: 'contrato',
    requestsPerMinute: 10,
    teamId,
    createdBy: ownerId,
  })
  return {
    member,
    leaver,
    guest: { secret: guest.secret, token: open.token },
    invitationId: revocable.invitation.id,
    keyId: key.id,
  }
}

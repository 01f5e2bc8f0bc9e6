import { createApiKey } from '../../../src/customers/api-keys.ts'
import { insertInvitation } from '../../../src/customers/team-invitations.ts'
import { insertTeam } from '../../../src/customers/teams.ts'
import type { Database } from '../../../src/platform/db/open.ts'
import { createId } from '../../../src/platform/lib/ids.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import type { TestGateway } from '../../harness/gateway.ts'
import type { ContractCases } from './contract-case.ts'
import { seedAdmin } from './seed-admin.ts'

const KEY = { name: 'contrato', model_ids: ['sandbox-chat'] }
const INVITATION = { email: 'convite@exemplo.com.br', role: 'member' }

export async function createCases(gateway: TestGateway): Promise<ContractCases> {
  const { database, customerId } = gateway
  const { db } = database
  const admin = await seedAdmin(gateway)
  const makeTeam = async (ownerId: string): Promise<string> => {
    const created = await db
      .transaction()
      .execute((trx) => insertTeam(trx, { ownerId, name: 'Contrato', limitNanoBrl: null }))
    if (created.kind !== 'created') throw new Error(created.kind)
    return `/me/teams/${created.id}`
  }
  const team = await makeTeam(customerId)
  const other = await seedCustomer(db, { balanceBrl: '0' })
  const strange = await makeTeam(other.customerId)
  const teams = [team, await makeTeam(customerId), await makeTeam(customerId)]
  const people = await seedPeople(db, { teams, ownerId: customerId })
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
    'POST /me/invitations/{id}/accept': [
      { path: `/me/invitations/${guest.otherInvitationId}/accept`, secret: guest.secret },
      { path: `/me/invitations/${guest.otherInvitationId}/accept`, status: 404 },
      { path: `/me/invitations/${createId()}/accept`, isAnonymous: true, status: 401 },
    ],
    'DELETE /me/invitations/{id}': [
      { path: `/me/invitations/${guest.declinedInvitationId}`, secret: guest.secret },
      { path: `/me/invitations/${guest.declinedInvitationId}`, secret: guest.secret, status: 404 },
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
    'GET /admin/audit-log': [
      { secret: admin },
      { path: `/admin/audit-log?customer_id=${customerId}&action=team.&limit=2`, secret: admin },
      { path: '/admin/audit-log?action=Team', secret: admin, status: 400 },
      { status: 403 },
      { isAnonymous: true, status: 401 },
    ],
  }
}

/** Two members, an open invitation that can be revoked, three that a guest can answer, and a key. */
async function seedPeople(
  db: Database,
  { teams, ownerId }: { teams: readonly string[]; ownerId: string },
): Promise<{
  member: { secret: string }
  leaver: { customerId: string }
  guest: {
    secret: string
    token: string
    otherInvitationId: string
    declinedInvitationId: string
  }
  invitationId: string
  keyId: string
}> {
  const [teamId, ...otherIds] = teams.map((team) => team.split('/').at(-1) as string)
  if (teamId === undefined) throw new Error('no team')
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
  // The guest signed in with this e-mail, and needs no token.
  await db
    .insertInto('sign_in_users')
    .values({ id: createId(), name: 'Convidada', email, is_verified: true })
    .execute()
  const invite = async (email: string, teamId: string) => {
    const made = await insertInvitation(db, { teamId, email, role: 'member', invitedBy: ownerId })
    if (made.kind !== 'created') throw new Error('not invited')
    return made
  }
  const [open, other, declined] = await Promise.all(
    [teamId, ...otherIds].map((id) => invite(email, id)),
  )
  const revocable = await invite('outro@exemplo.com.br', teamId)
  if (!open || !other || !declined) throw new Error('three teams invite')
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
    guest: {
      secret: guest.secret,
      token: open.token,
      otherInvitationId: other.invitation.id,
      declinedInvitationId: declined.invitation.id,
    },
    invitationId: revocable.invitation.id,
    keyId: key.id,
  }
}

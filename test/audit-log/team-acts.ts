import assert from 'node:assert/strict'
import type { Actor } from '../../src/platform/audit-log/audited.ts'
import { acceptInvitation } from '../../src/customers/accept-invitation.ts'
import { createCustomer } from '../../src/customers/customers.ts'
import {
  changeTeam,
  changeTeamMember,
  createTeam,
  deleteTeam,
  inviteToTeam,
  removeTeamMember,
  revokeInvitation,
} from '../../src/customers/team-acts.ts'
import { declineInvitation, insertInvitation } from '../../src/customers/team-invitations.ts'
import { addTeamMember } from '../../src/customers/team-members.ts'
import type { Database } from '../../src/platform/db/open.ts'
import { seedTeam } from '../harness/seed-team.ts'
import { seedCustomer } from '../harness/test-database.ts'
import type { ActInTest } from './act-in-test.ts'

/** Acts on a team with one member and one open invitation. */
export async function teamActs(db: Database): Promise<ActInTest[]> {
  const { customerId: ownerId } = await seedCustomer(db, { balanceBrl: '0' })
  const { customerId: memberId } = await seedCustomer(db, { balanceBrl: '0' })
  const email = 'convidada@example.com'
  const invited = await createCustomer(db, { name: 'Convidada', email })
  assert.ok('id' in invited)
  const teamId = await seedTeam(db, ownerId)
  await addTeamMember(db, { teamId, customerId: memberId, role: 'member' })
  const toTeam = { teamId, role: 'member', invitedBy: ownerId } as const
  const open = await insertInvitation(db, { ...toTeam, email })
  assert.ok(open.kind === 'created')
  const { token, invitation } = open
  const owner: Actor = { kind: 'customer', customerId: ownerId }
  const guest: Actor = { kind: 'customer', customerId: invited.id }
  const access = { teamId, ownerId, rank: 'owner' } as const
  const accept = () =>
    acceptInvitation(db, guest, {
      proof: { token },
      customerId: invited.id,
      hasProvedEmail: async () => true,
    })
  return [
    {
      action: 'team.created',
      table: 'teams',
      run: () => createTeam(db, owner, { ownerId, name: 'outra', limitNanoBrl: null }),
    },
    {
      action: 'team.changed',
      table: 'teams',
      run: () => changeTeam(db, owner, { access, change: { name: 'nova' }, fields: ['name'] }),
    },
    {
      action: 'team.deleted',
      table: 'teams',
      run: () => deleteTeam(db, owner, { access }),
    },
    {
      action: 'team_member.changed',
      table: 'team_members',
      run: () => changeTeamMember(db, owner, { access, customerId: memberId, role: 'admin' }),
    },
    {
      action: 'team_member.removed',
      table: 'team_members',
      run: () => removeTeamMember(db, owner, { access, customerId: memberId }),
    },
    {
      action: 'team_invitation.created',
      table: 'team_invitations',
      run: () =>
        inviteToTeam(db, owner, {
          access,
          email: 'outra@example.com',
          role: 'member',
          invitedBy: ownerId,
        }),
    },
    {
      action: 'team_invitation.revoked',
      table: 'team_invitations',
      run: () => revokeInvitation(db, owner, { access, invitationId: invitation.id }),
    },
    { action: 'team_invitation.accepted', table: 'team_invitations', run: accept },
    { action: 'team_member.joined', table: 'team_members', run: accept },
    {
      action: 'team_invitation.declined',
      table: 'team_invitations',
      run: () =>
        declineInvitation(db, guest, { invitationId: invitation.id, customerId: invited.id }),
    },
  ]
}

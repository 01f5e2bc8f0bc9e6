import { receivedInvitationRoutes } from './received-invitation-routes.ts'
import { teamRoutes } from './team-routes.ts'
import { teamInvitationRoutes } from './team-invitation-routes.ts'
import { teamKeyRoutes } from './team-key-routes.ts'
import { teamMemberRoutes } from './team-member-routes.ts'

export const teams = [
  ...teamRoutes,
  ...teamMemberRoutes,
  ...teamInvitationRoutes,
  ...receivedInvitationRoutes,
  ...teamKeyRoutes,
]

/** A gateway with two admins. */
import { createId } from '../../src/lib/ids.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { ask, startGateway, type Asked, type GatewayUnderTest } from './gateway-under-test.ts'

export interface Admin {
  readonly customerId: string
  readonly secret: string
  call(path: string, body?: unknown, method?: string): Promise<Asked>
}

export interface AdminsUnderTest {
  readonly gateway: GatewayUnderTest
  readonly ana: Admin
  readonly bia: Admin
}

export async function startWithAdmins(env: Record<string, string> = {}): Promise<AdminsUnderTest> {
  const emails = ['ana', 'bia'].map((name) => `${name}@admin.example`)
  const gateway = await startGateway({ ADMIN_EMAILS: emails.join(','), ...env })
  const { db } = gateway.database
  const [ana, bia] = await Promise.all(
    emails.map(async (email) => {
      const { customerId, secret } = await seedCustomer(db, { balanceBrl: '0' })
      await db.updateTable('customers').set({ email }).where('id', '=', customerId).execute()
      return {
        customerId,
        secret,
        call: (path: string, body?: unknown, method?: string) =>
          ask(gateway.node.baseUrl, path, { secret, body, ...(method ? { method } : {}) }),
      }
    }),
  )
  return { gateway, ana: ana as Admin, bia: bia as Admin }
}

/** Acts that are told of a thing, the oldest first. */
export async function actsOn(
  { database }: GatewayUnderTest,
  subjectId: string,
): Promise<{ action: string; actor_id: string | null; details: unknown }[]> {
  return database.db
    .selectFrom('audit_log')
    .select(['action', 'actor_id', 'details'])
    .where('subject_id', '=', subjectId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

export function newReference(): string {
  return `chamado-${createId()}`
}

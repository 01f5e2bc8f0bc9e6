/** A gateway with two admins. */
import { createId } from '../../src/platform/lib/ids.ts'
import { seedCustomer } from './test-database.ts'
import { ask, type Asked } from './ask.ts'
import { startGateway, type TestGateway } from './gateway.ts'
import { openOperatorSession } from './open-session.ts'

export interface Admin {
  readonly customerId: string
  /** Of a login session with a second factor. */
  readonly secret: string
  call(path: string, body?: unknown, method?: string): Promise<Asked>
}

export interface TestAdmins {
  readonly gateway: TestGateway
  readonly ana: Admin
  readonly bia: Admin
}

export async function startWithAdmins(env: Record<string, string> = {}): Promise<TestAdmins> {
  const emails = ['ana', 'bia'].map((name) => `${name}@admin.example`)
  const gateway = await startGateway({ ADMIN_EMAILS: emails.join(','), ...env })
  const { db } = gateway.database
  const at = { db, dataDir: gateway.node.dataDir }
  const [ana, bia] = await Promise.all(
    emails.map(async (email) => {
      const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
      const secret = await openOperatorSession(at, customerId, email)
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

/** The recorded acts on a subject, oldest first. */
export async function actsOn(
  { database }: TestGateway,
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

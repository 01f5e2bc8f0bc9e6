import { sql } from 'kysely'
import { listPasskeys } from '../../identity/sign-in/passkeys.ts'
import { listLinkedAccounts } from '../../identity/sign-in/providers.ts'
import { listSessions, type Session } from '../../identity/sign-in/sessions.ts'
import type { HttpParts } from '../rest/parts.ts'

type Deps = Pick<HttpParts, 'db'>

interface Guards {
  readonly hasPassword: boolean
  readonly enabledAt: Date | null
  readonly backupCodesLeft: number
}

/** Returns the security settings of an account, without its secrets, for the dashboard's page. */
export async function securityState({ db }: Deps, session: Session): Promise<object> {
  const { userId } = session
  const { rows } = await sql<Guards>`
    select
      exists (select 1 from sign_in_accounts a where a.user_id = u.id and a.password is not null) as "hasPassword",
      f.enabled_at as "enabledAt",
      (select count(*)::int4 from sign_in_backup_codes b where b.user_id = u.id) as "backupCodesLeft"
    from sign_in_users u left join sign_in_second_factors f on f.user_id = u.id
    where u.id = ${userId}`.execute(db)
  const [guards] = rows
  const passkeys = await listPasskeys(db, userId)
  const linkedAccounts = await listLinkedAccounts(db, userId)
  const sessions = await listSessions(db, userId)
  return {
    email: session.email,
    isProved: session.isProved,
    hasPassword: guards?.hasPassword ?? false,
    secondFactor: {
      enabledAt: guards?.enabledAt ?? null,
      backupCodesLeft: guards?.backupCodesLeft ?? 0,
    },
    passkeys,
    linkedAccounts,
    sessions: sessions.map((each) => ({ ...each, isThis: each.id === session.id })),
  }
}

import { findCustomer } from '../../customers/customers.ts'
import type { Database } from '../../db/open.ts'
import { hasAccess, type Access, type CallerKind } from './access.ts'
import type { Caller } from './authenticate.ts'
import { RestRefusal } from './rest-refusal.ts'

export interface AssertAccessDeps {
  readonly db: Database
  /** In lower case: customers with these addresses may use `/admin`. */
  readonly adminEmails: ReadonlySet<string>
}

/** Throws a `RestRefusal` unless the table of `access.ts` gives the caller this access. */
export async function assertAccess(
  deps: AssertAccessDeps,
  caller: Caller,
  access: Access,
): Promise<void> {
  const kind: CallerKind = caller.keyId === undefined ? 'session' : caller.scope
  if (hasAccess(kind, access)) return
  if (hasAccess('operator', access) && !hasAccess('session', access)) {
    if (await isAdmin(deps, caller)) return
    throw new RestRefusal(403, 'forbidden')
  }
  throw new RestRefusal(
    403,
    'key_scope_insufficient',
    `the scope ${access} is needed, and this key has ${kind}`,
  )
}

async function isAdmin({ db, adminEmails }: AssertAccessDeps, caller: Caller): Promise<boolean> {
  const email = (await findCustomer(db, caller.customerId))?.email?.toLowerCase()
  return email !== undefined && adminEmails.has(email)
}

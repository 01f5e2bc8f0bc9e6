import { findLimit } from '../../customers/key-makers.ts'
import type { Database } from '../../db/open.ts'
import { hasAccess, isOperatorAccess, scopeOf, type Access, type OperatorRole } from './access.ts'
import type { Caller } from './authenticate.ts'
import { RestRefusal } from './rest-refusal.ts'

export interface AssertAccessDeps {
  /** By e-mail, in lower case. */
  readonly operatorRoles: ReadonlyMap<string, OperatorRole>
  readonly replicas: { readonly primary: Database }
}

/** Throws a `RestRefusal` unless the table of `access.ts` gives the caller this access. */
export async function assertAccess(
  { operatorRoles, replicas }: AssertAccessDeps,
  caller: Caller,
  access: Access,
): Promise<void> {
  if (isOperatorAccess(access)) return assertOperator(operatorRoles, caller, access)
  const kind = caller.keyId === undefined ? 'session' : caller.scope
  if (!hasAccess(kind, access))
    throw new RestRefusal(
      403,
      'key_scope_insufficient',
      `precisa da permissão ${scopeOf(access)}, e esta chave tem ${kind}`,
    )
  // The acts themselves ask for no limit.
  const field =
    caller.keyId !== undefined && kind === 'manage' && !hasAccess('limited', access)
      ? await findLimit(replicas.primary, caller.keyId)
      : undefined
  if (field !== undefined)
    throw new RestRefusal(
      403,
      'beyond_own_key',
      `${field}: uma chave com este limite não faz o que vai além dele`,
    )
}

/** An API key never operates the service, not even an operator's: only a session with a second factor does. */
function assertOperator(
  operatorRoles: ReadonlyMap<string, OperatorRole>,
  caller: Caller,
  access: OperatorRole,
): void {
  const role = caller.keyId === undefined ? operatorRoles.get(caller.email) : undefined
  if (caller.keyId !== undefined || role === undefined) throw new RestRefusal(403, 'forbidden')
  if (!hasAccess(role, access))
    throw new RestRefusal(403, 'forbidden', `só para o papel ${access}; o seu é ${role}`)
  if (!caller.hasFactor)
    throw new RestRefusal(
      403,
      'second_factor_required',
      'entre com uma chave de acesso ou um código; configure em /seguranca',
    )
}

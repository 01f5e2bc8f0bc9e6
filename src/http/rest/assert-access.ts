import { findLimit } from '../../customers/key-makers.ts'
import type { Database } from '../../platform/db/open.ts'
import { findKeyOperator, type KeyOperator } from '../../identity/sign-in/second-factor.ts'
import { hasAccess, isOperatorAccess, scopeOf, type Access, type OperatorRole } from './access.ts'
import type { Caller } from './authenticate.ts'
import { RestRefusal } from './rest-refusal.ts'

export interface AssertAccessDeps {
  /** By e-mail, in lower case. */
  readonly operatorRoles: ReadonlyMap<string, OperatorRole>
  readonly replicas: { readonly primary: Database }
}

/**
 * Checks that the caller may use the route. Throws a `RestRefusal` unless the table of `access.ts` gives the caller
 * this access.
 */
export async function assertAccess(
  { operatorRoles, replicas }: AssertAccessDeps,
  caller: Caller,
  access: Access,
  method: string,
): Promise<void> {
  if (isOperatorAccess(access)) {
    const operator = await findOperator(replicas.primary, caller, access, method)
    return assertOperator(operatorRoles.get(operator.email), operator, access)
  }
  const kind = caller.keyId === undefined ? 'session' : caller.scope
  if (!hasAccess(kind, access, method))
    throw new RestRefusal(
      403,
      'key_scope_insufficient',
      `precisa da permissão ${scopeOf(access)}, e esta chave tem ${kind}`,
    )
  // The acts themselves ask for no limit.
  const field =
    caller.keyId !== undefined && kind === 'manage' && !hasAccess('limited', access, method)
      ? await findLimit(replicas.primary, caller.keyId)
      : undefined
  if (field !== undefined)
    throw new RestRefusal(
      403,
      'beyond_own_key',
      `${field}: uma chave com este limite não faz o que vai além dele`,
    )
}

/**
 * Whose role counts: the user of a session, or the owner of a key with the scope `operator`, as they are at this moment.
 * No key changes anything for an operator; of the others none even reads.
 */
async function findOperator(
  primary: Database,
  caller: Caller,
  access: OperatorRole,
  method: string,
): Promise<KeyOperator> {
  if (caller.keyId === undefined) return caller
  if (caller.scope !== 'operator') throw new RestRefusal(403, 'forbidden')
  if (!hasAccess(caller.scope, access, method))
    throw new RestRefusal(403, 'forbidden', 'uma chave operator só lê; entre no painel')
  const operator = await findKeyOperator(primary, caller.keyId)
  if (!operator) throw new RestRefusal(403, 'forbidden')
  return operator
}

function assertOperator(
  role: OperatorRole | undefined,
  { hasFactor }: KeyOperator,
  access: OperatorRole,
): void {
  if (role === undefined) throw new RestRefusal(403, 'forbidden')
  if (!hasAccess(role, access, 'GET'))
    throw new RestRefusal(403, 'forbidden', `só para o papel ${access}; o seu é ${role}`)
  if (!hasFactor)
    throw new RestRefusal(
      403,
      'second_factor_required',
      'entre com uma chave de acesso ou um código; configure em /seguranca',
    )
}

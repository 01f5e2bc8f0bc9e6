import { hasAccess, isOperatorAccess, type Access, type OperatorRole } from './access.ts'
import type { Caller } from './authenticate.ts'
import { RestRefusal } from './rest-refusal.ts'

export interface AssertAccessDeps {
  /** By e-mail, in lower case. */
  readonly operatorRoles: ReadonlyMap<string, OperatorRole>
}

/** Throws a `RestRefusal` unless the table of `access.ts` gives the caller this access. */
export function assertAccess(
  { operatorRoles }: AssertAccessDeps,
  caller: Caller,
  access: Access,
): void {
  if (isOperatorAccess(access)) return assertOperator(operatorRoles, caller, access)
  const kind = caller.keyId === undefined ? 'session' : caller.scope
  if (!hasAccess(kind, access))
    throw new RestRefusal(
      403,
      'key_scope_insufficient',
      `precisa da permissão ${access}, e esta chave tem ${kind}`,
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

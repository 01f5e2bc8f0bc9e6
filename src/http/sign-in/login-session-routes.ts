/** `GET /session`: the signed-in customer, and the token that pages need for further requests. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { findCustomer } from '../../customers/customers.ts'
import { findSuspension } from '../../customers/suspend-customer.ts'
import { hasAcceptedTerms } from '../../customers/legal/legal-versions.ts'
import { answer, nullable, suspension, suspensionBody } from '../rest/values.ts'
import { OPERATOR_ROLES } from '../rest/access.ts'
import type { HttpParts } from '../rest/parts.ts'
import { originOf } from '../rest/request-headers.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'config' | 'db' | 'signIn' | 'operatorRoles'>

export const loginSessionRoutes = [
  restRoute({
    method: 'GET',
    path: '/session',
    tag: 'Conta',
    summary: 'Quem está na sessão do painel, ou de quem é a chave',
    access: 'account',
    answer: answer({
      customer: answer({
        id: Type.String({ format: 'uuid' }),
        name: Type.String(),
        email: Type.Union([Type.String(), Type.Null()]),
      }),
      must_accept_terms: Type.Boolean({
        description:
          'Os termos de uso em vigor ainda não foram aceitos. O painel pede o aceite antes de continuar; uma chave não precisa dele.',
      }),
      is_admin: Type.Boolean({
        description: 'Opera o serviço: tem um papel, o do `operator_role`.',
      }),
      operator_role: nullable(Type.Enum([...OPERATOR_ROLES])),
      needs_second_factor: Type.Boolean({
        description: 'Opera o serviço, mas nesta sessão ainda sem a segunda etapa.',
      }),
      csrf_token: Type.String({
        description:
          'O valor do cabeçalho x-csrf-token, que toda requisição de uma sessão leva. Nas GET ele pode faltar, mas o de outra sessão é recusado. Vazio para uma chave, que não precisa dele.',
      }),
      suspension: nullable({
        ...suspension,
        description: 'A conta está suspensa: chamadas de modelos e recargas são recusadas.',
      }),
      mode: Type.Union([Type.Literal('sandbox'), Type.Literal('live')], {
        description: 'sandbox: nada custa dinheiro de verdade.',
      }),
    }),
    async handle({ caller, request, reply }, deps: Deps) {
      const customer = await findCustomer(deps.db, caller.customerId)
      if (!customer || customer.deletedAt) throw new RestRefusal(403, 'forbidden')
      reply.header('cache-control', 'no-store')
      const { id, name, email } = customer
      const isPerson = caller.keyId === undefined && email !== null
      const role = isPerson ? (deps.operatorRoles.get(email.toLowerCase()) ?? null) : null
      if (caller.sessionId !== undefined && email !== null)
        rememberDevice(deps, request, reply, email)
      return {
        customer: { id, name, email },
        must_accept_terms: caller.sessionId !== undefined && !(await hasAcceptedTerms(deps.db, id)),
        is_admin: role !== null,
        operator_role: role,
        needs_second_factor: role !== null && caller.keyId === undefined && !caller.hasFactor,
        csrf_token: caller.sessionId === undefined ? '' : deps.signIn.csrfTokenOf(caller.sessionId),
        suspension: suspensionBody(await findSuspension(deps.db, id)),
        mode: deps.config.mode,
      }
    },
  }),
]

/** Every page of the dashboard asks for its session first, whichever way the user signed in. */
export function rememberDevice(
  { signIn, config: { publicUrl } }: Pick<HttpParts, 'signIn' | 'config'>,
  request: FastifyRequest,
  reply: FastifyReply,
  email: string,
): void {
  const cookie = signIn.devices.remember(
    request.headers.cookie,
    email,
    originOf(request, publicUrl),
  )
  if (cookie !== undefined) reply.header('set-cookie', cookie)
}

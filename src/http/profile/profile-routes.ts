import Type, { type Static } from 'typebox'
import {
  changeProfile,
  findProfile,
  profileRecord,
  type Profile,
  type ProfileChange,
} from '../../customers/profiles.ts'
import { kindOfTaxId, readTaxId } from '../../platform/lib/tax-id.ts'
import { getPreferences } from '../../customers/preferences.ts'
import type { Database } from '../../platform/db/open.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { actorOf } from '../rest/authenticate.ts'
import { answer, nullable } from '../rest/values.ts'
import { profileFields } from './profile-fields.ts'
import type { HttpParts } from '../rest/parts.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'db'>

const STATES =
  'AC AL AM AP BA CE DF ES GO MA MG MS MT PA PB PE PI PR RJ RN RO RR RS SC SE SP TO'.split(' ')

/** One line of text that is not blank: neither the database nor an invoice accepts control characters. */
function line(maxLength: number, description: string) {
  return Type.String({
    minLength: 1,
    maxLength,
    pattern: '^[^\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$',
    description,
  })
}

function optional(maxLength: number, description: string) {
  return Type.Optional(nullable(line(maxLength, description)))
}

const profileBody = Type.Object(
  {
    full_name: Type.Optional(
      line(200, 'Nome completo ou razão social. Sem ele vale, no início, o nome da conta.'),
    ),
    // The schema accepts any type and length, because separate error codes describe the fault.
    cpf_cnpj: Type.Optional(
      nullable(
        Type.String({
          maxLength: 1000,
          description: 'CPF ou CNPJ, também o alfanumérico, com ou sem pontuação.',
        }),
      ),
    ),
    phone: Type.Optional(
      nullable(
        Type.String({
          pattern: '^\\+?[0-9 ().-]{8,30}$',
          description: 'Telefone com DDD; de fora do Brasil, com + e o código do país.',
        }),
      ),
    ),
    postal_code: Type.Optional(
      nullable(Type.String({ pattern: '^\\d{5}-?\\d{3}$', description: 'CEP' })),
    ),
    street: optional(200, 'Logradouro'),
    street_number: optional(20, 'Número'),
    complement: optional(100, 'Complemento'),
    district: optional(100, 'Bairro'),
    city: optional(100, 'Município'),
    state: Type.Optional(nullable(Type.Enum(STATES, { description: 'UF' }))),
  },
  {
    additionalProperties: false,
    description: 'Um campo que não é enviado fica como está; null apaga.',
  },
)

const profile = answer({
  ...profileFields,
  flags: answer({
    has_cpf_cnpj: Type.Boolean(),
    can_top_up: Type.Boolean(),
    is_company: Type.Boolean(),
    has_address: Type.Boolean({ description: 'CEP, logradouro, número, município e UF.' }),
    weekly_digest_enabled: Type.Boolean(),
  }),
})

export const profileRoutes = [
  restRoute({
    method: 'GET',
    path: '/me/profile',
    tag: 'Conta',
    summary: 'O perfil: quem paga, com CPF ou CNPJ e endereço',
    access: 'account',
    answer: profile,
    refusals: { 404: ['profile_not_found'] },
    async handle({ caller }, deps: Deps) {
      const found = await findProfile(deps.db, caller.customerId)
      if (!found) throw new RestRefusal(404, 'profile_not_found')
      return bodyOf(deps.db, caller.customerId, found)
    },
  }),

  restRoute({
    method: 'PUT',
    path: '/me/profile',
    tag: 'Conta',
    summary: 'Cria ou altera o perfil',
    access: 'account',
    body: profileBody,
    answer: profile,
    refusals: { 400: ['cpf_required', 'invalid_cpf_cnpj_format', 'invalid_cpf_cnpj_checksum'] },
    async handle({ caller, body }, deps: Deps) {
      const { customerId } = caller
      const change = changeOf(body)
      const saved = await changeProfile(deps.db, actorOf(caller), { customerId, change })
      if (saved.kind === 'cpf_required')
        throw new RestRefusal(400, 'cpf_required', 'cpf_cnpj: é obrigatório')
      return bodyOf(deps.db, customerId, saved.profile)
    },
  }),
]

/** Without punctuation. Throws a refusal for an invalid number. */
function changeOf({
  cpf_cnpj,
  phone,
  postal_code,
  ...rest
}: Static<typeof profileBody>): ProfileChange {
  return {
    ...trimmed(rest),
    tax_id: taxIdOf(cpf_cnpj),
    phone: phone && phoneOf(phone),
    postal_code: postal_code?.replace('-', '') ?? postal_code,
  }
}

/** Undefined if it is missing or empty. */
function taxIdOf(given: string | null | undefined): string | undefined {
  if (given === undefined || given === null || given.trim() === '') return undefined
  const read = readTaxId(given)
  if ('taxId' in read) return read.taxId
  throw new RestRefusal(400, read.kind, 'cpf_cnpj: deve ser um CPF ou um CNPJ')
}

function phoneOf(given: string): string {
  const digits = given.replaceAll(/\D/g, '')
  if (digits.length < 8 || digits.length > 15)
    throw new RestRefusal(400, 'invalid_request', 'phone: deve ter de 8 a 15 dígitos')
  return given.startsWith('+') ? `+${digits}` : digits
}

function trimmed<Fields extends Readonly<Record<string, string | null | undefined>>>(
  fields: Fields,
): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value?.trim() ?? value]),
  ) as Fields
}

async function bodyOf(
  db: Database,
  customerId: string,
  found: Profile,
): Promise<AnswerOf<typeof profile>> {
  const { weekly_digest_enabled } = await getPreferences(db, customerId)
  const { postal_code, street, street_number, city, state } = found
  return {
    ...profileRecord(found),
    flags: {
      has_cpf_cnpj: true,
      can_top_up: true,
      is_company: kindOfTaxId(found.tax_id) === 'cnpj',
      has_address: [postal_code, street, street_number, city, state].every((part) => part !== null),
      weekly_digest_enabled,
    },
  }
}

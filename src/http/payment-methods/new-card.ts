/** A card and its holder, as entered by customers. No error thrown here contains a value. */
import Type, { type Static } from 'typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readTaxId } from '../../platform/lib/tax-id.ts'
import { findCardFault } from '../../money/payments/tokenize-card.ts'
import type { Card, CardHolder } from '../../money/payments/processor.ts'
import { storedText } from '../rest/values.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import type { Log } from '../../platform/lib/log.ts'
import type { TooManyRefusals } from '../../money/payments/card-attempts.ts'
import type { SignIn } from '../../identity/sign-in/create-sign-in.ts'
import type { Caller } from '../rest/authenticate.ts'

const text = (maxLength: number, description?: string) =>
  Type.Optional(storedText(0, maxLength, description))

/** A missing field has a separate error code, so the schema requires none. */
export const newCard = Type.Object(
  {
    card: Type.Optional(
      Type.Object(
        {
          holder_name: text(100, 'Como está no cartão.'),
          number: text(40),
          expiry_month: text(2, '01 a 12.'),
          expiry_year: text(4, 'Quatro dígitos.'),
          ccv: text(4, 'O código de segurança.'),
        },
        { additionalProperties: false },
      ),
    ),
    holder: Type.Optional(
      Type.Object(
        {
          name: text(200),
          email: text(254),
          cpf_cnpj: text(20, 'CPF ou CNPJ do titular.'),
          postal_code: text(20, 'CEP.'),
          address_number: text(20),
          address_complement: text(100),
          phone: text(30, 'Com DDD.'),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
)

const CARD_FIELDS = ['holder_name', 'number', 'expiry_month', 'expiry_year', 'ccv'] as const
const HOLDER_FIELDS = [
  'name',
  'email',
  'cpf_cnpj',
  'postal_code',
  'address_number',
  'phone',
] as const

/** Throws a `RestRefusal` before anything is sent to the processor. */
export function readNewCard(
  body: Static<typeof newCard>,
  { takesTestNumbers }: { takesTestNumbers: boolean },
): { card: Card; holder: CardHolder } {
  const given = whole('card', CARD_FIELDS, body.card)
  const holder = whole('holder', HOLDER_FIELDS, body.holder)
  const card = {
    holderName: given.holder_name,
    number: given.number.replaceAll(/[\s.-]/g, ''),
    expiryMonth: given.expiry_month.padStart(2, '0'),
    expiryYear: given.expiry_year,
    ccv: given.ccv,
  }
  const fault = findCardFault(card, { takesTestNumbers, at: new Date() })
  if (fault !== undefined) throw new RestRefusal(400, 'card_rejected', fault)
  const taxId = readTaxId(holder.cpf_cnpj)
  if (!('taxId' in taxId)) throw new RestRefusal(400, taxId.kind, 'holder.cpf_cnpj')
  return {
    card,
    holder: {
      name: holder.name,
      email: holder.email,
      taxId: taxId.taxId,
      postalCode: holder.postal_code,
      addressNumber: holder.address_number,
      addressComplement: body.holder?.address_complement?.trim() || undefined,
      phone: holder.phone,
    },
  }
}

function whole<Field extends string>(
  part: string,
  fields: readonly Field[],
  given: Readonly<Partial<Record<Field, string>>> | undefined,
): Record<Field, string> {
  if (given === undefined) throw missing(part)
  const texts = fields.map((field) => [field, given[field]?.trim() ?? ''] as const)
  const empty = texts.find(([, value]) => value === '')
  if (empty) throw missing(`${part}.${empty[0]}`)
  return Object.fromEntries(texts) as Record<Field, string>
}

function missing(field: string): RestRefusal {
  return new RestRefusal(400, 'missing_card_or_holder_info', `${field}: é obrigatório`)
}

interface CardGuardDeps {
  readonly log: Log
  readonly signIn: Pick<SignIn, 'devices'>
}

/** Whom an attempt with a card counts for. A key has no browser. */
export function buyerOf(
  { signIn }: CardGuardDeps,
  caller: Caller,
  { headers }: FastifyRequest,
): { readonly remoteIp: string; readonly deviceId: string | undefined } {
  const deviceId =
    caller.keyId === undefined
      ? signIn.devices.allDevicesOf(headers.cookie, caller.email)[0]
      : undefined
  return { remoteIp: caller.ip, deviceId }
}

/** Refuses somebody who tests stolen cards, or an unlucky customer. */
export function tooManyRejectedCards(
  { log }: CardGuardDeps,
  reply: FastifyReply,
  { of, retryAfterSeconds }: TooManyRefusals,
): RestRefusal {
  if (of !== 'customer') log.error('card_testing_suspected', { of })
  reply.header('retry-after', retryAfterSeconds)
  return new RestRefusal(
    429,
    'too_many_rejected_cards',
    'tentativas demais com cartões: espere, ou pague por Pix',
  )
}

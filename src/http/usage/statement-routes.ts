import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { findProfile } from '../../customers/profiles.ts'
import { formatExactBrl, formatTime } from '../../deliveries/email/formats.ts'
import {
  MOVEMENT_KINDS,
  MOVEMENTS_MAX,
  readStatement,
  type Movement,
  type Statement,
} from '../../money/ledger/read-statement.ts'
import { balanceFields } from '../../money/ledger/find-balance.ts'
import { decimalBrl, jsonBrl, type NanoBrl } from '../../platform/lib/money.ts'
import { formatTaxId } from '../../platform/lib/tax-id.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { documentLines, sendPdf } from '../rest/send-pdf.ts'
import { answer, balanceShape, brl, count, dateTime, uuid } from '../rest/values.ts'

type Deps = Pick<HttpParts, 'db' | 'sender'>

const { balance_brl: _balance, ...sumsShape } = balanceShape

const statement = answer({
  month: Type.String({ description: 'AAAA-MM' }),
  timezone: Type.String(),
  from_at: dateTime,
  until_at: { ...dateTime, description: 'Exclusivo.' },
  opening_balance_brl: { ...brl, description: 'O saldo no começo do mês.' },
  ...sumsShape,
  closing_balance_brl: {
    ...brl,
    description:
      'opening_balance_brl + total_topped_up_brl + total_other_credits_brl - total_spent_brl - total_refunded_brl - total_other_debits_brl. No mês corrente, o saldo de agora.',
  },
  movements: Type.Array(
    answer({
      id: uuid,
      at: dateTime,
      kind: Type.Enum([...MOVEMENT_KINDS]),
      amount_brl: { ...brl, description: 'Negativo se saiu.' },
    }),
    {
      maxItems: MOVEMENTS_MAX,
      description: 'O que entrou e saiu sem ser uso, do mais antigo ao mais novo.',
    },
  ),
  movements_left_out: { ...count, description: `Além dos primeiros ${MOVEMENTS_MAX}.` },
})

const common = {
  method: 'GET',
  tag: 'Uso',
  access: 'account',
  query: {
    month: Type.Optional(
      Type.String({
        pattern: '^20\\d\\d-(0[1-9]|1[0-2])$',
        description: 'AAAA-MM, no fuso do cliente; sem ele, o mês corrente.',
      }),
    ),
  },
} as const

export const statementRoutes = [
  restRoute({
    ...common,
    path: '/statement',
    summary: 'O extrato de um mês: saldo inicial, entradas, uso, saídas e saldo final',
    answer: statement,
    async handle({ caller, query }, { db }: Deps) {
      const found = await readStatement(db, caller.customerId, query.month)
      const { balance_brl: _, ...sums } = balanceFields(found.sums)
      return {
        month: monthOf(found),
        timezone: found.timezone,
        from_at: found.fromAt.toISOString(),
        until_at: found.untilAt.toISOString(),
        opening_balance_brl: jsonBrl(found.openingNanoBrl),
        ...sums,
        closing_balance_brl: jsonBrl(found.closingNanoBrl),
        movements: found.movements.map((movement) => ({
          id: movement.id,
          at: movement.at.toISOString(),
          kind: movement.kind,
          amount_brl: jsonBrl(signed(movement)),
        })),
        movements_left_out: found.movementsLeftOut,
      }
    },
  }),
  restRoute({
    ...common,
    path: '/statement.pdf',
    summary: 'O extrato de um mês, em PDF',
    answer: 'application/pdf',
    async handle({ caller, query, reply }, { db, sender }: Deps): Promise<FastifyReply> {
      const found = await readStatement(db, caller.customerId, query.month)
      const payer = await findProfile(db, caller.customerId)
      const notes = [
        ...(sender.isSandbox
          ? ['Modo sandbox: empresa e valores são fictícios, e nada foi cobrado.']
          : []),
        'Extrato de saldo pré-pago. Não é documento fiscal. O uso de uma chamada conta no mês em que ela começou.',
        `Horários de ${found.timezone}. Emitido em ${formatTime(new Date(), found.timezone)}.`,
      ]
      return sendPdf(reply, `extrato-${monthOf(found)}`, {
        title: `Extrato de ${monthOf(found).split('-').toReversed().join('/')}`,
        lines: [
          ...(payer ? [{ text: `${payer.full_name}, ${formatTaxId(payer.tax_id)}` }] : []),
          ...sumLines(found),
          ...movementLines(found),
          ...documentLines(notes, sender),
        ],
      })
    },
  }),
]

/** The middle of a month is in it, also where it begins with the whole hour before its midnight. */
function monthOf({ fromAt, untilAt, timezone }: Statement): string {
  const middle = new Date((fromAt.getTime() + untilAt.getTime()) / 2)
  const [, month, year] = formatTime(middle, timezone).slice(0, 10).split('/')
  return `${year}-${month}`
}

function sumLines({ openingNanoBrl, closingNanoBrl, sums }: Statement) {
  const lines: readonly (readonly [string, NanoBrl])[] = [
    ['Saldo inicial', openingNanoBrl],
    ['Recargas pagas', sums.toppedUpNanoBrl],
    ['Outras entradas', sums.otherCreditsNanoBrl],
    ['Uso', -sums.spentNanoBrl],
    ['Reembolsos', -sums.refundedNanoBrl],
    ['Outras saídas', -sums.otherDebitsNanoBrl],
    ['Saldo final', closingNanoBrl],
  ]
  return lines.map(([text, nano], index) => ({
    text,
    right: exactAmount(nano),
    isRuled: index === 0 || index === lines.length - 1,
  }))
}

const MOVEMENT_WORDS: Readonly<Record<Movement['kind'], string>> = {
  topup: 'Recarga',
  other_credit: 'Crédito, recompensa ou ajuste a favor',
  refund: 'Reembolso',
  returned_refund: 'Reembolso que voltou',
  other_debit: 'Contestação, ajuste ou recompensa retirada',
}

function movementLines({ movements, movementsLeftOut, timezone }: Statement) {
  if (movements.length === 0) return []
  return [
    { text: 'Entradas e saídas', style: 'heading' as const },
    ...movements.map((movement) => ({
      text: `${formatTime(movement.at, timezone)}  ${MOVEMENT_WORDS[movement.kind]}`,
      right: exactAmount(signed(movement)),
    })),
    ...(movementsLeftOut > 0
      ? [{ text: `E mais ${movementsLeftOut}, que os totais acima incluem.` }]
      : []),
  ]
}

function signed({ isCredit, amountNanoBrl }: Movement): NanoBrl {
  return isCredit ? amountNanoBrl : -amountNanoBrl
}

function exactAmount(nano: NanoBrl): string {
  return formatExactBrl(decimalBrl(nano))
}

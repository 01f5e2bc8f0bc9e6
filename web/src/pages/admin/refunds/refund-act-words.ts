import { brl } from '../../../format/brl.ts'
import type { OperatedRefund } from './admin-refund-queries.ts'

export type RefundAct = 'approve' | 'reject' | 'transferred' | 'not_transferred'

interface Words {
  readonly title: string
  readonly effect: string
  readonly confirm: string
  readonly done: string
}

/** The texts of each act for its confirmation, with the amount in reais. */
export function refundActWords(act: RefundAct, refund: OperatedRefund): Words {
  const money = brl(refund.amount_brl)
  const name = refund.customer_name ?? 'cliente'
  const byHand = refund.manual_parts.map(({ amount_brl: amount }) => brl(amount)).join(' + ')
  if (act === 'approve')
    return {
      title: 'Aprovar este reembolso?',
      effect: `${money} voltam a ${name} pelo meio em que pagou. O valor já saiu do saldo; depois de aprovado não há como cancelar aqui.`,
      confirm: `Aprovar ${money}`,
      done: 'aprovado',
    }
  if (act === 'reject')
    return {
      title: 'Recusar este reembolso?',
      effect: `${money} voltam ao saldo de ${name} na Catraca, e o cliente recebe o motivo por e-mail.`,
      confirm: `Recusar ${money}`,
      done: 'recusado, o valor está de novo no saldo',
    }
  if (act === 'transferred')
    return {
      title: 'Você já transferiu?',
      effect: `Fica registrado que ${byHand} foram transferidos a ${name} fora da Catraca. Só confirme com o comprovante na mão: não há como desfazer.`,
      confirm: `Confirmar transferência de ${byHand}`,
      done: 'transferência registrada',
    }
  return {
    title: 'Não deu para transferir?',
    effect: `${byHand} voltam ao saldo de ${name} na Catraca, que pode pedir o reembolso de novo.`,
    confirm: `Devolver ${byHand} ao saldo`,
    done: 'o que não foi transferido está de novo no saldo',
  }
}

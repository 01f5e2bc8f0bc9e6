import { brl } from '../../../format/brl.ts'
import type { OperatedRefund } from './admin-refund-queries.ts'
import { t } from '../../../language/t.ts'

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
  const name = refund.customer_name ?? t('cliente')
  const byHand = refund.manual_parts.map(({ amount_brl: amount }) => brl(amount)).join(' + ')
  if (act === 'approve')
    return {
      title: t('Aprovar este reembolso?'),
      effect: t(
        '{money} voltam a {name} pelo meio em que pagou. O valor já saiu do saldo; depois de aprovado não há como cancelar aqui.',
        { money, name },
      ),
      confirm: t('Aprovar {money}', { money }),
      done: t('aprovado'),
    }
  if (act === 'reject')
    return {
      title: t('Recusar este reembolso?'),
      effect: t(
        '{money} voltam ao saldo de {name} na Catraca, e o cliente recebe o motivo por e-mail.',
        { money, name },
      ),
      confirm: t('Recusar {money}', { money }),
      done: t('recusado, o valor está de novo no saldo'),
    }
  if (act === 'transferred')
    return {
      title: t('Você já transferiu?'),
      effect: t(
        'Fica registrado que {byHand} foram transferidos a {name} fora da Catraca. Só confirme com o comprovante na mão: não há como desfazer.',
        { byHand, name },
      ),
      confirm: t('Confirmar transferência de {byHand}', { byHand }),
      done: t('transferência registrada'),
    }
  return {
    title: t('Não deu para transferir?'),
    effect: t(
      '{byHand} voltam ao saldo de {name} na Catraca, que pode pedir o reembolso de novo.',
      { byHand, name },
    ),
    confirm: t('Devolver {byHand} ao saldo', { byHand }),
    done: t('o que não foi transferido está de novo no saldo'),
  }
}

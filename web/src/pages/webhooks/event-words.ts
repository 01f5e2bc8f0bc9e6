import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

/** The meaning of an event type; undefined for a type that this page does not know. */
export function eventWords(type: string): string | undefined {
  return WORDS()[type]
}

const WORDS = perLanguage((): Readonly<Record<string, string>> => ({
  'topup.created': t('recarga criada'),
  'topup.paid': t('recarga paga'),
  'topup.expired': t('recarga vencida'),
  'topup.failed': t('recarga recusada'),
  'topup.refunded': t('recarga devolvida'),
  'topup.chargeback': t('recarga contestada no cartão'),
  'topup.automatic_disabled': t('recarga automática desligada'),
  'balance.low': t('saldo baixo'),
  'balance.depleted': t('saldo esgotado'),
  'balance.restored': t('saldo de volta'),
  'key.created': t('chave criada'),
  'key.revoked': t('chave revogada'),
  'key.paused': t('chave pausada'),
  'key.resumed': t('chave retomada'),
  'refund.requested': t('reembolso pedido'),
  'refund.completed': t('reembolso concluído'),
  'refund.rejected': t('reembolso recusado'),
  'refund.failed': t('reembolso não concluído'),
  'alert.triggered': t('alerta disparado'),
  'referral.rewarded': t('indicação recompensada'),
  'price.changed': t('mudança de preço'),
  'model.ending': t('modelo que vai sair do ar'),
  'account.suspended': t('conta suspensa'),
  'account.reinstated': t('conta reativada'),
  'webhook.test': t('mensagem de teste'),
}))

/** The meaning of an event type; undefined for a type that this page does not know. */
export function eventWords(type: string): string | undefined {
  return WORDS[type]
}

const WORDS: Readonly<Record<string, string>> = {
  'topup.created': 'recarga criada',
  'topup.paid': 'recarga paga',
  'topup.expired': 'recarga vencida',
  'topup.failed': 'recarga recusada',
  'topup.refunded': 'recarga devolvida',
  'topup.chargeback': 'recarga contestada no cartão',
  'topup.automatic_disabled': 'recarga automática desligada',
  'balance.low': 'saldo baixo',
  'balance.depleted': 'saldo esgotado',
  'balance.restored': 'saldo de volta',
  'key.created': 'chave criada',
  'key.revoked': 'chave revogada',
  'key.paused': 'chave pausada',
  'key.resumed': 'chave retomada',
  'refund.requested': 'reembolso pedido',
  'refund.completed': 'reembolso concluído',
  'refund.rejected': 'reembolso recusado',
  'refund.failed': 'reembolso não concluído',
  'alert.triggered': 'alerta disparado',
  'referral.rewarded': 'indicação recompensada',
  'price.changed': 'mudança de preço',
  'webhook.test': 'mensagem de teste',
}

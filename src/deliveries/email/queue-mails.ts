/** Maps events to mail templates. Subscribed to the outbox. */
import { sql } from 'kysely'
import { getPreferences } from '../../customers/preferences.ts'
import type { Database } from '../../platform/db/open.ts'
import type { EventHandler } from '../../platform/events/dispatch-events.ts'
import { isSentTo, type CustomerEvent, type EventType } from '../../platform/events/record-event.ts'
import { queueMail } from './queue-mail.ts'
import type { TemplateName } from './render-mail.ts'

type Choice = TemplateName | undefined | ((data: CustomerEvent['data']) => TemplateName | undefined)

const TEMPLATE_OF: Readonly<Record<EventType, Choice>> = {
  // A card payment succeeds or fails within seconds, and that outcome is mailed.
  'topup.created': ({ method }) => (method === 'card' ? undefined : 'recarga_pendente'),
  'topup.paid': 'recarga_confirmada',
  'topup.expired': 'recarga_expirada',
  'topup.failed': ({ method }) => (method === 'card' ? 'cartao_recusado' : undefined),
  // The mail of its refund reports it.
  'topup.refunded': undefined,
  'topup.chargeback': 'recarga_contestada',
  'topup.automatic_disabled': 'recarga_automatica_desativada',
  'balance.low': ({ critical }) => (critical === true ? 'saldo_critico' : 'saldo_baixo'),
  'balance.depleted': 'saldo_zerado',
  'balance.restored': 'chaves_reativadas',
  'key.created': 'chave_criada',
  'key.revoked': 'chave_revogada',
  'key.paused': 'chave_pausada',
  'key.resumed': 'chave_retomada',
  'refund.requested': ({ withdrawal }) =>
    withdrawal === true ? 'arrependimento_confirmado' : 'reembolso_solicitado',
  'refund.completed': 'reembolso_concluido',
  'refund.rejected': 'reembolso_recusado',
  'refund.failed': 'reembolso_falhou',
  'alert.triggered': 'alerta_gasto',
  'referral.rewarded': 'indicacao_recompensa',
  'price.changed': 'mudanca_de_preco',
  'model.ending': 'fim_de_modelo',
  'account.suspended': 'conta_suspensa',
  'account.reinstated': 'conta_reativada',
  'webhook.test': undefined,
}

/**
 * These mails wait a moment and are gathered into one, so that revoking many keys does not send a thousand
 * mails.
 */
const GATHERED: ReadonlySet<TemplateName> = new Set([
  'chave_criada',
  'chave_revogada',
  'chave_pausada',
  'chave_retomada',
])
const GATHER_SECONDS = 60
/** Further ones are counted, not named. */
const NAMED_MAX = 20

export const queueMails: EventHandler = async (trx, event) => {
  if (!isSentTo(event, 'email')) return
  const choice = TEMPLATE_OF[event.type]
  const template = typeof choice === 'function' ? choice(event.data) : choice
  if (template === undefined) return
  if (event.type === 'balance.low' && !(await wantsLowBalanceMails(trx, event.customerId))) return
  const isGathered = GATHERED.has(template)
  if (isGathered && (await addToWaiting(trx, event, template))) return
  await queueMail(trx, {
    customerId: event.customerId,
    template,
    data: { at: event.createdAt.toISOString(), ...event.data },
    reference: event.id,
    ...(isGathered ? { delaySeconds: GATHER_SECONDS } : {}),
  })
}

async function wantsLowBalanceMails(trx: Database, customerId: string): Promise<boolean> {
  return (await getPreferences(trx, customerId)).low_balance_email_enabled
}

async function addToWaiting(
  trx: Database,
  event: CustomerEvent,
  template: TemplateName,
): Promise<boolean> {
  const { rows } = await sql`
    update mails set data = data
      || jsonb_build_object('others_count', coalesce((data ->> 'others_count')::int4, 0) + 1)
      || case when jsonb_array_length(coalesce(data -> 'others', '[]')) < ${NAMED_MAX}::int4
        then jsonb_build_object('others', coalesce(data -> 'others', '[]') || ${JSON.stringify([event.data])}::jsonb)
        else '{}' end
    where id = (
      select id from mails
      where customer_id = ${event.customerId} and template = ${template} and email is null
        and tries = 0 and due_at > now()
      order by created_at limit 1 for update skip locked)
    returning id`.execute(trx)
  return rows.length > 0
}

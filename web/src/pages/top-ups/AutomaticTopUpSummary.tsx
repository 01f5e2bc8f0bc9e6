import { Money } from '../../components/Money.tsx'
import { Notice } from '../../components/Notice.tsx'
import type { AutomaticTopUpSetting, SavedCard } from './top-up-queries.ts'
import { cardText } from './top-up-words.ts'

/** Describes the automatic top-up in a sentence. */
export function AutomaticTopUpSummary({
  current,
  cards,
}: {
  readonly current: AutomaticTopUpSetting | null
  readonly cards: readonly SavedCard[]
}) {
  if (!current?.is_enabled)
    return (
      <p className="text-sm text-muted">
        Quando o saldo ficar baixo, cobramos o cartão que você escolher, e suas chamadas não param.
        {cards.length === 0 && ' Para ligar, salve primeiro um cartão.'}
      </p>
    )
  const card = cards.find(({ id }) => id === current.payment_method_id)
  return (
    <p className="text-sm">
      Quando o saldo ficar abaixo de <Money amount={current.threshold_brl} />, recarregamos{' '}
      <Money amount={current.amount_brl} /> no cartão {card ? cardText(card) : 'salvo'}
      {current.monthly_limit_brl === null ? (
        '.'
      ) : (
        <>
          , até <Money amount={current.monthly_limit_brl} /> por mês.
        </>
      )}
    </p>
  )
}

export function WhyOff({
  reason,
}: {
  readonly reason: NonNullable<AutomaticTopUpSetting['disabled_reason']>
}) {
  return (
    <Notice tone="warning">
      {reason === 'card_rejected'
        ? 'Desligamos porque o cartão foi recusado. Escolha outro cartão e ligue de novo.'
        : 'Desligamos porque o cartão foi excluído. Escolha outro cartão e ligue de novo.'}
    </Notice>
  )
}

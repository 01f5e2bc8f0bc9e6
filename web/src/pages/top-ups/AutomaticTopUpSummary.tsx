import { Money } from '../../components/Money.tsx'
import { Notice } from '../../components/Notice.tsx'
import type { AutomaticTopUpSetting, SavedCard } from './top-up-queries.ts'
import { cardText } from './top-up-words.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

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
        {t(
          'Quando o saldo ficar baixo, cobramos o cartão que você escolher, e suas chamadas não param.',
        )}
        {cards.length === 0 && t(' Para ligar, salve primeiro um cartão.')}
      </p>
    )
  const card = cards.find(({ id }) => id === current.payment_method_id)
  return (
    <p className="text-sm">
      <Trans
        id="Quando o saldo ficar abaixo de {money}, recarregamos {money2} no cartão {word}"
        values={{
          money: <Money amount={current.threshold_brl} />,
          money2: <Money amount={current.amount_brl} />,
          word: card ? cardText(card) : t('salvo'),
        }}
      />
      {current.monthly_limit_brl === null ? (
        '.'
      ) : (
        <>
          <Trans
            id=", até {money} por mês."
            values={{ money: <Money amount={current.monthly_limit_brl} /> }}
          />
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
        ? t('Desligamos porque o cartão foi recusado. Escolha outro cartão e ligue de novo.')
        : t('Desligamos porque o cartão foi excluído. Escolha outro cartão e ligue de novo.')}
    </Notice>
  )
}

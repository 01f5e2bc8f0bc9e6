import { Link } from '@tanstack/react-router'
import { ArrowRight } from 'lucide-react'
import { Fragment } from 'react'
import type { Answer } from '../../api/client.ts'
import { buttonClass } from '../../components/button-class.ts'
import { brl } from '../../format/brl.ts'
import { percent } from '../../format/number.ts'
import { amount } from '../usage/charge-words.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

export type ModelUse = Answer<'get', '/me/recommendations'>['models'][number]
type Suggestion = ModelUse['suggestions'][number]

/** A used model and cheaper replacements for it, the best first. */
export function CheaperModel({ use, days }: { readonly use: ModelUse; readonly days: number }) {
  const [best, ...others] = use.suggestions
  if (!best) return null
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-3 py-4 first:pt-0 last:pb-0">
      <div className="grid min-w-0 flex-1 basis-80 grid-cols-[minmax(0,1fr)_auto_minmax(0,1fr)] items-center gap-3">
        <Price
          name={use.model_name}
          perTokens={use.brl_per_1k_tokens}
          total={use.cost_billed_brl}
          days={days}
        />
        <ArrowRight aria-label={t('com')} role="img" className="size-4 text-muted" />
        <Price
          name={best.model_name}
          perTokens={best.brl_per_1k_tokens}
          total={best.projected_cost_brl}
          days={days}
        />
      </div>
      <p className="text-sm">
        <span className="font-semibold whitespace-nowrap text-success tabular-nums">
          <Trans id="economia de {savingBrl}" values={{ savingBrl: brl(best.saving_brl) }} />
        </span>{' '}
        <span className="text-muted">({percent(best.saving_percent)})</span>
      </p>
      <TryIt model={best} className={buttonClass('secondary')} label={t('Experimentar')} />
      {others.length > 0 && (
        <p className="w-full text-sm text-muted">
          {t('Também:')}{' '}
          {others.map((model, place) => (
            <Fragment key={model.model_id}>
              {place > 0 && ', '}
              <TryIt
                model={model}
                className="font-medium text-accent underline underline-offset-4"
                label={model.model_name}
              />{' '}
              <Trans id="({savingBrl} a menos)" values={{ savingBrl: brl(model.saving_brl) }} />
            </Fragment>
          ))}
        </p>
      )}
    </li>
  )
}

interface PriceProps {
  readonly name: string
  readonly perTokens: number | null
  readonly total: number
  readonly days: number
}

function Price({ name, perTokens, total, days }: PriceProps) {
  return (
    <div className="min-w-0 text-sm">
      <p className="font-medium break-words">{name}</p>
      <p className="text-muted tabular-nums">
        {perTokens !== null && (
          <>
            <Trans
              id="{span} por mil tokens"
              values={{ span: <span className="whitespace-nowrap">{amount(perTokens)}</span> }}
            />
            <br />
          </>
        )}
        <Trans id="{total} em {days} dias" values={{ total: brl(total), days }} />
      </p>
    </div>
  )
}

function TryIt({
  model,
  className,
  label,
}: {
  readonly model: Suggestion
  readonly className: string
  readonly label: string
}) {
  return (
    <Link
      to="/playground"
      search={{ modelo: model.model_id }}
      aria-label={t('Experimentar {modelName}', { modelName: model.model_name })}
      className={className}
    >
      {label}
    </Link>
  )
}

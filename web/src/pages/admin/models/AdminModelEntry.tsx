import { useState } from 'react'
import { Badge } from '../../../components/Badge.tsx'
import { Button } from '../../../components/Button.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import type { AdminModel, MarkupChange } from './admin-model-queries.ts'
import { CATEGORY_WORDS, changeWords, markupWords, SOURCE_WORDS } from './admin-model-words.ts'
import type { CatalogModel } from '../../models/catalog-query.ts'
import { makerWords } from '../../models/MakerMark.tsx'
import { pricesText } from '../../models/price-words.ts'
import { STATE_WORDS, type Upstream } from '../upstreams/upstream-queries.ts'
import { CancelMarkup } from './CancelMarkup.tsx'
import { MarkupDialog } from './MarkupDialog.tsx'
import { ModelEntryDialog } from './ModelEntryDialog.tsx'
import { ModelSwitch } from './ModelSwitch.tsx'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

interface Props {
  readonly model: AdminModel
  /** As customers see it; undefined if it is in no catalog now. */
  readonly offered: CatalogModel | undefined
  /** Of its routes, those that are paused or end. */
  readonly resting: readonly Upstream[]
  readonly noticeDays: number
}

export function AdminModelEntry({ model, offered, resting, noticeDays }: Props) {
  const [isChanging, setChanging] = useState(false)
  const [isSwitching, setSwitching] = useState(false)
  const [isWriting, setWriting] = useState(false)
  const { display_name: name, markup_multiplier: markup, is_disabled: isOff } = model
  return (
    <li className="grid gap-2 py-4 first:pt-0 last:pb-0">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-60">
          <h2 className="flex flex-wrap items-center gap-2 font-semibold break-words">
            {name}
            {isOff && <Badge tone="danger">{t('fora do ar')}</Badge>}
            {resting.map(({ id, state }) => (
              <Badge key={id} tone="warning">{`${id}: ${STATE_WORDS()[state]}`}</Badge>
            ))}
          </h2>
          <p className="text-sm break-words text-muted">
            {model.id} · {makerWords(model.vendor)} · {CATEGORY_WORDS()[model.category]}
            {SOURCE_WORDS()[model.source]}
            {model.routes.length > 0 && t(' · por {model}', { model: upstreamsOf(model) })}
          </p>
          {offered && (
            <p className="text-sm break-words tabular-nums">
              {t('Clientes pagam: {price}', { price: pricesText(offered) })}
            </p>
          )}
        </div>
        <div className="flex flex-wrap items-center gap-x-1">
          <p
            className="mr-2 text-lg font-semibold tabular-nums"
            title={t('Multiplicador em vigor')}
          >
            <span className="sr-only">{t('Multiplicador em vigor: ')}</span>
            {markupWords(markup)}
          </p>
          <Button
            variant="quiet"
            aria-label={t('Mudar o multiplicador de {name}', { name })}
            onClick={() => setChanging(true)}
          >
            {t('Mudar')}
          </Button>
          {model.source !== 'file' && (
            <Button
              variant="quiet"
              aria-label={t('Rotas e preços de {name}', { name })}
              onClick={() => setWriting(true)}
            >
              {t('Rotas')}
            </Button>
          )}
          <Button
            variant="quiet"
            aria-label={`${isOff ? t('Colocar no ar') : t('Tirar do ar')} ${name}`}
            onClick={() => setSwitching(true)}
          >
            {isOff ? t('Colocar no ar') : t('Tirar do ar')}
          </Button>
        </div>
      </div>
      {isOff && model.disabled_at !== null && (
        <p className="text-sm break-words text-danger">
          <Trans
            id="Fora do ar desde {dateTime}: {disabledReason}"
            values={{
              dateTime: <DateTime instant={model.disabled_at} />,
              disabledReason: model.disabled_reason,
            }}
          />
        </p>
      )}
      {model.scheduled.length > 0 && <Planned model={model} changes={model.scheduled} />}
      <MarkupDialog
        model={model}
        noticeDays={noticeDays}
        isOpen={isChanging}
        onClose={() => setChanging(false)}
      />
      <ModelEntryDialog model={model} isOpen={isWriting} onClose={() => setWriting(false)} />
      <ModelSwitch model={model} isOpen={isSwitching} onClose={() => setSwitching(false)} />
    </li>
  )
}

/** The upstreams without repetitions, in route order. */
function upstreamsOf({ routes }: AdminModel): string {
  return [...new Set(routes.map(({ upstream }) => upstream))].join(', ')
}

/** Only the last planned change can be withdrawn, because later changes were compared with the earlier ones. */
function Planned(props: { readonly model: AdminModel; readonly changes: readonly MarkupChange[] }) {
  const { model, changes } = props
  const [canceled, setCanceled] = useState<MarkupChange>()
  const last = changes.at(-1)
  return (
    <ul className="grid gap-2 rounded-lg bg-sunken p-3 text-sm">
      {changes.map((change) => (
        <li key={change.id} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
          <div className="min-w-0">
            <p className="font-medium tabular-nums">
              <Trans
                id="{markupMultiplier} ({markupMultiplierBefore}) em {dateTime}"
                values={{
                  markupMultiplier: markupWords(change.markup_multiplier),
                  markupMultiplierBefore: changeWords(
                    change.markup_multiplier_before,
                    change.markup_multiplier,
                  ),
                  dateTime: <DateTime instant={change.starts_at} />,
                }}
              />
            </p>
            <p className="break-words text-muted">
              {change.reason}
              {change.is_rise && (
                <>
                  {' · '}
                  {change.told_at === null ? (
                    t('clientes sendo avisados')
                  ) : (
                    <>
                      <Trans
                        id="clientes avisados em {dateTime}"
                        values={{ dateTime: <DateTime instant={change.told_at} /> }}
                      />
                    </>
                  )}
                </>
              )}
            </p>
          </div>
          {change.id === last?.id && (
            <Button
              variant="secondary"
              aria-label={t('Cancelar mudança de {displayName} para {markupMultiplier}', {
                displayName: model.display_name,
                markupMultiplier: markupWords(change.markup_multiplier),
              })}
              onClick={() => setCanceled(change)}
            >
              {t('Cancelar mudança')}
            </Button>
          )}
        </li>
      ))}
      <CancelMarkup model={model} change={canceled} onClose={() => setCanceled(undefined)} />
    </ul>
  )
}

import { useQuery } from '@tanstack/react-query'
import { api, type Answer } from '../../../api/client.ts'
import { explainError } from '../../../api/explain-error.ts'
import { Button } from '../../../components/Button.tsx'
import { Card } from '../../../components/Card.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { Notice } from '../../../components/Notice.tsx'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'
import { MODELS_CHANGE } from '../models/admin-model-queries.ts'
import { SERVICE, useAct } from '../use-act.ts'

type PriceUpdate = Answer<'get', '/admin/price-updates'>['price_updates'][number]

const KINDS = perLanguage(() => ({
  new: t('modelo novo'),
  cheaper: t('mais barato'),
  dearer: t('mais caro'),
  unreadable: t('sem preço que se possa usar'),
  disputed: t('outra lista diz outro preço'),
}))

/** The published prices and new models that wait for an operator; nothing while none does. */
export function PriceUpdates() {
  const found = useQuery({
    queryKey: [...SERVICE, 'price-updates'],
    queryFn: ({ signal }) => api.get('/admin/price-updates', { signal }),
  })
  const updates = found.data?.price_updates ?? []
  if (updates.length === 0) return null
  return (
    <Card
      className="mb-5"
      title={t('Preços publicados que esperam uma resposta')}
      description={t(
        'Até lá vale o preço que os clientes veem. Um preço mais alto aceito começa depois do aviso a eles.',
      )}
    >
      <ul className="divide-y divide-line">
        {updates.map((update) => (
          <Update key={`${update.model_id} ${update.difference}`} update={update} />
        ))}
      </ul>
    </Card>
  )
}

function Update({ update }: { readonly update: PriceUpdate }) {
  const { model_id: id, kind, difference, found_at: foundAt } = update
  const body = { difference }
  const approval = useAct({
    act: (_input, once) =>
      api.post('/admin/price-updates/{id}/approve', body, { path: { id }, once }),
    doneText: () => t('O preço publicado de {id} foi aceito.', { id }),
    onDone() {},
    changes: MODELS_CHANGE,
  })
  const rejection = useAct({
    act: (_input, once) =>
      api.post('/admin/price-updates/{id}/reject', body, { path: { id }, once }),
    doneText: () =>
      kind === 'disputed'
        ? t('O preço de {id} fica como está.', { id })
        : t('O preço publicado de {id} foi recusado.', { id }),
    onDone() {},
    changes: MODELS_CHANGE,
  })
  const isBusy = approval.isPending || rejection.isPending
  const error = approval.error ?? rejection.error
  return (
    <li className="grid gap-2 py-3 first:pt-0 last:pb-0">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-60 text-sm">
          <h3 className="font-semibold break-words">
            {id} · {KINDS()[kind]}
          </h3>
          <p className="break-words text-muted">
            {difference} · <DateTime instant={foundAt} />
          </p>
        </div>
        <div className="flex gap-x-1">
          {kind !== 'unreadable' && kind !== 'disputed' && (
            <Button
              variant="secondary"
              isBusy={isBusy}
              aria-label={t('Aceitar o preço de {id}', { id })}
              onClick={() => approval.mutate()}
            >
              {t('Aceitar')}
            </Button>
          )}
          <Button
            variant="quiet"
            isBusy={isBusy}
            aria-label={
              kind === 'disputed'
                ? t('Manter o preço de {id}', { id })
                : t('Recusar o preço de {id}', { id })
            }
            onClick={() => rejection.mutate()}
          >
            {kind === 'disputed' ? t('Manter') : t('Recusar')}
          </Button>
        </div>
      </div>
      {error && <Notice tone="danger">{explainError(error)}</Notice>}
    </li>
  )
}

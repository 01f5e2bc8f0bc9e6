import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import { Badge } from '../../components/Badge.tsx'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { PeriodField } from '../../components/PeriodField.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { counted, percent, wholeNumber } from '../../format/number.ts'
import { classNames } from '../../lib/class-names.ts'
import { amount } from './charge-words.ts'
import { usageByKeyQuery, type KeyUsage } from './usage-queries.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

const WINDOWS = [7, 30, 90, 365]

export function UsageByKey({ onChoose }: { readonly onChoose: (keyId: string) => void }) {
  const [days, setDays] = useState(30)
  // The previous period stays until the next one is loaded, so that the page keeps its height.
  const found = useQuery({ ...usageByKeyQuery(days), placeholderData: keepPreviousData })
  return (
    <div className="grid gap-4">
      <div className="w-48">
        <PeriodField days={days} windows={WINDOWS} onChange={setDays} />
      </div>
      {found.isPending && <SkeletonRows label={t('Carregando o uso por chave')} />}
      {found.isError && <ErrorState error={found.error} onRetry={() => void found.refetch()} />}
      {found.data &&
        (found.data.keys.length === 0 ? (
          <Card>
            <EmptyState icon={<KeyRound className="size-6" />} title={t('Nenhuma chave ainda')}>
              {t('Crie uma chave por aplicação: aqui você vê quanto cada uma gasta.')}
            </EmptyState>
          </Card>
        ) : (
          <KeyTable keys={found.data.keys} isOld={found.isPlaceholderData} onChoose={onChoose} />
        ))}
    </div>
  )
}

function KeyTable(props: {
  readonly keys: readonly KeyUsage[]
  /** The data is still of the previously chosen period. */
  readonly isOld: boolean
  readonly onChoose: (keyId: string) => void
}) {
  return (
    <div
      className={classNames(
        'overflow-hidden rounded-card border border-line bg-surface shadow-card transition-opacity',
        props.isOld && 'opacity-60',
      )}
    >
      <table className="w-full text-sm" aria-busy={props.isOld}>
        <caption className="sr-only">{t('O uso de cada chave, a mais cara primeiro')}</caption>
        <thead className="border-b border-line text-left text-xs text-muted">
          <tr>
            <th scope="col" className="px-4 py-3 font-medium">
              {t('Chave')}
            </th>
            <th scope="col" className="px-4 py-3 text-right font-medium max-sm:hidden">
              {t('Chamadas')}
            </th>
            <th scope="col" className="px-4 py-3 text-right font-medium max-md:hidden">
              {t('Tokens')}
            </th>
            <th scope="col" className="px-4 py-3 font-medium max-lg:hidden">
              {t('Modelos que mais custaram')}
            </th>
            <th scope="col" className="px-4 py-3 text-right font-medium">
              {t('Gasto')}
            </th>
          </tr>
        </thead>
        <tbody>
          {props.keys.map((key) => (
            <tr key={key.api_key_id} className="border-b border-line last:border-b-0">
              <th scope="row" className="px-4 py-3 text-left font-medium">
                <button
                  type="button"
                  className="min-h-6 text-left text-accent wrap-anywhere underline-offset-4 hover:underline"
                  onClick={() => props.onChoose(key.api_key_id)}
                >
                  {key.name}
                </button>
                <span className="flex flex-wrap gap-2 text-xs font-normal text-muted">
                  …{key.last_four}
                  {key.status === 'revoked' && <Badge>{t('revogada')}</Badge>}
                  <span className="sm:hidden">
                    {counted(key.requests, t('chamada'), t('chamadas'))}
                  </span>
                </span>
              </th>
              <td className="px-4 py-3 text-right tabular-nums max-sm:hidden">
                {wholeNumber(key.requests)}
                {key.failed_requests > 0 && (
                  <span className="block text-xs text-muted">
                    <Trans
                      id="{failedRequests} com falha, sem custo"
                      values={{ failedRequests: wholeNumber(key.failed_requests) }}
                    />
                  </span>
                )}
              </td>
              <td className="px-4 py-3 text-right tabular-nums max-md:hidden">
                {wholeNumber(key.prompt_tokens + key.completion_tokens)}
              </td>
              <td className="px-4 py-3 text-muted max-lg:hidden">
                {key.top_models.map(({ model_id }) => model_id).join(', ') || '–'}
              </td>
              <td className="px-4 py-3 text-right tabular-nums">
                <span className="font-medium">{amount(key.cost_billed_brl)}</span>
                <span className="block text-xs text-muted">{percent(key.share_percent)}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

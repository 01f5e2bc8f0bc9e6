import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowDown, ChevronDown, ReceiptText } from 'lucide-react'
import { useId } from 'react'
import { Badge } from '../../components/Badge.tsx'
import { buttonClass } from '../../components/button-class.ts'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { LoadMore } from '../../components/LoadMore.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { date, dateTime } from '../../format/date.ts'
import { counted } from '../../format/number.ts'
import { classNames } from '../../lib/class-names.ts'
import { CallDetails } from './CallDetails.tsx'
import { paceText, statusBadge, timeText } from './call-words.ts'
import { amount, tokensText } from './charge-words.ts'
import { isOrder, sortCalls } from './sort-calls.ts'
import { useSteadyCharges } from './use-steady-charges.ts'
import { chargesQuery, type Call, type ChargeFilters } from './usage-queries.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface Props {
  readonly filters: ChargeFilters
  /** As in the URL; empty: the newest first. */
  readonly order: string
  readonly onOrder: (order: string) => void
  readonly onClear: () => void
}

/** Begins anew with other filters. */
export function ChargeLog(props: Props) {
  return <Log key={JSON.stringify(props.filters)} {...props} />
}

function Log({ filters, order, onOrder, onClear }: Props) {
  const found = useInfiniteQuery(chargesQuery(filters))
  const charges = found.data?.pages.flatMap((page) => page.calls) ?? []
  const archivedBefore = found.data?.pages.at(-1)?.archived_before ?? null
  const { shown, newCount, hasMoreNew, openIds, toggle, showNew } = useSteadyCharges(charges)
  if (found.isPending) return <SkeletonRows rows={8} label={t('Carregando as chamadas')} />
  if (found.isError && !found.data)
    return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  if (charges.length === 0)
    return (
      <Card>
        <NoCharges filters={filters} onClear={onClear} />
        <ArchivedBefore at={archivedBefore} />
      </Card>
    )
  return (
    <div className="grid gap-4">
      <p role="status" className="sticky top-2 z-10 justify-self-center empty:hidden">
        {newCount > 0 && (
          <Button onClick={showNew}>
            {hasMoreNew
              ? t('{newCount}+ novas chamadas', { newCount })
              : counted(newCount, t('nova chamada'), t('novas chamadas'))}
          </Button>
        )}
      </p>
      {isOrder(order) && found.hasNextPage && (
        <p className="text-sm text-muted">
          <Trans
            id="Em ordem só entre as {shown}. Carregue mais ou escolha um período menor."
            values={{
              shown: counted(shown.length, t('chamada carregada'), t('chamadas carregadas')),
            }}
          />
        </p>
      )}
      {/* Clipped, not hidden: the head stays in sight while the page scrolls. */}
      <div className="overflow-clip rounded-card border border-line bg-surface shadow-card">
        <table className="w-full text-sm">
          <caption className="sr-only">
            <Trans
              id="Chamadas, {word} primeiro"
              values={{ word: isOrder(order) ? t('as maiores') : t('as mais novas') }}
            />
          </caption>
          <thead className="sticky top-0 z-10 bg-surface text-left text-xs text-muted shadow-[inset_0_-1px_0_var(--line)]">
            <tr>
              <SortableHead name="" order={order} onOrder={onOrder} className="max-sm:hidden">
                {t('Quando')}
              </SortableHead>
              <th scope="col" className="px-4 py-3 font-medium">
                {t('Modelo')}
              </th>
              <th scope="col" className="px-4 py-3 font-medium max-xl:hidden">
                {t('Chave')}
              </th>
              <SortableHead
                name="consumo"
                order={order}
                onOrder={onOrder}
                className="text-right max-md:hidden"
              >
                {t('Consumo')}
              </SortableHead>
              <SortableHead
                name="duracao"
                order={order}
                onOrder={onOrder}
                className="text-right max-lg:hidden"
              >
                {t('Duração')}
              </SortableHead>
              <SortableHead
                name="ritmo"
                order={order}
                onOrder={onOrder}
                className="text-right max-xl:hidden"
              >
                {t('Tokens/s')}
              </SortableHead>
              <SortableHead name="valor" order={order} onOrder={onOrder} className="text-right">
                {t('Valor')}
              </SortableHead>
              <th scope="col" className="w-14">
                <span className="sr-only">{t('Cobrança', undefined, 'of a call')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {sortCalls(shown, order).map((charge) => (
              <ChargeRow
                key={charge.id}
                charge={charge}
                isOpen={openIds.has(charge.id)}
                onToggle={() => toggle(charge.id)}
              />
            ))}
          </tbody>
        </table>
      </div>
      <LoadMore query={found} />
      {!found.hasNextPage && <ArchivedBefore at={archivedBefore} />}
    </div>
  )
}

/** Where the list ends, though the account has older calls. */
function ArchivedBefore({ at }: { readonly at: string | null }) {
  if (at === null) return null
  return (
    <p className="text-center text-sm text-muted">
      <Trans
        id="As chamadas de antes de {day} estão arquivadas: baixe o período para vê-las."
        values={{ day: date(at) }}
      />
    </p>
  )
}

interface SortableHeadProps {
  /** The order in the URL; empty for the order of the list itself. */
  readonly name: string
  readonly order: string
  readonly onOrder: (order: string) => void
  readonly className: string
  readonly children: string
}

function SortableHead({ name, order, onOrder, className, children }: SortableHeadProps) {
  const isSorted = name === (isOrder(order) ? order : '')
  return (
    <th
      scope="col"
      aria-sort={isSorted ? 'descending' : 'none'}
      className={classNames('px-4 font-medium', className)}
    >
      <button
        type="button"
        className="inline-flex min-h-11 items-center gap-1 hover:text-ink"
        onClick={() => onOrder(name)}
      >
        {children}
        <ArrowDown aria-hidden="true" className={classNames('size-3', !isSorted && 'invisible')} />
      </button>
    </th>
  )
}

interface ChargeRowProps {
  readonly charge: Call
  readonly isOpen: boolean
  readonly onToggle: () => void
}

function ChargeRow({ charge, isOpen, onToggle }: ChargeRowProps) {
  const id = useId()
  const when = dateTime(charge.created_at)
  const badge = statusBadge(charge)
  const time = timeText(charge)
  return (
    <>
      <tr className="border-b border-line last:border-b-0 hover:bg-sunken/60" onClick={onToggle}>
        <td className="px-4 py-3 whitespace-nowrap text-muted tabular-nums max-sm:hidden">
          {when}
        </td>
        <td className="px-4 py-3">
          <span className="flex flex-wrap items-center gap-x-2">
            <span className="font-medium wrap-anywhere">{charge.model_id}</span>
            {badge && <Badge tone={badge.tone}>{badge.text}</Badge>}
          </span>
          <span className="block text-xs text-muted tabular-nums sm:hidden">{when}</span>
          <span className="block text-xs text-muted tabular-nums md:hidden">
            {tokensText(charge)}
          </span>
        </td>
        <td className="px-4 py-3 wrap-anywhere text-muted max-xl:hidden">
          {charge.api_key_name ?? t('Painel')}
        </td>
        <td className="px-4 py-3 text-right text-muted tabular-nums max-md:hidden">
          {tokensText(charge)}
        </td>
        <td className="px-4 py-3 text-right whitespace-nowrap text-muted tabular-nums max-lg:hidden">
          {time.whole}
          {time.first !== undefined && <span className="block text-xs">{time.first}</span>}
        </td>
        <td className="px-4 py-3 text-right text-muted tabular-nums max-xl:hidden">
          {paceText(charge)}
        </td>
        <td className="py-3 pl-4 text-right font-medium whitespace-nowrap tabular-nums">
          {charge.status === 'failed' ? (
            <span className="font-normal text-muted">{t('sem custo')}</span>
          ) : (
            amount(charge.cost_billed_brl)
          )}
          {charge.cache_saved_brl > 0 && (
            <span className="block text-xs font-normal text-success">
              <Trans
                id="cache: −{cacheSavedBrl}"
                values={{ cacheSavedBrl: amount(charge.cache_saved_brl) }}
              />
            </span>
          )}
        </td>
        <td className="text-center">
          <button
            type="button"
            aria-expanded={isOpen}
            aria-controls={isOpen ? id : undefined}
            aria-label={t('Ver a cobrança de {modelId}, {when}', {
              modelId: charge.model_id,
              when,
            })}
            className="inline-grid size-11 place-items-center rounded-lg text-muted hover:text-ink"
            onClick={(event) => {
              event.stopPropagation()
              onToggle()
            }}
          >
            <ChevronDown
              aria-hidden
              className={`size-4 transition-transform ${isOpen ? 'rotate-180' : ''}`}
            />
          </button>
        </td>
      </tr>
      {isOpen && (
        <tr id={id} className="border-b border-line bg-sunken/50 last:border-b-0">
          <td colSpan={8} className="px-4 py-5">
            <CallDetails call={charge} />
          </td>
        </tr>
      )}
    </>
  )
}

function NoCharges({ filters, onClear }: Pick<Props, 'filters' | 'onClear'>) {
  const isFiltered = Object.values(filters).some((value) => value !== '')
  return isFiltered ? (
    <EmptyState
      icon={<ReceiptText className="size-6" />}
      title={t('Nenhuma chamada com esses filtros')}
      action={
        <Button variant="secondary" onClick={onClear}>
          {t('Limpar os filtros')}
        </Button>
      }
    >
      {t('Tire um filtro ou escolha outro período.')}
    </EmptyState>
  ) : (
    <EmptyState
      icon={<ReceiptText className="size-6" />}
      title={t('Nenhuma chamada ainda')}
      action={
        <Link to="/chaves" className={buttonClass('secondary')}>
          {t('Ver as chaves')}
        </Link>
      }
    >
      {t('Faça a primeira chamada com uma chave: ela aparece aqui na hora, com o custo explicado.')}
    </EmptyState>
  )
}

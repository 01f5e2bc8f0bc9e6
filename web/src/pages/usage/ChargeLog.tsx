import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ChevronDown, ReceiptText } from 'lucide-react'
import { useId } from 'react'
import { Badge } from '../../components/Badge.tsx'
import { buttonClass } from '../../components/button-class.ts'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { LoadMore } from '../../components/LoadMore.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { dateTime } from '../../format/date.ts'
import { counted } from '../../format/number.ts'
import { ChargeDetails } from './ChargeDetails.tsx'
import { amount, tokensText } from './charge-words.ts'
import { useSteadyCharges } from './use-steady-charges.ts'
import { chargesQuery, type Charge, type ChargeFilters } from './usage-queries.ts'

interface Props {
  readonly filters: ChargeFilters
  readonly onClear: () => void
}

/** Begins anew with other filters. */
export function ChargeLog(props: Props) {
  return <Log key={JSON.stringify(props.filters)} {...props} />
}

function Log({ filters, onClear }: Props) {
  const found = useInfiniteQuery(chargesQuery(filters))
  const charges = found.data?.pages.flatMap((page) => page.usage_events) ?? []
  const { shown, newCount, hasMoreNew, openIds, toggle, showNew } = useSteadyCharges(charges)
  if (found.isPending) return <SkeletonRows rows={8} label="Carregando as chamadas" />
  if (found.isError && !found.data)
    return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  if (charges.length === 0)
    return (
      <Card>
        <NoCharges filters={filters} onClear={onClear} />
      </Card>
    )
  return (
    <div className="grid gap-4">
      <p role="status" className="sticky top-2 z-10 justify-self-center empty:hidden">
        {newCount > 0 && (
          <Button onClick={showNew}>
            {hasMoreNew
              ? `${newCount}+ novas chamadas`
              : counted(newCount, 'nova chamada', 'novas chamadas')}
          </Button>
        )}
      </p>
      <div className="overflow-hidden rounded-card border border-line bg-surface shadow-card">
        <table className="w-full text-sm">
          <caption className="sr-only">Chamadas cobradas, as mais novas primeiro</caption>
          <thead className="border-b border-line text-left text-xs text-muted">
            <tr>
              <th scope="col" className="px-4 py-3 font-medium max-sm:hidden">
                Quando
              </th>
              <th scope="col" className="px-4 py-3 font-medium">
                Modelo
              </th>
              <th scope="col" className="px-4 py-3 font-medium max-lg:hidden">
                Chave
              </th>
              <th scope="col" className="px-4 py-3 text-right font-medium max-md:hidden">
                Consumo
              </th>
              <th scope="col" className="px-4 py-3 text-right font-medium">
                Valor
              </th>
              <th scope="col" className="w-14">
                <span className="sr-only">Conta</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((charge) => (
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
    </div>
  )
}

interface ChargeRowProps {
  readonly charge: Charge
  readonly isOpen: boolean
  readonly onToggle: () => void
}

function ChargeRow({ charge, isOpen, onToggle }: ChargeRowProps) {
  const id = useId()
  const when = dateTime(charge.created_at)
  return (
    <>
      <tr className="border-b border-line last:border-b-0 hover:bg-sunken/60" onClick={onToggle}>
        <td className="px-4 py-3 whitespace-nowrap text-muted tabular-nums max-sm:hidden">
          {when}
        </td>
        <td className="px-4 py-3">
          <span className="flex flex-wrap items-center gap-x-2">
            <span className="font-medium break-words">{charge.model_id}</span>
            {charge.usage_kind === 'estimated' && <Badge tone="warning">estimada</Badge>}
            {charge.corrects_id !== null && (
              <Badge>{charge.cost_billed_brl < 0 ? 'estorno' : 'correção'}</Badge>
            )}
          </span>
          <span className="block text-xs text-muted tabular-nums sm:hidden">{when}</span>
          <span className="block text-xs text-muted tabular-nums md:hidden">
            {tokensText(charge)}
          </span>
        </td>
        <td className="px-4 py-3 text-muted max-lg:hidden">{charge.api_key_name ?? 'Painel'}</td>
        <td className="px-4 py-3 text-right text-muted tabular-nums max-md:hidden">
          {tokensText(charge)}
        </td>
        <td className="py-3 pl-4 text-right font-medium whitespace-nowrap tabular-nums">
          {amount(charge.cost_billed_brl)}
        </td>
        <td className="text-center">
          <button
            type="button"
            aria-expanded={isOpen}
            aria-controls={isOpen ? id : undefined}
            aria-label={`Ver a conta de ${charge.model_id}, ${when}`}
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
          <td colSpan={6} className="px-4 py-5">
            <ChargeDetails charge={charge} />
          </td>
        </tr>
      )}
    </>
  )
}

function NoCharges({ filters, onClear }: Props) {
  const isFiltered = Object.values(filters).some((value) => value !== '')
  return isFiltered ? (
    <EmptyState
      icon={<ReceiptText className="size-6" />}
      title="Nenhuma chamada com esses filtros"
      action={
        <Button variant="secondary" onClick={onClear}>
          Limpar os filtros
        </Button>
      }
    >
      Tire um filtro ou escolha outro período.
    </EmptyState>
  ) : (
    <EmptyState
      icon={<ReceiptText className="size-6" />}
      title="Nenhuma chamada ainda"
      action={
        <Link to="/chaves" className={buttonClass('secondary')}>
          Ver as chaves
        </Link>
      }
    >
      Faça a primeira chamada com uma chave: ela aparece aqui na hora, com o custo explicado.
    </EmptyState>
  )
}

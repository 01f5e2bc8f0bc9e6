import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ShieldCheck, X } from 'lucide-react'
import { Button } from '../../components/Button.tsx'
import { buttonClass } from '../../components/button-class.ts'
import { Card } from '../../components/Card.tsx'
import { DateRangeFields } from '../../components/DateRangeFields.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Notice } from '../../components/Notice.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { calendarDay } from '../../format/calendar-day.ts'
import { today } from '../../format/date.ts'
import { counted } from '../../format/number.ts'
import { useFilterSteps } from '../../lib/use-filters.ts'
import { ModelAndKeyFields } from './ModelAndKeyFields.tsx'
import { PeriodButtons } from './PeriodButtons.tsx'
import { RefusalChart } from './RefusalChart.tsx'
import { RefusalHours } from './RefusalHours.tsx'
import { RefusalReasons } from './RefusalReasons.tsx'
import { refusalWords } from './refusal-words.ts'
import { refusalPeriods } from './spend-periods.ts'
import { refusalsQuery, type RefusalFilters, type Refusals } from './usage-queries.ts'
import { t } from '../../language/t.ts'

/** The calls of a period that were answered with an error: why, when, by which key, and what to do. */
export function RefusalView() {
  const [chosen, change] = useFilterSteps('modelo', 'chave', 'motivo', 'de', 'ate')
  const periods = refusalPeriods(today())
  const [, standard] = periods.at(-2) ?? []
  const filters = {
    ...chosen,
    de: chosen.de || (standard?.from ?? ''),
    ate: chosen.ate || today(),
  }
  const isSound = filters.de <= filters.ate
  const found = useQuery({
    ...refusalsQuery(filters),
    enabled: isSound,
    placeholderData: keepPreviousData,
  })
  return (
    <div className="grid gap-5">
      <div role="search" aria-label={t('Filtrar as recusadas')} className="grid gap-3">
        <div className="grid grid-cols-2 gap-3 md:grid-cols-4">
          <ModelAndKeyFields modelo={filters.modelo} chave={filters.chave} onChange={change} />
          <DateRangeFields de={filters.de} ate={filters.ate} onChange={change} />
        </div>
        <PeriodButtons
          presets={periods}
          chosen={{ from: filters.de, to: filters.ate }}
          onChoose={({ from, to }) => change({ de: from, ate: to })}
        />
        {filters.motivo !== '' && (
          <div>
            <Button
              variant="secondary"
              icon={<X aria-hidden="true" className="size-4" />}
              onClick={() => change({ motivo: '' })}
            >
              {t('Só {reason}', { reason: refusalWords(filters.motivo).title })}
            </Button>
          </div>
        )}
      </div>
      {!isSound && (
        <Notice tone="warning">{t('O primeiro dia vem depois do último. Troque um deles.')}</Notice>
      )}
      {found.isPending && isSound && <SkeletonRows rows={8} label={t('Carregando as recusadas')} />}
      {found.isError && !found.data && (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      )}
      {found.data && isSound && (
        <div
          aria-busy={found.isPlaceholderData}
          className={`grid gap-5 transition-opacity ${found.isPlaceholderData ? 'opacity-60' : ''}`}
        >
          <Found refusals={found.data} filters={filters} onChange={change} />
        </div>
      )}
    </div>
  )
}

interface FoundProps {
  readonly refusals: Refusals
  readonly filters: RefusalFilters
  readonly onChange: (change: Partial<RefusalFilters>) => void
}

function Found({ refusals, filters, onChange }: FoundProps) {
  if (refusals.refusals === 0) return <NoRefusals filters={filters} onChange={onChange} />
  const period =
    refusals.from === refusals.to
      ? calendarDay(refusals.from)
      : t('{from} a {to}', { from: calendarDay(refusals.from), to: calendarDay(refusals.to) })
  return (
    <>
      <Card
        title={t('{count} em {period}', {
          count: counted(
            refusals.refusals,
            t('chamada com erro', undefined, 'refused'),
            t('chamadas com erro', undefined, 'refused'),
          ),
          period,
        })}
        description={t(
          'Recusadas antes de chegar a um modelo, ou que falharam nele. Não custam nada, a não ser um stream que já tinha entregado parte da resposta. Ficam contadas por 90 dias.',
        )}
      >
        <RefusalChart refusals={refusals} onChoose={(day) => onChange({ de: day, ate: day })} />
      </Card>
      <RefusalReasons
        reasons={refusals.reasons}
        onChoose={filters.motivo === '' ? (motivo) => onChange({ motivo }) : undefined}
      />
      <RefusalHours filters={filters} />
    </>
  )
}

function NoRefusals({ filters, onChange }: Pick<FoundProps, 'filters' | 'onChange'>) {
  const isFiltered = filters.modelo !== '' || filters.chave !== '' || filters.motivo !== ''
  return (
    <Card>
      {isFiltered ? (
        <EmptyState
          icon={<ShieldCheck className="size-6" />}
          title={t('Nenhuma chamada recusada com esses filtros')}
          action={
            <Button
              variant="secondary"
              onClick={() => onChange({ modelo: '', chave: '', motivo: '' })}
            >
              {t('Limpar os filtros')}
            </Button>
          }
        >
          {t('Tire um filtro ou escolha outro período.')}
        </EmptyState>
      ) : (
        <EmptyState
          icon={<ShieldCheck className="size-6" />}
          title={t('Nenhuma chamada recusada neste período')}
          action={
            <Link to="/status" className={buttonClass('secondary')}>
              {t('Ver o status do serviço')}
            </Link>
          }
        >
          {t(
            'Se seu programa recebeu um erro e ele não está aqui, a chave da chamada não foi reconhecida: confira o segredo que ele usa.',
          )}
        </EmptyState>
      )}
    </Card>
  )
}

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { Checkbox } from '../../components/Checkbox.tsx'
import { DateRangeFields } from '../../components/DateRangeFields.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Field } from '../../components/Field.tsx'
import { Notice } from '../../components/Notice.tsx'
import { Select } from '../../components/Select.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { calendarDay } from '../../format/calendar-day.ts'
import { today } from '../../format/date.ts'
import { counted } from '../../format/number.ts'
import { csvOf } from '../../lib/csv.ts'
import { saveFile } from '../../lib/save-file.ts'
import { useFilterSteps } from '../../lib/use-filters.ts'
import { amount } from './charge-words.ts'
import { changeText } from './change-text.ts'
import { PeriodButtons } from './PeriodButtons.tsx'
import { SpendChart } from './SpendChart.tsx'
import { periodBefore, presetsOf, type Days } from './spend-periods.ts'
import { GROUPINGS, groupName } from './spend-words.ts'
import { SpendTable } from './SpendTable.tsx'
import { spendQuery, type Grouping, type Spend } from './usage-queries.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

/** What a period cost, stacked by model, key, team or session, beside the period before it. */
export function SpendView() {
  const [{ por, de, ate, comparar }, change] = useFilterSteps('por', 'de', 'ate', 'comparar')
  const by = GROUPINGS().find(([name]) => name === por)?.[1] ?? 'model'
  const [, standard] = presetsOf(today())[1] ?? []
  const days = { from: de || (standard?.from ?? ''), to: ate || (standard?.to ?? '') }
  const isSound = days.from <= days.to
  const isCompared = comparar !== ''
  const before = periodBefore(days)
  const found = useQuery({
    ...spendQuery(by, days.from, days.to),
    enabled: isSound,
    placeholderData: keepPreviousData,
  })
  const earlier = useQuery({
    ...spendQuery(by, before.from, before.to),
    enabled: isSound && isCompared,
  })
  return (
    <div className="grid gap-5">
      <div role="search" aria-label={t('Período e grupos')} className="grid gap-3">
        <div className="grid grid-cols-2 items-end gap-3 md:grid-cols-4">
          <Field label={t('Empilhar por')}>
            {(control) => (
              <Select
                {...control}
                value={GROUPINGS().find(([, grouping]) => grouping === by)?.[0]}
                onChange={(event) =>
                  change({ por: event.target.value === 'modelo' ? '' : event.target.value })
                }
              >
                {GROUPINGS().map(([name, , text]) => (
                  <option key={name} value={name}>
                    {text}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <DateRangeFields de={days.from} ate={days.to} onChange={change} />
          <Checkbox
            label={t('Comparar com o período anterior')}
            checked={isCompared}
            onChange={(event) => change({ comparar: event.target.checked ? 'sim' : '' })}
          />
        </div>
        <PeriodButtons
          presets={presetsOf(today())}
          chosen={days}
          onChoose={({ from, to }) => change({ de: from, ate: to })}
        />
      </div>
      {!isSound && (
        <Notice tone="warning">{t('O primeiro dia vem depois do último. Troque um deles.')}</Notice>
      )}
      {found.isPending && isSound && <SkeletonRows rows={8} label={t('Carregando o gasto')} />}
      {found.isError && <ErrorState error={found.error} onRetry={() => void found.refetch()} />}
      {found.data && isSound && (
        <Figures
          spend={found.data}
          by={by}
          isOld={found.isPlaceholderData}
          earlier={isCompared ? earlier.data : undefined}
          onChoose={(id) => change(callsOf(by, id, days))}
        />
      )}
    </div>
  )
}

interface FiguresProps {
  readonly spend: Spend
  readonly by: Grouping
  /** The data is still of the previously chosen period. */
  readonly isOld: boolean
  readonly earlier: Spend | undefined
  readonly onChoose: (id: string) => void
}

function Figures({ spend, by, isOld, earlier, onChoose }: FiguresProps) {
  const period = t('{from} a {to}', {
    from: calendarDay(spend.from),
    to: calendarDay(spend.to),
  })
  return (
    <div aria-busy={isOld} className={`grid gap-5 transition-opacity ${isOld ? 'opacity-60' : ''}`}>
      <Card
        title={t('Gasto de {period}', { period })}
        description={
          <>
            <Trans
              id="{strong} em {requests}"
              values={{
                strong: (
                  <strong className="text-ink tabular-nums">{amount(spend.cost_billed_brl)}</strong>
                ),
                requests: counted(spend.requests, t('chamada cobrada'), t('chamadas cobradas')),
              }}
            />
            {earlier &&
              t(' · {costBilledBrl} ({costBilledBrl2} de {from} a {to})', {
                costBilledBrl: changeText(spend.cost_billed_brl, earlier.cost_billed_brl),
                costBilledBrl2: amount(earlier.cost_billed_brl),
                from: calendarDay(earlier.from),
                to: calendarDay(earlier.to),
              })}
          </>
        }
        actions={
          <Button
            variant="secondary"
            disabled={spend.groups.length === 0}
            icon={<Download aria-hidden="true" className="size-4" />}
            onClick={() => saveSpend(spend, by)}
          >
            {t('Baixar esta tabela')}
          </Button>
        }
      >
        <SpendChart spend={spend} by={by} />
      </Card>
      <SpendTable spend={spend} by={by} earlier={earlier} onChoose={onChoose} />
    </div>
  )
}

/** The filters that lead from a group to its calls. */
function callsOf(by: Grouping, id: string, { from, to }: Days): Record<string, string> {
  const names = { model: 'modelo', key: 'chave', session: 'sessao', team: '' } as const
  const name = names[by]
  return {
    ver: '',
    por: '',
    comparar: '',
    de: from,
    ate: to,
    ...(name === '' ? {} : { [name]: id }),
  }
}

function saveSpend(spend: Spend, by: Grouping): void {
  const title = GROUPINGS().find(([, grouping]) => grouping === by)?.[2] ?? ''
  const head = [t('Início'), t('Total (BRL)'), ...spend.groups.map((group) => groupName(group, by))]
  const rows = spend.parts.map((part) => [part.starts_on, part.cost_billed_brl, ...part.costs_brl])
  saveFile(csvOf(head, rows), `gasto-por-${title.toLowerCase()}-${spend.from}-a-${spend.to}.csv`)
}

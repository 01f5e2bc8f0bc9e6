import { useQuery } from '@tanstack/react-query'
import { DollarSign } from 'lucide-react'
import type { ReactNode } from 'react'
import { api, type Answer } from '../../../api/client.ts'
import { Card } from '../../../components/Card.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorState } from '../../../components/ErrorState.tsx'
import { Notice } from '../../../components/Notice.tsx'
import { PageTitle } from '../../../components/PageTitle.tsx'
import { SkeletonRows } from '../../../components/SkeletonRows.tsx'
import { Table, type Column } from '../../../components/Table.tsx'
import { calendarDay } from '../../../format/calendar-day.ts'
import { exactDecimal, scaledBy } from '../../../format/exact-decimal.ts'
import { counted } from '../../../format/number.ts'
import { SERVICE } from '../use-act.ts'

type Rate = Answer<'get', '/fx-rates'>['fx_rates'][number]

const SHOWN = 60
const REFRESH_MS = 60_000
const DAY_MS = 86_400_000
/** A weekend with an adjoining holiday; an older rate means that something is wrong. */
const AGE_DAYS_USUAL = 4

const SOURCES: Readonly<Record<string, string>> = {
  bcb_olinda: 'Banco Central (Olinda)',
  bcb_sgs: 'Banco Central (SGS)',
  bcb_csv: 'Banco Central (arquivo)',
  sandbox: 'fictícia, do modo de teste',
  manual: 'digitada à mão',
}

export function AdminFxPage() {
  const found = useQuery({
    queryKey: [...SERVICE, 'fx-rates'],
    queryFn: ({ signal }) => api.get('/fx-rates', { query: { limit: SHOWN }, signal }),
    refetchInterval: REFRESH_MS,
  })
  const rates = found.data?.fx_rates ?? []
  const current = rates.find(isInForce)
  return (
    <>
      <PageTitle
        title="Câmbio"
        description="A PTAX de venda com que as chamadas são cobradas, sem acréscimo."
      />
      {found.isPending && (
        <Card>
          <SkeletonRows label="Carregando o câmbio" />
        </Card>
      )}
      {found.isError && !found.data && (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      )}
      {found.data && (
        <div className="grid gap-5">
          <Current rate={current} readAt={found.dataUpdatedAt} />
          <Card
            title="O que já valeu"
            description={`As últimas ${SHOWN} taxas. A mesma lista é pública em /cambio.`}
          >
            {rates.length === 0 ? (
              <EmptyState icon={<DollarSign className="size-6" />} title="Nenhuma taxa ainda">
                A primeira aparece assim que o Banco Central responder.
              </EmptyState>
            ) : (
              <Table
                caption="Taxas de câmbio aplicadas"
                rows={rates}
                rowKey={({ rate_date, source, rate, applied_from }) =>
                  `${rate_date} ${source} ${rate} ${applied_from}`
                }
                columns={COLUMNS}
              />
            )}
          </Card>
        </div>
      )}
    </>
  )
}

function Current({ rate, readAt }: { readonly rate: Rate | undefined; readonly readAt: number }) {
  if (!rate)
    return (
      <Notice tone="danger">
        Nenhuma taxa em vigor: sem câmbio nenhuma chamada é cobrada. Veja o trabalho
        “refresh-fx-rate” na página de saúde.
      </Notice>
    )
  const age = Math.floor((readAt - Date.parse(rate.rate_date)) / DAY_MS)
  const isOld = !rate.is_sandbox && age > AGE_DAYS_USUAL
  return (
    <Card title="Em vigor agora">
      <p className="text-3xl font-semibold tracking-tight tabular-nums">
        R$ {rateWords(rate.rate)} <span className="text-base font-normal text-muted">por US$</span>
      </p>
      <dl className="mt-4 grid gap-x-8 gap-y-3 text-sm sm:grid-cols-3">
        <Fact name="De onde vem">{SOURCES[rate.source] ?? rate.source}</Fact>
        <Fact name="Data da taxa">
          {calendarDay(rate.rate_date)} ({ageWords(age)})
        </Fact>
        <Fact name="Cobra desde">
          {rate.applied_from !== null && <DateTime instant={rate.applied_from} />}
        </Fact>
      </dl>
      {isOld && (
        <div className="mt-4">
          <Notice tone="warning">
            A taxa tem {counted(age, 'dia', 'dias')}, mais que um feriado com fim de semana. Veja o
            trabalho “refresh-fx-rate” na página de saúde.
          </Notice>
        </div>
      )}
    </Card>
  )
}

function Fact(props: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt className="text-muted">{props.name}</dt>
      <dd className="font-medium">{props.children}</dd>
    </div>
  )
}

const COLUMNS: readonly Column<Rate>[] = [
  { key: 'day', header: 'Data', cell: ({ rate_date }) => calendarDay(rate_date) },
  { key: 'rate', header: 'R$ por US$', isNumeric: true, cell: ({ rate }) => rateWords(rate) },
  {
    key: 'from',
    header: 'Cobrou de',
    cell: ({ applied_from: at }) =>
      at === null ? <span className="text-muted">nunca valeu</span> : <DateTime instant={at} />,
  },
  {
    key: 'until',
    header: 'Até',
    isSecondary: true,
    cell: (rate) =>
      isInForce(rate) ? (
        <span className="font-medium text-success">em vigor</span>
      ) : (
        rate.applied_until !== null && <DateTime instant={rate.applied_until} />
      ),
  },
  {
    key: 'source',
    header: 'Fonte',
    isSecondary: true,
    cell: ({ source }) => SOURCES[source] ?? source,
  },
]

function isInForce({ applied_from, applied_until }: Rate): boolean {
  return applied_from !== null && applied_until === null
}

function rateWords(rate: number): string {
  return exactDecimal(scaledBy(rate, 4), 4, 4)
}

function ageWords(days: number): string {
  if (days <= 0) return 'hoje'
  return days === 1 ? 'ontem' : `há ${counted(days, 'dia', 'dias')}`
}

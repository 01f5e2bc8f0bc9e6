import { useQuery } from '@tanstack/react-query'
import { DollarSign } from 'lucide-react'
import type { ReactNode } from 'react'
import { api } from '../../../api/client.ts'
import { sessionQuery } from '../../../api/session.ts'
import { Card } from '../../../components/Card.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorState } from '../../../components/ErrorState.tsx'
import { Notice } from '../../../components/Notice.tsx'
import { PageTitle } from '../../../components/PageTitle.tsx'
import { SkeletonRows } from '../../../components/SkeletonRows.tsx'
import { Table, type Column } from '../../../components/Table.tsx'
import { calendarDay } from '../../../format/calendar-day.ts'
import { counted } from '../../../format/number.ts'
import { SERVICE } from '../use-act.ts'
import { rateWords, type Rate } from './fx-rates.ts'
import { SetRate, WithdrawRate } from './FxByHand.tsx'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

const SHOWN = 60
const REFRESH_MS = 60_000
const DAY_MS = 86_400_000
/** A weekend with an adjoining holiday; an older rate means that something is wrong. */
const AGE_DAYS_USUAL = 4

const SOURCES = perLanguage((): Readonly<Record<string, string>> => ({
  bcb_olinda: t('Banco Central (Olinda)'),
  bcb_sgs: t('Banco Central (SGS)'),
  bcb_csv: t('Banco Central (arquivo)'),
  sandbox: t('fictícia, do modo de teste'),
  manual: t('digitada à mão'),
}))

export function AdminFxPage() {
  const found = useQuery({
    queryKey: [...SERVICE, 'fx-rates'],
    // Browsers may keep the public list for a minute: too long for whoever has just changed the rate.
    queryFn: ({ signal }) =>
      api.get('/fx-rates', { query: { limit: SHOWN }, signal, cache: 'no-cache' }),
    refetchInterval: REFRESH_MS,
  })
  const { data: session } = useQuery(sessionQuery)
  const isAdmin = session?.operator_role === 'admin'
  const rates = found.data?.fx_rates ?? []
  const current = rates.find(isInForce)
  return (
    <>
      <PageTitle
        title={t('Câmbio')}
        description={t('A PTAX de venda com que as chamadas são cobradas, sem acréscimo.')}
        actions={isAdmin && found.data && <SetRate current={current} />}
      />
      {found.isPending && (
        <Card>
          <SkeletonRows label={t('Carregando o câmbio')} />
        </Card>
      )}
      {found.isError && !found.data && (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      )}
      {found.data && (
        <div className="grid gap-5">
          <Current rate={current} readAt={found.dataUpdatedAt} isAdmin={isAdmin} />
          <Card
            title={t('O que já valeu')}
            description={t('As últimas {shown} taxas. A mesma lista é pública em /cambio.', {
              shown: SHOWN,
            })}
          >
            {rates.length === 0 ? (
              <EmptyState icon={<DollarSign className="size-6" />} title={t('Nenhuma taxa ainda')}>
                {t('A primeira aparece assim que o Banco Central responder.')}
              </EmptyState>
            ) : (
              <Table
                caption={t('Taxas de câmbio aplicadas')}
                rows={rates}
                rowKey={({ rate_date, source, rate, applied_from }) =>
                  `${rate_date} ${source} ${rate} ${applied_from}`
                }
                columns={COLUMNS()}
              />
            )}
          </Card>
        </div>
      )}
    </>
  )
}

function Current(props: {
  readonly rate: Rate | undefined
  readonly readAt: number
  readonly isAdmin: boolean
}) {
  const { rate, readAt, isAdmin } = props
  if (!rate)
    return (
      <Notice tone="danger">
        {t(
          'Nenhuma taxa em vigor: sem câmbio nenhuma chamada é cobrada. Veja o trabalho “refresh-fx-rate” na página de saúde.',
        )}
      </Notice>
    )
  const age = Math.floor((readAt - Date.parse(rate.rate_date)) / DAY_MS)
  const isOld = !rate.is_sandbox && age > AGE_DAYS_USUAL
  return (
    <Card title={t('Em vigor agora')}>
      <p className="text-3xl font-semibold tracking-tight tabular-nums">
        R$ {rateWords(rate.rate)}{' '}
        <span className="text-base font-normal text-muted">{t('por US$')}</span>
      </p>
      <dl className="mt-4 grid gap-x-8 gap-y-3 text-sm sm:grid-cols-3">
        <Fact name={t('De onde vem')}>{SOURCES()[rate.source] ?? rate.source}</Fact>
        <Fact name={t('Data da taxa')}>
          {calendarDay(rate.rate_date)} ({ageWords(age)})
        </Fact>
        <Fact name={t('Cobra desde')}>
          {rate.applied_from !== null && <DateTime instant={rate.applied_from} />}
        </Fact>
      </dl>
      {isAdmin && (rate.source === 'manual' || rate.is_sandbox) && (
        <div className="mt-4 -ml-4">
          <WithdrawRate rate={rate} />
        </div>
      )}
      {isOld && (
        <div className="mt-4">
          <Notice tone="warning">
            <Trans
              id="A taxa tem {age}, mais que um feriado com fim de semana. Veja o trabalho “refresh-fx-rate” na página de saúde."
              values={{ age: counted(age, t('dia'), t('dias')) }}
            />
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

const COLUMNS = perLanguage((): readonly Column<Rate>[] => [
  { key: 'day', header: t('Data'), cell: ({ rate_date }) => calendarDay(rate_date) },
  { key: 'rate', header: t('R$ por US$'), isNumeric: true, cell: ({ rate }) => rateWords(rate) },
  {
    key: 'from',
    header: t('Cobrou de'),
    cell: ({ applied_from: at }) =>
      at === null ? (
        <span className="text-muted">{t('nunca valeu')}</span>
      ) : (
        <DateTime instant={at} />
      ),
  },
  {
    key: 'until',
    header: t('Até'),
    isSecondary: true,
    cell: (rate) =>
      isInForce(rate) ? (
        <span className="font-medium text-success">{t('em vigor')}</span>
      ) : (
        rate.applied_until !== null && <DateTime instant={rate.applied_until} />
      ),
  },
  {
    key: 'source',
    header: t('Fonte'),
    isSecondary: true,
    cell: ({ source }) => SOURCES()[source] ?? source,
  },
])

function isInForce({ applied_from, applied_until }: Rate): boolean {
  return applied_from !== null && applied_until === null
}

function ageWords(days: number): string {
  if (days <= 0) return t('hoje')
  return days === 1 ? t('ontem') : t('há {days}', { days: counted(days, t('dia'), t('dias')) })
}

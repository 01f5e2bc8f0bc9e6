import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import { api, urlOf, type Answer } from '../../api/client.ts'
import { buttonClass } from '../../components/button-class.ts'
import { SumLines, type SumLine } from '../../components/SumLines.tsx'
import { Card } from '../../components/Card.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Field } from '../../components/Field.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { Select } from '../../components/Select.tsx'
import { Skeleton } from '../../components/Skeleton.tsx'
import { exactBrl } from '../../format/brl.ts'
import { monthName, today } from '../../format/date.ts'
import { useFilterSteps } from '../../lib/use-filters.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

type Statement = Answer<'get', '/statement'>

const MONTHS_BACK = 36

/** What came and went in a month, as a bank says it. */
export function StatementPage() {
  const [{ mes }, change] = useFilterSteps('mes')
  const month = /^20\d\d-(0[1-9]|1[0-2])$/.test(mes) ? mes : today().slice(0, 7)
  const { data, isError, error, refetch } = useQuery({
    queryKey: ['statement', month],
    queryFn: ({ signal }) => api.get('/statement', { query: { month }, signal }),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <p className="mb-4 text-sm">
        <Link
          to="/recargas"
          className="inline-flex min-h-6 items-center text-accent underline underline-offset-4"
        >
          {t('Recargas')}
        </Link>
      </p>
      <PageTitle
        title={t('Extrato')}
        description={t('O que entrou, o que saiu e o saldo de cada mês, com todas as casas.')}
        actions={
          <a
            href={urlOf('/statement.pdf', { query: { month } })}
            download
            className={buttonClass('secondary')}
          >
            <Download aria-hidden="true" className="size-4" />
            {t('Baixar PDF')}
          </a>
        }
      />
      <Field label={t('Mês')} className="mb-5 max-w-56">
        {(control) => (
          <Select
            {...control}
            value={month}
            onChange={({ target }) => change({ mes: target.value })}
          >
            {monthsUntil(today().slice(0, 7), month).map((each) => (
              <option key={each} value={each}>
                {monthName(each)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {isError && !data ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <div className="grid gap-5">
          <Card title={t('Resumo do mês')}>
            <SumLines lines={linesOf(data)} />
          </Card>
          <Movements statement={data} />
        </div>
      )}
    </>
  )
}

function linesOf(statement: Statement | undefined): readonly SumLine[] {
  return [
    [t('Saldo inicial'), '', statement?.opening_balance_brl],
    [t('Recargas pagas'), '+', statement?.total_topped_up_brl],
    [t('Recompensas, créditos e ajustes a favor'), '+', statement?.total_other_credits_brl],
    [t('Uso'), '−', statement?.total_spent_brl],
    [t('Reembolsos, também os que estão a caminho'), '−', statement?.total_refunded_brl],
    [t('Contestações, ajustes e recompensas retiradas'), '−', statement?.total_other_debits_brl],
    [t('Saldo final'), '=', statement?.closing_balance_brl],
  ]
}

const KIND_WORDS = perLanguage(
  (): Readonly<Record<Statement['movements'][number]['kind'], string>> => ({
    topup: t('Recarga'),
    other_credit: t('Crédito, recompensa ou ajuste a favor'),
    refund: t('Reembolso'),
    returned_refund: t('Reembolso que voltou'),
    other_debit: t('Contestação, ajuste ou recompensa retirada'),
  }),
)

function Movements({ statement }: { readonly statement: Statement | undefined }) {
  return (
    <Card
      title={t('Entradas e saídas')}
      description={t('Sem o uso, que tem uma linha por chamada em Uso.')}
    >
      {!statement && <Skeleton className="h-24" />}
      {statement?.movements.length === 0 && (
        <EmptyState title={t('Nenhuma entrada nem saída neste mês')}>
          {t('Recargas, créditos e reembolsos aparecem aqui.')}
        </EmptyState>
      )}
      <ul className="divide-y divide-line text-sm">
        {statement?.movements.map(({ id, at, kind, amount_brl }) => (
          <li key={id} className="flex flex-wrap justify-between gap-x-4 py-2">
            <span className="min-w-0">
              {KIND_WORDS()[kind]}{' '}
              <span className="text-muted">
                · <DateTime instant={at} />
              </span>
            </span>
            <span className="ml-auto whitespace-nowrap tabular-nums">{exactBrl(amount_brl)}</span>
          </li>
        ))}
      </ul>
      {statement !== undefined && statement.movements_left_out > 0 && (
        <p className="mt-3 text-sm text-muted">
          {t('E mais {count}, que o resumo acima inclui.', { count: statement.movements_left_out })}
        </p>
      )}
    </Card>
  )
}

/** The newest first, with the one of the address. */
function monthsUntil(newest: string, asked: string): readonly string[] {
  const [year = 0, month = 0] = newest.split('-').map(Number)
  const months = Array.from({ length: MONTHS_BACK }, (_, back) =>
    new Date(Date.UTC(year, month - 1 - back, 15)).toISOString().slice(0, 7),
  )
  return months.includes(asked) ? months : [asked, ...months]
}

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { Table, type Column } from '../../components/Table.tsx'
import { wholeNumber } from '../../format/number.ts'
import { amount } from '../usage/charge-words.ts'
import { RUNS_MAX, runsQuery, type Run } from './prompt-queries.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface Props {
  readonly promptId: string
  readonly onRun: () => void
}

export function RunList({ promptId, onRun }: Props) {
  const found = useQuery(runsQuery(promptId))
  if (found.isPending)
    return (
      <Card>
        <SkeletonRows rows={5} label={t('Carregando as execuções')} />
      </Card>
    )
  if (!found.data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  if (found.data.length === 0)
    return (
      <Card>
        <EmptyState
          icon={<Play className="size-6" />}
          title={t('Nenhuma execução ainda')}
          action={<Button onClick={onRun}>{t('Executar')}</Button>}
        >
          {t(
            'Cada execução cobrada, daqui ou pela API, aparece com o modelo, os tokens e o custo.',
          )}
        </EmptyState>
      </Card>
    )
  return (
    <Card>
      <Table
        caption={t('Execuções, a mais nova primeiro')}
        columns={COLUMNS()}
        rows={found.data}
        rowKey={({ session_id }) => session_id}
      />
      {found.data.length === RUNS_MAX && (
        <p className="mt-4 text-sm text-muted">
          <Trans
            id="São as {runsMax} mais novas. As outras estão em Sessões."
            values={{ runsMax: RUNS_MAX }}
          />
        </p>
      )}
    </Card>
  )
}

const COLUMNS = perLanguage((): readonly Column<Run>[] => [
  {
    key: 'when',
    header: t('Quando'),
    cell: ({ session_id, first_request_at, models }) => (
      <>
        <Link
          to="/sessoes/$id"
          params={{ id: session_id }}
          className="inline-block min-h-6 font-medium text-accent underline-offset-4 hover:underline"
        >
          <DateTime instant={first_request_at} />
        </Link>
        <span className="block text-xs break-words text-muted md:hidden">{models.join(', ')}</span>
      </>
    ),
  },
  {
    key: 'models',
    header: t('Modelo'),
    isSecondary: true,
    cell: ({ models }) => <span className="text-muted">{models.join(', ')}</span>,
  },
  {
    key: 'sent',
    header: t('Tokens enviados'),
    isNumeric: true,
    isSecondary: true,
    cell: ({ total_prompt_tokens }) => wholeNumber(total_prompt_tokens),
  },
  {
    key: 'received',
    header: t('Da resposta'),
    isNumeric: true,
    isSecondary: true,
    cell: ({ total_completion_tokens }) => wholeNumber(total_completion_tokens),
  },
  {
    key: 'cost',
    header: t('Custo'),
    isNumeric: true,
    cell: ({ total_billed_brl }) => (
      <span className="font-medium whitespace-nowrap">{amount(total_billed_brl)}</span>
    ),
  },
])

import { Badge } from '../../../components/Badge.tsx'
import { Card } from '../../../components/Card.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { Table, type Column } from '../../../components/Table.tsx'
import { wholeNumber } from '../../../format/number.ts'
import { isJobFailing } from './find-warnings.ts'
import type { Job } from './health-queries.ts'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'

const COLUMNS = perLanguage((): readonly Column<Job>[] => [
  { key: 'name', header: t('Trabalho'), cell: ({ name }) => <code>{name}</code> },
  {
    key: 'state',
    header: t('Última vez'),
    cell: (job) => <LastRun job={job} />,
  },
  {
    key: 'failed',
    header: t('Perdidos'),
    isNumeric: true,
    cell: ({ failed }) => wholeNumber(failed),
  },
  {
    key: 'waiting',
    header: t('À espera'),
    isNumeric: true,
    isSecondary: true,
    cell: ({ waiting, active }) => wholeNumber(waiting + active),
  },
  {
    key: 'cron',
    header: t('Relógio (UTC)'),
    isSecondary: true,
    cell: ({ cron }) => <code className="whitespace-nowrap">{cron}</code>,
  },
])

export function JobsCard({ jobs }: { readonly jobs: readonly Job[] }) {
  return (
    <Card
      title={t('Trabalhos')}
      description={t(
        'O que roda com hora marcada, em um nó de cada vez. Perdidos são os que falharam em todas as tentativas.',
      )}
    >
      {jobs.length === 0 ? (
        <EmptyState title={t('Nenhum trabalho marcado')}>
          {t('Nenhum nó com trabalhos ligados começou ainda neste banco de dados.')}
        </EmptyState>
      ) : (
        <Table
          caption={t('Trabalhos com hora marcada')}
          rows={jobs}
          rowKey={({ name }) => name}
          columns={COLUMNS()}
        />
      )}
    </Card>
  )
}

function LastRun({ job }: { readonly job: Job }) {
  const { last_completed_at: completed, last_failed_at: failed } = job
  if (isJobFailing(job) && failed !== null)
    return (
      <span className="flex flex-wrap items-center gap-2">
        <Badge tone="danger">{t('falhou')}</Badge> <DateTime instant={failed} />
      </span>
    )
  if (completed === null) return <span className="text-muted">{t('ainda não rodou')}</span>
  return <DateTime instant={completed} />
}

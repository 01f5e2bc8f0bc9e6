import { Card } from '../../../components/Card.tsx'
import { Table } from '../../../components/Table.tsx'
import { duration } from '../../../format/duration.ts'
import { wholeNumber } from '../../../format/number.ts'
import type { Health } from './health-queries.ts'
import { QUEUE_WORDS } from './health-words.ts'
import { t } from '../../../language/t.ts'

export function QueuesCard({ queues, at }: Pick<Health, 'queues' | 'at'>) {
  return (
    <Card title={t('Filas')} description={t('O que espera para ser feito, por qualquer nó.')}>
      <Table
        caption={t('Filas do serviço')}
        rows={queues}
        rowKey={({ name }) => name}
        columns={[
          { key: 'name', header: t('Fila'), cell: ({ name }) => QUEUE_WORDS()[name] },
          {
            key: 'due',
            header: t('Na hora'),
            isNumeric: true,
            cell: ({ due }) => wholeNumber(due),
          },
          {
            key: 'waiting',
            header: t('Ao todo'),
            isNumeric: true,
            isSecondary: true,
            cell: ({ waiting }) => wholeNumber(waiting),
          },
          {
            key: 'late',
            header: t('Atraso'),
            isNumeric: true,
            cell: ({ oldest_due_at: since }) =>
              since === null ? '–' : duration(Math.max(0, Date.parse(at) - Date.parse(since))),
          },
        ]}
      />
    </Card>
  )
}

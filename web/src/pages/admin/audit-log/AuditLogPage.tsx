import { useInfiniteQuery } from '@tanstack/react-query'
import { Download, FileClock } from 'lucide-react'
import { urlOf } from '../../../api/client.ts'
import { buttonClass } from '../../../components/button-class.ts'
import { Button } from '../../../components/Button.tsx'
import { Card } from '../../../components/Card.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorState } from '../../../components/ErrorState.tsx'
import { LoadMore } from '../../../components/LoadMore.tsx'
import { PageTitle } from '../../../components/PageTitle.tsx'
import { SkeletonRows } from '../../../components/SkeletonRows.tsx'
import { useFilters } from '../../../lib/use-filters.ts'
import { auditLogQuery, FILTER_NAMES, type AuditFilters } from './audit-log-queries.ts'
import { AuditEntryRow } from './AuditEntryRow.tsx'
import { AuditFilterFields } from './AuditFilterFields.tsx'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

const NONE: AuditFilters = { cliente: '', ato: '', de: '', ate: '' }

export function AuditLogPage() {
  const [filters, change] = useFilters(...FILTER_NAMES)
  return (
    <>
      <PageTitle
        title={t('Auditoria')}
        description={t(
          'Quem fez o quê, quando e de onde: todos os atos administrativos e de segurança.',
        )}
        actions={<Export filters={filters} />}
      />
      <AuditFilterFields filters={filters} onChange={change} />
      <Card>
        <Entries filters={filters} onClear={() => change(NONE)} />
      </Card>
    </>
  )
}

/** The API's export filters by day only. */
function Export({ filters: { de, ate } }: { readonly filters: AuditFilters }) {
  return (
    <div className="grid justify-items-start gap-1 md:justify-items-end">
      <a
        href={urlOf('/admin/audit-log/export.csv', { query: { from: de, to: ate } })}
        download
        className={buttonClass('secondary')}
      >
        <Download aria-hidden="true" className="size-4" />
        {t('Exportar CSV')}
      </a>
      <p className="text-xs text-muted">
        <Trans
          id="{word}; fica registrado."
          values={{
            word:
              de === '' && ate === ''
                ? t('Os últimos 10.000 registros')
                : t('Os dias escolhidos, até 10.000 registros'),
          }}
        />
      </p>
    </div>
  )
}

interface EntriesProps {
  readonly filters: AuditFilters
  readonly onClear: () => void
}

function Entries({ filters, onClear }: EntriesProps) {
  const found = useInfiniteQuery(auditLogQuery(filters))
  if (found.isPending) return <SkeletonRows rows={8} label={t('Carregando os atos')} />
  if (found.isError && !found.data)
    return (
      <div className="grid justify-items-start gap-3">
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
        <Button variant="secondary" onClick={onClear}>
          {t('Limpar os filtros')}
        </Button>
      </div>
    )
  const entries = found.data.pages.flatMap((page) => page.entries)
  if (entries.length === 0)
    return (
      <EmptyState
        icon={<FileClock className="size-6" />}
        title={t('Nenhum ato com esses filtros')}
        action={
          <Button variant="secondary" onClick={onClear}>
            {t('Limpar os filtros')}
          </Button>
        }
      >
        {t('Tire um filtro ou escolha outro período.')}
      </EmptyState>
    )
  return (
    <div className="grid gap-4">
      <ul>
        {entries.map((entry) => (
          <AuditEntryRow key={entry.id} entry={entry} />
        ))}
      </ul>
      <LoadMore query={found} />
    </div>
  )
}

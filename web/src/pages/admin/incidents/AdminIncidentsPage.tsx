import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheck, Plus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../../components/Button.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ListCard } from '../../../components/ListCard.tsx'
import { PageTitle } from '../../../components/PageTitle.tsx'
import { useFilters } from '../../../lib/use-filters.ts'
import { StateSwitch } from '../StateSwitch.tsx'
import { incidentsQuery } from './incident-queries.ts'
import { IncidentEntry } from './IncidentEntry.tsx'
import { OpenIncident } from './OpenIncident.tsx'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

const STATES = perLanguage(() => ({ '': t('Em andamento'), todos: t('Todos') }) as const)

export function AdminIncidentsPage() {
  const [{ estado }, setFilters] = useFilters('estado')
  const [isOpening, setOpening] = useState(false)
  const status = estado === 'todos' ? 'all' : 'open'
  const found = useInfiniteQuery(incidentsQuery(status))
  return (
    <>
      <PageTitle
        title={t('Incidentes')}
        description={
          <>
            <Trans
              id="O que os clientes veem na página {link} enquanto dura."
              values={{
                link: (
                  <Link to="/status" className="text-accent underline underline-offset-4">
                    {t('Status')}
                  </Link>
                ),
              }}
            />
          </>
        }
        actions={
          <Button
            icon={<Plus aria-hidden="true" className="size-4" />}
            onClick={() => setOpening(true)}
          >
            {t('Abrir incidente')}
          </Button>
        }
      />
      <StateSwitch
        legend={t('Quais incidentes')}
        states={STATES()}
        value={status === 'all' ? 'todos' : ''}
        onChange={(next) => setFilters({ estado: next })}
      />
      <ListCard
        query={found}
        entries={found.data?.pages.flatMap((page) => page.incidents)}
        loadingText={t('Carregando os incidentes')}
        empty={
          <EmptyState
            icon={<CircleCheck className="size-6" />}
            title={
              status === 'open' ? t('Nenhum incidente em andamento') : t('Nenhum incidente ainda')
            }
          >
            {t(
              'Quando nenhum provedor de um modelo responde, a Catraca abre um sozinha e o encerra quando volta.',
            )}
          </EmptyState>
        }
      >
        {(incident) => <IncidentEntry key={incident.id} incident={incident} />}
      </ListCard>
      <OpenIncident isOpen={isOpening} onClose={() => setOpening(false)} />
    </>
  )
}

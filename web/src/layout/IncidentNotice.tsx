import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { incidentsQuery } from '../api/incidents.ts'
import { t } from '../language/t.ts'

const MODELS_NAMED = 3

/** On every page of a customer while an incident is grave, models are out of service, or all calls are paused. */
export function IncidentNotice() {
  const { data } = useQuery(incidentsQuery)
  const grave = data?.incidents.filter(({ severity }) => severity !== 'minor') ?? []
  const out = data?.models_out_of_service ?? []
  if (!data?.calls_paused && grave.length === 0 && out.length === 0) return null
  return (
    <aside
      aria-label={t('Incidentes em andamento')}
      className="border-b border-warning bg-warning-soft px-4 py-3 text-sm text-ink md:px-8"
    >
      <div role="status" className="mx-auto grid max-w-6xl gap-1">
        {data?.calls_paused && (
          <p className="font-semibold">{t('As chamadas de modelos estão pausadas.')}</p>
        )}
        {grave.map(({ id, title }) => (
          <p key={id} className="font-semibold break-words">
            {title}
          </p>
        ))}
        {out.length > 0 && (
          <p className="break-words">
            {out.length > MODELS_NAMED
              ? t('{count} modelos estão fora do ar.', { count: out.length })
              : t('Fora do ar: {models}', { models: out.join(', ') })}
          </p>
        )}
        <p>
          <Link
            to="/status"
            className="inline-flex min-h-6 items-center font-medium underline underline-offset-2"
          >
            {t('Ver o status do serviço')}
          </Link>
        </p>
      </div>
    </aside>
  )
}

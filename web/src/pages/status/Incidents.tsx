import { Badge, type BadgeTone } from '../../components/Badge.tsx'
import { Card } from '../../components/Card.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import type { Incident, ServiceNews } from '../../api/incidents.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

const SEVERITIES = perLanguage((): Record<Incident['severity'], readonly [BadgeTone, string]> => ({
  minor: ['neutral', t('Leve')],
  major: ['warning', t('Grave')],
  critical: ['danger', t('Crítico')],
}))

export function Incidents({ incidents }: { incidents: readonly Incident[] }) {
  if (incidents.length === 0) return null
  return (
    <Card title={t('Incidentes em andamento')}>
      <ul className="flex flex-col gap-5">
        {incidents.map((incident) => {
          const [tone, severity] = SEVERITIES()[incident.severity]
          const affected = [...incident.providers, ...incident.models]
          return (
            <li key={incident.id} className="border-b border-line pb-5 last:border-0 last:pb-0">
              <div className="flex flex-wrap items-center gap-2">
                <h3 className="font-semibold">{incident.title}</h3>
                <Badge tone={tone}>{severity}</Badge>
              </div>
              <p className="mt-1 whitespace-pre-line">{incident.message}</p>
              <p className="mt-2 text-sm text-muted">
                <Trans
                  id="Desde {dateTime}"
                  values={{ dateTime: <DateTime instant={incident.started_at} /> }}
                />
                {affected.length > 0 &&
                  t(' · Afeta: {affected}', { affected: affected.join(', ') })}
              </p>
            </li>
          )
        })}
      </ul>
    </Card>
  )
}

/** What was wrong in the last weeks, so that a customer finds the reason of yesterday's errors. */
export function ResolvedIncidents({ incidents }: { incidents: ServiceNews['resolved'] }) {
  if (incidents.length === 0) return null
  return (
    <Card title={t('Incidentes resolvidos')}>
      <ul className="flex flex-col gap-4 text-sm">
        {incidents.map(({ id, title, message, started_at, resolved_at }) => (
          <li key={id}>
            <h3 className="font-semibold break-words">{title}</h3>
            <p className="break-words whitespace-pre-line">{message}</p>
            <p className="text-muted">
              <Trans
                id="De {started} a {resolved}"
                values={{
                  started: <DateTime instant={started_at} />,
                  resolved: <DateTime instant={resolved_at} />,
                }}
              />
            </p>
          </li>
        ))}
      </ul>
    </Card>
  )
}

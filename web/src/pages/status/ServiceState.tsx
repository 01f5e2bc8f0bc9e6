import { CircleAlert, CircleCheck, CircleHelp, LoaderCircle } from 'lucide-react'
import { ApiError } from '../../api/api-error.ts'
import type { Answer } from '../../api/client.ts'
import type { ServiceNews } from '../../api/incidents.ts'
import { classNames } from '../../lib/class-names.ts'
import { t } from '../../language/t.ts'

interface Asked {
  readonly isPending: boolean
  readonly error: Error | null
}

/** The state of the two questions, and whether this browser has a network. */
interface Answers {
  readonly isOnline: boolean
  readonly health: Asked
  readonly incidents: Asked & { readonly data: ServiceNews | undefined }
  /** What was measured; the page does not wait for it. */
  readonly lastDay: { readonly data: Answer<'get', '/upstream-health'> | undefined }
}

export function ServiceState({ answers }: { readonly answers: Answers }) {
  const [tone, text] = stateOf(answers)
  const Icon = { good: CircleCheck, bad: CircleAlert, waiting: LoaderCircle, unknown: CircleHelp }[
    tone
  ]
  return (
    <p
      role="status"
      className={classNames(
        'flex items-center gap-3 rounded-card px-5 py-4 text-lg font-semibold',
        tone === 'good' && 'bg-success-soft text-success',
        tone === 'bad' && 'bg-warning-soft text-warning',
        (tone === 'waiting' || tone === 'unknown') && 'bg-sunken text-muted',
      )}
    >
      <Icon aria-hidden="true" className="size-6 shrink-0" />
      {text}
    </p>
  )
}

type Tone = 'good' | 'bad' | 'waiting' | 'unknown'

/** Good only if both answers say so. A failure of the visitor's network says nothing about the service. */
function stateOf({ isOnline, health, incidents, lastDay }: Answers): [Tone, string] {
  if (!isOnline)
    return ['unknown', t('Você está sem internet: não dá para saber como está a Catraca.')]
  if (health.error)
    return isOfNetwork(health.error)
      ? ['unknown', t('Não conseguimos falar com a Catraca. Pode ser a sua conexão ou o serviço.')]
      : ['bad', t('A Catraca não está funcionando bem. Já estamos verificando.')]
  if (health.isPending) return ['waiting', t('Verificando…')]
  if (incidents.error)
    return ['unknown', t('A Catraca responde, mas não deu para ler a lista de incidentes.')]
  if (incidents.isPending) return ['waiting', t('Verificando…')]
  const {
    incidents: open = [],
    models_out_of_service: out = [],
    calls_paused,
  } = incidents.data ?? {}
  if (calls_paused) return ['bad', t('As chamadas de modelos estão pausadas.')]
  const count = open.length
  if (count > 0)
    return [
      'bad',
      count === 1
        ? t('Um incidente em andamento')
        : t('{count} incidentes em andamento', { count }),
    ]
  if (out.length > 0) return ['bad', t('Fora do ar: {models}', { models: out.join(', ') })]
  const failing = failingMakers(lastDay.data)
  if (failing.length > 0)
    return [
      'bad',
      t('Parte das chamadas falhou nas últimas 24 horas: {makers}', {
        makers: failing.join(', '),
      }),
    ]
  return ['good', t('Tudo funcionando')]
}

/** With fewer calls, one failure would be an outage. */
const CALLS_MIN = 20
const UPTIME_PERCENT_MIN = 95

function failingMakers(measured: Answers['lastDay']['data']): string[] {
  return (measured?.providers ?? [])
    .filter((each) => each.requests >= CALLS_MIN && each.uptime_percent < UPTIME_PERCENT_MIN)
    .map(({ provider }) => provider)
}

function isOfNetwork(error: Error): boolean {
  return error instanceof ApiError && error.status === 0
}

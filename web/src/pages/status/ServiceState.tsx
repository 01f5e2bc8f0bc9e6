import { CircleAlert, CircleCheck, CircleHelp, LoaderCircle } from 'lucide-react'
import { ApiError } from '../../api/api-error.ts'
import type { Answer } from '../../api/client.ts'
import { classNames } from '../../lib/class-names.ts'
import { t } from '../../language/t.ts'

export type Incident = Answer<'get', '/incidents/active'>['incidents'][number]

interface Asked {
  readonly isPending: boolean
  readonly error: Error | null
}

/** The state of the two questions, and whether this browser has a network. */
interface Answers {
  readonly isOnline: boolean
  readonly health: Asked
  readonly incidents: Asked & {
    readonly data: { readonly incidents: readonly Incident[] } | undefined
  }
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
function stateOf({ isOnline, health, incidents }: Answers): [Tone, string] {
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
  const count = incidents.data?.incidents.length ?? 0
  if (count === 0) return ['good', t('Tudo funcionando')]
  return [
    'bad',
    count === 1 ? t('Um incidente em andamento') : t('{count} incidentes em andamento', { count }),
  ]
}

function isOfNetwork(error: Error): boolean {
  return error instanceof ApiError && error.status === 0
}

import { useInfiniteQuery } from '@tanstack/react-query'
import { ChevronDown, Send } from 'lucide-react'
import { useId, useState } from 'react'
import { Badge, type BadgeTone } from '../../components/Badge.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ListCard } from '../../components/ListCard.tsx'
import { Select } from '../../components/Select.tsx'
import { dateTime } from '../../format/date.ts'
import { wholeNumber } from '../../format/number.ts'
import { AttemptDetails } from './AttemptDetails.tsx'
import { attemptsQuery, type Attempt, type AttemptStatus } from './webhook-queries.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

const STATUS_WORDS = perLanguage(
  (): Readonly<Record<AttemptStatus, { text: string; tone: BadgeTone }>> => ({
    queued: { text: t('na fila'), tone: 'neutral' },
    running: { text: t('enviando'), tone: 'accent' },
    delivered: { text: t('entregue'), tone: 'success' },
    failed: { text: t('falhou'), tone: 'danger' },
  }),
)

const STATUSES = perLanguage(() => Object.keys(STATUS_WORDS()) as AttemptStatus[])

export function AttemptList({ webhookId }: { readonly webhookId: string }) {
  const [status, setStatus] = useState<AttemptStatus>()
  const found = useInfiniteQuery(attemptsQuery(webhookId, status))
  return (
    <ListCard
      title={t('Tentativas de entrega')}
      description={t('Dos últimos 30 dias, as mais novas primeiro.')}
      actions={
        <Select
          aria-label={t('Mostrar')}
          className="w-44!"
          value={status ?? ''}
          onChange={({ target: { value } }) =>
            setStatus(value === '' ? undefined : (value as AttemptStatus))
          }
        >
          <option value="">{t('Todas')}</option>
          {STATUSES().map((each) => (
            <option key={each} value={each}>
              <Trans id="Só: {text}" values={{ text: STATUS_WORDS()[each].text }} />
            </option>
          ))}
        </Select>
      }
      query={found}
      entries={found.data?.pages.flatMap((page) => page.attempts)}
      loadingText={t('Carregando as tentativas')}
      empty={
        <EmptyState icon={<Send className="size-6" />} title={t('Nenhuma tentativa')}>
          {status === undefined
            ? t('Envie um teste: em segundos você vê aqui o que saiu e o que o destino respondeu.')
            : t('Não há nenhuma com essa situação.')}
        </EmptyState>
      }
      isLive
    >
      {(attempt) => <AttemptEntry key={attempt.delivery_id} attempt={attempt} />}
    </ListCard>
  )
}

function AttemptEntry({ attempt }: { readonly attempt: Attempt }) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const { text, tone } = STATUS_WORDS()[attempt.status]
  return (
    <li>
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
        className="grid min-h-12 w-full grid-cols-[5.5rem_minmax(0,1fr)_auto] items-center gap-x-3 rounded-lg px-2 py-3 text-left text-sm hover:bg-sunken"
      >
        <span>
          <Badge tone={tone}>{text}</Badge>
        </span>
        <span className="min-w-0 sm:flex sm:items-center sm:justify-between sm:gap-4">
          <span className="block">
            <span className="font-medium break-all">{attempt.event_type}</span>
            <span className="block text-xs text-muted tabular-nums">
              {dateTime(attempt.created_at)}
              {attempt.is_replay
                ? t(' · reenvio')
                : t(' · tentativa {tryNumber}', { tryNumber: attempt.try_number })}
            </span>
          </span>
          <span className="text-xs text-muted tabular-nums sm:text-sm">
            {attempt.http_status !== null && `HTTP ${attempt.http_status}`}
            {attempt.http_status !== null && attempt.latency_ms !== null && ' · '}
            {attempt.latency_ms !== null && `${wholeNumber(attempt.latency_ms)} ms`}
          </span>
        </span>
        <ChevronDown
          aria-hidden="true"
          className={`size-4 text-muted transition-transform ${isOpen ? 'rotate-180' : ''}`}
        />
      </button>
      {isOpen && (
        <div id={id} className="px-2 pt-3 pb-5">
          <AttemptDetails attempt={attempt} />
        </div>
      )}
    </li>
  )
}

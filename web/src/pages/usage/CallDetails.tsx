import { CopyButton } from '../../components/CopyButton.tsx'
import { duration } from '../../format/duration.ts'
import { amount } from './charge-words.ts'
import { ChargeDetails } from './ChargeDetails.tsx'
import { failureText, paceText } from './call-words.ts'
import type { Call } from './usage-queries.ts'
import { t } from '../../language/t.ts'

/** How a call went, and how its amount came about. */
export function CallDetails({ call }: { readonly call: Call }) {
  return (
    <div className="grid gap-5">
      {call.failure !== null && (
        <p className="text-sm">
          <strong>{t('Sem custo.')}</strong> {failureText(call.failure)}
        </p>
      )}
      <dl
        aria-label={t('Como foi a chamada')}
        className="grid grid-cols-[repeat(auto-fill,minmax(9.5rem,1fr))] gap-x-6 gap-y-3 text-sm"
      >
        {factsOf(call).map(([name, value]) => (
          <div key={name}>
            <dt className="text-xs text-muted">{name}</dt>
            <dd className="tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
      {call.failure === null ? (
        <ChargeDetails charge={call} />
      ) : (
        <p className="flex flex-wrap items-center gap-1 text-sm">
          <span className="text-muted">{t('ID da requisição')}</span>
          <code className="break-all">{call.request_id}</code>
          <CopyButton text={call.request_id} variant="quiet" />
        </p>
      )}
    </div>
  )
}

function factsOf(call: Call): readonly (readonly [string, string])[] {
  const { first_byte_ms: first, duration_ms: whole } = call
  const { cache_saved_brl: byCache, routing_saved_brl: byRouting } = call
  return [
    [t('Entrega'), call.is_stream ? t('em stream') : t('de uma vez')],
    [t('Primeiro byte'), first === null ? '–' : duration(first)],
    [t('Duração'), whole === null ? '–' : duration(whole)],
    [t('Tokens por segundo'), paceText(call)],
    ...(byCache > 0 ? ([[t('Economia do cache'), amount(byCache)]] as const) : []),
    ...(byRouting > 0 ? ([[t('Economia da rota'), amount(byRouting)]] as const) : []),
  ]
}

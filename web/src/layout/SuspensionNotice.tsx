import { useQuery } from '@tanstack/react-query'
import { legalQuery } from '../api/legal.ts'
import type { Session } from '../api/session.ts'
import { dateTime } from '../format/date.ts'
import { t } from '../language/t.ts'
import { Trans } from '../language/Trans.tsx'

/** On every page of a suspended customer: why, what does not work, and whom to ask. */
export function SuspensionNotice({
  suspension: { since, cause, reason },
}: {
  readonly suspension: NonNullable<Session['suspension']>
}) {
  const { data: legal } = useQuery(legalQuery)
  const contact = legal?.company.contactEmail
  return (
    <aside
      aria-label={t('Conta suspensa')}
      className="border-b border-danger bg-danger-soft px-4 py-3 text-sm text-ink md:px-8"
    >
      {/* Also when it appears on an open page. */}
      <div role="status" className="mx-auto grid max-w-6xl gap-1">
        <p className="font-semibold text-danger">
          {t('Sua conta está suspensa desde {since}.', { since: dateTime(since) })}
        </p>
        <p className="break-words">
          <Trans
            id="{label} {reason}"
            values={{
              label: <strong className="font-semibold">{t('Motivo:')}</strong>,
              reason:
                cause === 'chargeback'
                  ? t(
                      'O pagamento de uma recarga foi contestado junto ao banco ou ao emissor do cartão.',
                    )
                  : reason,
            }}
          />
        </p>
        <p>
          {t('Chamadas de modelos e recargas são recusadas. Seu saldo continua na conta.')}{' '}
          {contact !== undefined && (
            <Trans
              id="Para resolver, escreva para {contact}."
              values={{
                contact: (
                  <a
                    href={`mailto:${contact}`}
                    className="inline-flex min-h-6 items-center font-medium break-all underline underline-offset-2"
                  >
                    {contact}
                  </a>
                ),
              }}
            />
          )}
        </p>
      </div>
    </aside>
  )
}

import { DateTime } from '../../../components/DateTime.tsx'
import { Disclosure } from '../../../components/Disclosure.tsx'
import { PersonLink } from '../PersonLink.tsx'
import { actionWords } from './action-words.ts'
import type { AuditEntry } from './audit-log-queries.ts'
import { t } from '../../../language/t.ts'

/** One act: its actor, action and customer, and on demand the whole entry. */
export function AuditEntryRow({ entry }: { readonly entry: AuditEntry }) {
  const { action, created_at, customer_id, customer_name, actor_id } = entry
  const words = actionWords(action)
  const isAboutAnother = customer_id !== null && customer_id !== actor_id
  return (
    <li className="grid gap-x-4 gap-y-1 border-b border-line py-3 first:pt-0 last:border-b-0 last:pb-0 md:grid-cols-[11rem_minmax(0,1fr)]">
      <span className="text-sm text-muted md:pt-0.5">
        <DateTime instant={created_at} />
      </span>
      <div className="min-w-0">
        <p className="text-sm">
          <Actor entry={entry} />
          <span className="text-muted"> · </span>
          {words ?? <code>{action}</code>}
          {isAboutAnother && (
            <>
              <span className="text-muted">{t(' · de ')}</span>
              <PersonLink id={customer_id} name={customer_name} />
            </>
          )}
        </p>
        <Disclosure
          summary={
            <>
              <code className="text-xs">{action}</code>
              <span className="sr-only">{t(': ver tudo')}</span>
            </>
          }
        >
          <Everything entry={entry} />
        </Disclosure>
      </div>
    </li>
  )
}

function Actor({ entry: { actor_kind, actor_id, actor_name } }: { readonly entry: AuditEntry }) {
  if (actor_kind === 'operator')
    return <strong className="font-semibold">{t('Linha de comando')}</strong>
  if (actor_kind === 'system') return <strong className="font-semibold">{t('Sistema')}</strong>
  return actor_id === null ? t('Alguém') : <PersonLink id={actor_id} name={actor_name} />
}

function Everything({ entry }: { readonly entry: AuditEntry }) {
  const facts = [
    [t('Ato'), entry.id],
    [t('Sobre'), entry.subject_id],
    [t('Cliente'), entry.customer_id],
    [t('Autor'), entry.actor_id],
    [t('Endereço IP'), entry.ip],
    [t('Chave'), entry.api_key_id],
    [t('Sessão'), entry.session_id],
  ].filter((fact): fact is [string, string] => fact[1] !== null)
  return (
    <div className="grid gap-3 pt-2 pb-1">
      <dl className="grid gap-x-6 gap-y-1 text-xs sm:grid-cols-2">
        {facts.map(([name, value]) => (
          <div key={name} className="min-w-0">
            <dt className="text-muted">{name}</dt>
            <dd className="break-all">
              <code>{value}</code>
            </dd>
          </div>
        ))}
      </dl>
      {entry.details !== null && (
        <pre
          role="region"
          aria-label={t('Detalhes de {action}', { action: entry.action })}
          // Focusable, so that long text scrolls by keyboard.
          tabIndex={0}
          className="max-h-72 overflow-auto rounded-lg bg-sunken p-3 text-xs break-all whitespace-pre-wrap"
        >
          {JSON.stringify(entry.details, null, 2)}
        </pre>
      )}
    </div>
  )
}

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { sessionQuery } from '../../api/session.ts'
import { Badge } from '../../components/Badge.tsx'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { readableBrl } from '../../format/brl.ts'
import { counted } from '../../format/number.ts'
import { ChangeRole } from './ChangeRole.tsx'
import { RemovePerson } from './RemovePerson.tsx'
import { peopleQuery, type Person, type Team } from './team-queries.ts'
import { isManager, RANK_WORDS } from './team-words.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface Asked {
  readonly act: 'role' | 'remove'
  readonly person: Person
}

export function TeamPeople({ team }: { readonly team: Team }) {
  const people = useQuery(peopleQuery(team.id))
  const { data: session } = useQuery(sessionQuery)
  const [asked, setAsked] = useState<Asked>()
  const close = (): void => setAsked(undefined)
  const personFor = (act: Asked['act']) => (asked?.act === act ? asked.person : undefined)
  return (
    <Card
      title={t('Pessoas')}
      description={
        isManager(team.role)
          ? t('O que cada uma gastou neste mês, pelas chaves que criou.')
          : t('Dos outros você vê só a inicial; o gasto de cada um, só quem administra.')
      }
    >
      {people.isPending && <SkeletonRows rows={2} label={t('Carregando as pessoas')} />}
      {people.isError && !people.data && (
        <ErrorState error={people.error} onRetry={() => void people.refetch()} />
      )}
      {people.data && (
        <ul className="divide-y divide-line">
          {[people.data.owner, ...people.data.members].map((person) => (
            <PersonEntry
              key={person.customer_id}
              person={person}
              isSelf={person.customer_id === session?.customer.id}
              isManaged={isManager(team.role) && person.role !== 'owner'}
              onAsk={(act) => setAsked({ act, person })}
            />
          ))}
        </ul>
      )}
      <ChangeRole teamId={team.id} person={personFor('role')} onClose={close} />
      <RemovePerson teamId={team.id} person={personFor('remove')} onClose={close} />
    </Card>
  )
}

interface PersonEntryProps {
  readonly person: Person
  readonly isSelf: boolean
  /** The signed-in user may manage this person. */
  readonly isManaged: boolean
  readonly onAsk: (act: Asked['act']) => void
}

function PersonEntry({ person, isSelf, isManaged, onAsk }: PersonEntryProps) {
  const { name, email, role, cost_billed_this_month_brl: spent, key_count: keys } = person
  const { text, tone } = RANK_WORDS()[role]
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-2 py-4 first:pt-0 last:pb-0">
      <div className="min-w-0 flex-1 basis-56">
        <p className="flex flex-wrap items-center gap-2">
          <span className="font-medium break-words">{name}</span>
          {isSelf && <span className="text-sm text-muted">{t('(você)')}</span>}
          <Badge tone={tone}>{text}</Badge>
        </p>
        <p className="text-sm break-words text-muted">
          {email !== null && <>{email} · </>}
          <Trans
            id="desde {dateTime}"
            values={{ dateTime: <DateTime instant={person.joined_at} isDateOnly /> }}
          />
        </p>
      </div>
      {spent !== null && (
        <p className="text-sm tabular-nums">
          {readableBrl(spent)}
          {keys !== null && (
            <span className="text-muted"> · {counted(keys, t('chave'), t('chaves'))}</span>
          )}
        </p>
      )}
      {isManaged && !isSelf && (
        <div className="-my-2 -ml-3 flex">
          <Button
            variant="quiet"
            className="px-3"
            aria-label={`${role === 'admin' ? t('Tornar membro') : t('Tornar administrador')}: ${name}`}
            onClick={() => onAsk('role')}
          >
            {role === 'admin' ? t('Tornar membro') : t('Tornar administrador')}
          </Button>
          <Button
            variant="quiet"
            className="px-3"
            aria-label={t('Tirar {name} da equipe', { name })}
            onClick={() => onAsk('remove')}
          >
            {t('Tirar')}
          </Button>
        </div>
      )}
    </li>
  )
}

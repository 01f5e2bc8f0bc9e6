import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { sessionQuery } from '../../api/session.ts'
import { Button } from '../../components/Button.tsx'
import { ListCard } from '../../components/ListCard.tsx'
import { SecretGuard } from '../../components/SecretGuard.tsx'
import { KeyDialog } from '../keys/KeyDialog.tsx'
import type { NewApiKey } from '../keys/key-queries.ts'
import { KeySecret } from '../keys/KeySecret.tsx'
import { RevokeTeamKey } from './RevokeTeamKey.tsx'
import { TeamKeyEntry } from './TeamKeyEntry.tsx'
import { peopleQuery, TEAMS, teamKeysQuery, type Team, type TeamKey } from './team-queries.ts'
import { isManager } from './team-words.ts'
import { t } from '../../language/t.ts'

export function TeamKeys({ team }: { readonly team: Team }) {
  const list = useInfiniteQuery(teamKeysQuery(team.id))
  const queries = useQueryClient()
  const nameOf = useMakers(team.id)
  const [isCreating, setCreating] = useState(false)
  const [made, setMade] = useState<readonly NewApiKey[]>([])
  const [revoking, setRevoking] = useState<TeamKey>()
  const keys = list.data?.pages.flatMap((page) => page.api_keys)
  return (
    <>
      {made.map((key) => (
        <KeySecret
          key={key.id}
          made={key}
          whoseBalance={team.role === 'owner' ? t('do seu saldo') : t('do saldo da equipe')}
          onDone={() => setMade((before) => before.filter(({ id }) => id !== key.id))}
        />
      ))}
      <SecretGuard count={made.length} />
      <ListCard
        title={t('Chaves da equipe')}
        description={
          isManager(team.role)
            ? t('De todos. Só chamam modelos: não leem nem mudam nada da conta que paga.')
            : t('As que você criou. Só chamam modelos: não leem nem mudam nada da conta que paga.')
        }
        actions={
          <Button
            onClick={() => setCreating(true)}
            icon={<Plus aria-hidden="true" className="size-4" />}
          >
            {t('Criar chave')}
          </Button>
        }
        query={list}
        entries={keys}
        loadingText={t('Carregando as chaves')}
        empty={
          <p className="text-sm text-muted">
            {t('Nenhuma chave ainda. Crie uma para cada programa que usa IA por esta equipe.')}
          </p>
        }
      >
        {(key) => (
          <TeamKeyEntry
            key={key.id}
            teamKey={key}
            maker={nameOf(key.created_by)}
            onRevoke={() => setRevoking(key)}
          />
        )}
      </ListCard>
      <KeyDialog
        editing={isCreating ? 'new' : undefined}
        teamId={team.id}
        onClose={() => setCreating(false)}
        onMade={(key) => {
          setMade((before) => [key, ...before])
          setCreating(false)
          void queries.invalidateQueries({ queryKey: TEAMS })
        }}
      />
      <RevokeTeamKey teamId={team.id} teamKey={revoking} onClose={() => setRevoking(undefined)} />
    </>
  )
}

/** Names the maker of a key as in the list of members; undefined for a former member. */
function useMakers(teamId: string): (customerId: string | null) => string | undefined {
  const { data: people } = useQuery(peopleQuery(teamId))
  const { data: session } = useQuery(sessionQuery)
  return (customerId) => {
    if (customerId === session?.customer.id) return t('você')
    const all = people ? [people.owner, ...people.members] : []
    return all.find((person) => person.customer_id === customerId)?.name
  }
}
